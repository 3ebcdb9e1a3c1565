//! The user's answers to commands: the exact question, and the lifetime of each answer.
//!
//! An answer is bound to what was shown. So it is stored with digests of everything that the meaning of the command depends on
//! (its text, directory, variables and the bytes of the files that it names: see [`Dependencies`](super::Dependencies)), and with
//! the question. It applies to a question with the same digest that covers no more, until it expires, and never to a denial.

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::time::Duration;

use super::decision::CommandDecision;
use super::rules::effect::Effect;

/// Maximum number of remembered answers. Beyond, the user is asked again.
const MAX_ANSWERS: usize = 256;

/// Maximum total size of the text of all answers.
const MAX_BYTES: usize = 256 << 10;

/// The digest of an approved command and its files, computed by a caller that can read files.
pub type AskedDigest = [u8; 32];

/// The user's answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum CommandAnswer {
    /// Approved for this one time.
    Allow,
    /// Denied for this one time.
    Deny,
    /// Approved for the rest of the session.
    AllowSession,
    /// Denied for the rest of the session.
    DenySession,
    /// Approved for later sessions as well, until it is revoked or expires.
    AllowAlways,
}

impl CommandAnswer {
    /// Every answer, in the order of their names.
    pub const ALL: [Self; 5] =
        [Self::Allow, Self::Deny, Self::AllowSession, Self::DenySession, Self::AllowAlways];

    /// Returns the name in protocols, such as `allow-session`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::AllowSession => "allow-session",
            Self::DenySession => "deny-session",
            Self::AllowAlways => "allow-always",
        }
    }

    /// Returns the answer with exactly this name. Callers treat everything else as a denial.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.name() == name)
    }

    /// Whether it is an approval.
    #[must_use]
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Allow | Self::AllowSession | Self::AllowAlways)
    }

    /// Whether it applies to more than one request.
    #[must_use]
    pub const fn lasts(self) -> bool {
        !matches!(self, Self::Allow | Self::Deny)
    }
}

/// A part of a question: the rule or hazard that asks, and its position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AskedPart {
    /// The name of the rule or hazard.
    pub rule: String,
    /// Its start, in bytes.
    pub start: usize,
    /// Its end.
    pub end: usize,
}

impl CommandDecision<'_, '_> {
    /// Returns the parts of the question; empty if the decision is not `ask`.
    #[must_use]
    pub fn asked(&self) -> BTreeSet<AskedPart> {
        let asks = |part: &&super::Part<'_, '_>| self.effect == Effect::Ask && part.effect == Effect::Ask;
        let part = |part: &super::Part<'_, '_>| AskedPart {
            rule: part.cause.id().to_owned(),
            start: part.span.start,
            end: part.span.end,
        };
        self.parts.iter().filter(asks).map(part).collect()
    }

    /// Returns the effect after an approval: the strictest effect of the parts that the question did not cover. An approval lifts
    /// no denial.
    pub fn after_yes(&self) -> Effect {
        let others = self.parts.iter().map(|part| part.effect).filter(|effect| *effect != Effect::Ask);
        others.max().unwrap_or(Effect::Allow)
    }
}

/// An answer that applies to more than one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// The answer.
    pub answer: CommandAnswer,
    /// The digest of the text and directory, to which a denial applies regardless of files.
    pub subject: AskedDigest,
    /// The digest of these and of all dependencies, to which an approval applies.
    pub content: AskedDigest,
    /// The question.
    pub asked: BTreeSet<AskedPart>,
    /// The agent.
    pub agent: String,
    /// The command as shown, possibly truncated.
    pub shown: String,
    /// Its working directory.
    pub cwd: String,
    /// The time of the answer, since 1970.
    pub given: Duration,
    /// Its expiry, since 1970.
    pub ends: Duration,
}

impl RememberedAnswer {
    /// Whether it answers a question.
    #[must_use]
    pub fn holds_for(
        &self,
        subject: &AskedDigest,
        content: Option<&AskedDigest>,
        asked: &BTreeSet<AskedPart>,
        now: Duration,
    ) -> bool {
        // An answer from the future was stored with a wrong clock, and would never expire.
        if now >= self.ends || now < self.given {
            return false;
        }
        match self.answer.is_yes() {
            true => content == Some(&self.content) && asked.is_subset(&self.asked),
            false => *subject == self.subject,
        }
    }

    fn bytes(&self) -> usize {
        let asked: usize = self.asked.iter().map(|part| part.rule.len() + size_of::<AskedPart>()).sum();
        size_of::<Self>() + asked + self.agent.len() + self.shown.len() + self.cwd.len()
    }
}

/// The answers of a session, oldest first. Time is an argument; expired answers are removed.
#[derive(Debug, Clone, Default)]
pub struct AnswerMemory(VecDeque<RememberedAnswer>);

impl AnswerMemory {
    /// Returns the valid answer to a question, if any. A denial takes precedence.
    #[must_use]
    pub fn recall(
        &self,
        subject: &AskedDigest,
        content: Option<&AskedDigest>,
        asked: &BTreeSet<AskedPart>,
        now: Duration,
    ) -> Option<&RememberedAnswer> {
        let holds = |one: &&RememberedAnswer| one.holds_for(subject, content, asked, now);
        self.0.iter().filter(holds).min_by_key(|one| one.answer.is_yes())
    }

    /// Stores an answer in place of earlier ones to the same question. Returns whether there was room for it.
    pub fn remember(&mut self, answer: RememberedAnswer) -> bool {
        self.forget_ended(answer.given);
        let is_replaced = |one: &RememberedAnswer| match answer.answer.is_yes() {
            true => one.content == answer.content || !one.answer.is_yes() && one.subject == answer.subject,
            false => one.subject == answer.subject,
        };
        self.0.retain(|one| !is_replaced(one));
        let bytes: usize = self.0.iter().chain([&answer]).map(RememberedAnswer::bytes).sum();
        if self.0.len() >= MAX_ANSWERS || bytes > MAX_BYTES {
            return false;
        }
        self.0.push_back(answer);
        true
    }

    /// Returns the valid answers.
    pub fn list(&self, now: Duration) -> impl Iterator<Item = &RememberedAnswer> {
        self.0.iter().filter(move |one| now < one.ends && now >= one.given)
    }

    /// Removes the answers with this digest. Returns their number.
    pub fn revoke(&mut self, content: &AskedDigest) -> usize {
        let before = self.0.len();
        self.0.retain(|one| one.content != *content);
        before - self.0.len()
    }

    /// Removes every answer.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn forget_ended(&mut self, now: Duration) {
        self.0.retain(|one| now < one.ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::CommandPolicy;
    use crate::shell::ReadOptions;

    const HOUR: Duration = Duration::from_secs(3600);

    fn part(rule: &str) -> BTreeSet<AskedPart> {
        [AskedPart { rule: rule.to_owned(), start: 0, end: 8 }].into()
    }

    fn remembered(answer: CommandAnswer, number: u8) -> RememberedAnswer {
        RememberedAnswer {
            answer,
            subject: [number; 32],
            content: [number + 100; 32],
            asked: part("git-push"),
            agent: "bot".to_owned(),
            shown: "git push".to_owned(),
            cwd: "/work".to_owned(),
            given: HOUR,
            ends: HOUR * 2,
        }
    }

    #[test]
    fn a_yes_holds_for_the_same_bytes_and_no_further_question_until_its_end() {
        let mut memory = AnswerMemory::default();
        assert!(memory.remember(remembered(CommandAnswer::AllowSession, 1)));
        let (subject, content) = ([1; 32], [101; 32]);
        let holds = |memory: &AnswerMemory,
                     content: Option<&AskedDigest>,
                     asked: &BTreeSet<AskedPart>,
                     now| { memory.recall(&subject, content, asked, now).is_some() };
        let both: BTreeSet<AskedPart> = part("git-push").into_iter().chain(part("git-config")).collect();
        assert!(holds(&memory, Some(&content), &part("git-push"), HOUR));
        assert!(holds(&memory, Some(&content), &BTreeSet::new(), HOUR), "less is asked by now");
        assert!(!holds(&memory, Some(&content), &part("git-config"), HOUR), "something else is asked");
        assert!(!holds(&memory, Some(&content), &both, HOUR), "more is asked");
        assert!(!holds(&memory, Some(&[7; 32]), &part("git-push"), HOUR), "a file has changed");
        assert!(!holds(&memory, None, &part("git-push"), HOUR), "it cannot be told whether one has");
        let last = HOUR * 2 - Duration::from_millis(1);
        assert!(holds(&memory, Some(&content), &part("git-push"), last));
        assert!(!holds(&memory, Some(&content), &part("git-push"), HOUR * 2), "its time is over");
        assert!(!holds(&memory, Some(&content), &part("git-push"), Duration::ZERO), "the clock went back");
        assert_eq!(memory.list(last).count(), 1);
        assert_eq!(memory.list(HOUR * 2).count(), 0);
        assert_eq!((memory.revoke(&content), memory.revoke(&content)), (1, 0));
        assert!(!holds(&memory, Some(&content), &part("git-push"), HOUR), "it was revoked");
    }

    #[test]
    fn a_no_holds_whatever_the_files_hold_until_a_person_says_yes() {
        let mut memory = AnswerMemory::default();
        memory.remember(remembered(CommandAnswer::AllowSession, 1));
        memory.remember(remembered(CommandAnswer::DenySession, 1));
        let answer = |memory: &AnswerMemory, content: [u8; 32]| {
            memory.recall(&[1; 32], Some(&content), &part("git-push"), HOUR).map(|one| one.answer)
        };
        assert_eq!(answer(&memory, [101; 32]), Some(CommandAnswer::DenySession));
        assert_eq!(answer(&memory, [9; 32]), Some(CommandAnswer::DenySession));
        memory.remember(remembered(CommandAnswer::AllowSession, 1));
        assert_eq!(answer(&memory, [101; 32]), Some(CommandAnswer::AllowSession));
        assert_eq!(answer(&memory, [9; 32]), None);
    }

    #[test]
    fn the_memory_is_bounded_in_answers_and_bytes() {
        let mut memory = AnswerMemory::default();
        let numbered = |number: usize, text: usize| {
            let mut content = [0; 32];
            content[..8].copy_from_slice(&number.to_le_bytes());
            let shown = "x".repeat(text);
            RememberedAnswer {
                subject: content,
                content,
                shown,
                ..remembered(CommandAnswer::AllowSession, 1)
            }
        };
        assert!(!memory.remember(numbered(0, MAX_BYTES)));
        let kept = (0..1000).filter(|number| memory.remember(numbered(*number, 10))).count();
        assert_eq!((kept, memory.0.len()), (MAX_ANSWERS, MAX_ANSWERS));
        // What is over makes room.
        let late = RememberedAnswer { given: HOUR * 3, ends: HOUR * 4, ..numbered(5000, 10) };
        assert!(memory.remember(late) && memory.0.len() == 1);
        memory.clear();
        assert_eq!(memory.list(HOUR).count(), 0);
    }

    #[test]
    fn a_yes_answers_what_was_asked_and_nothing_else() {
        let policy = CommandPolicy::builtin();
        let decide = |text| {
            let decision = policy.decide(text, &ReadOptions::default(), &CommandContext::default());
            (decision.asked().len(), decision.after_yes())
        };
        assert_eq!(decide("git push"), (1, Effect::Allow));
        assert_eq!(decide("git push && fallocate -l 1 x"), (1, Effect::Sandbox));
        assert_eq!(decide("git push && rm -rf /"), (0, Effect::Deny));
        assert_eq!(decide("ls"), (0, Effect::Allow));
    }

    #[test]
    fn names_of_answers_are_read_back() {
        for answer in CommandAnswer::ALL {
            assert_eq!(CommandAnswer::from_name(answer.name()), Some(answer));
        }
        for other in ["", "yes", "Allow", "allow ", "always", "abort"] {
            assert_eq!(CommandAnswer::from_name(other), None);
        }
    }
}
