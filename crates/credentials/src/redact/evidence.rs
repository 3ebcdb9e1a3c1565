//! What has to stay of a text that is redacted: the programs that it runs, and the hosts that it names.
//!
//! A record is evidence before all else. What only the place of a word makes a secret never covers the name of a program, a host,
//! a substitution or what joins commands: the shell must read the same programs in what is kept as in what was there, and where
//! it does not, less is taken out. Secrets that have a form of their own, or that are known, are taken out in any case.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use stockade_shell::{Actions, Arg, InvocationKind, Run};

use super::commands::read;
use super::replaced;

/// Programs of which a word names another machine: `ssh root@host`.
const REMOTE: &[&str] =
    &["ssh", "scp", "sftp", "rsync", "mosh", "ssh-copy-id", "sshfs", "autossh", "slogin", "rcp"];

/// Signs that join commands, or begin and end quotes.
const JOINTS: &[u8] = b";|&<>()`'\"\n";

/// More programs than a person writes into a text: beyond them only the signs between commands are kept.
const MAX_PROGRAMS: usize = 512;

/// Returns the parts of a text to take out: the `certain` ones in any case, and those that are `likely` as far as the evidence
/// stays.
pub(super) fn spare(text: &str, certain: Vec<Range<usize>>, likely: Vec<Range<usize>>) -> Vec<Range<usize>> {
    // Quotes and backslashes alone are not a secret: `'\\''` begins and ends quotes.
    let is_some =
        |part: &Range<usize>| text.get(part.clone()).is_none_or(|part| part.contains(char::is_alphanumeric));
    let likely: Vec<Range<usize>> = likely.into_iter().filter(is_some).collect();
    if likely.is_empty() {
        return certain;
    }
    let without = |parts: Vec<Range<usize>>| Evidence::of(&plain(&replaced(text, parts)));
    let wanted = without(certain.clone());
    let with = |likely: &[Range<usize>]| [&*certain, likely].concat();
    let is_harmless = |likely: &[Range<usize>]| without(with(likely)) == wanted;
    let evidence = Evidence::of(text);
    // A substitution is never a secret, and what is in it was found by itself.
    let substitutions = Apart::of(evidence.substitutions.clone());
    let likely: Vec<Range<usize>> =
        likely.into_iter().flat_map(|part| substitutions.beside_those_around(part)).collect();
    if is_harmless(&likely) {
        return with(&likely);
    }
    let places = Apart::of(evidence.places(text));
    let likely: Vec<Range<usize>> = likely.into_iter().flat_map(|part| places.beside(part)).collect();
    let (mut kept, mut tries) = (Vec::new(), MAX_TRIES);
    harmless(&likely, &mut kept, &mut tries, &is_harmless);
    with(&kept)
}

/// How often a text is read again to find which of its secrets hide evidence.
const MAX_TRIES: usize = 48;

/// Collects the parts that hide no evidence together with those collected before: one that does costs the others nothing.
fn harmless(
    parts: &[Range<usize>],
    kept: &mut Vec<Range<usize>>,
    tries: &mut usize,
    is_harmless: &impl Fn(&[Range<usize>]) -> bool,
) {
    if parts.is_empty() || *tries == 0 {
        return;
    }
    *tries -= 1;
    if is_harmless(&[&**kept, parts].concat()) {
        kept.extend_from_slice(parts);
    } else if parts.len() > 1 {
        let (first, second) = parts.split_at(parts.len() / 2);
        harmless(first, kept, tries, is_harmless);
        harmless(second, kept, tries, is_harmless);
    }
}

/// A redacted text with a word in each gap: a shell would take brackets for a pattern, which may be any number of words.
fn plain(text: &str) -> String {
    text.replace(super::REDACTED, "redacted")
}

/// The programs that a text runs and the hosts that it names.
#[derive(Debug)]
struct Evidence {
    programs: Vec<String>,
    hosts: BTreeSet<String>,
    substitutions: Vec<Range<usize>>,
}

impl PartialEq for Evidence {
    fn eq(&self, other: &Self) -> bool {
        (&self.programs, &self.hosts) == (&other.programs, &other.hosts)
    }
}

impl Evidence {
    fn of(text: &str) -> Self {
        let actions = read(text);
        let mut hosts = BTreeSet::new();
        hosts.extend(in_addresses(text).map(|place| text.get(place).unwrap_or_default().to_owned()));
        hosts.extend(named_by_words(&actions));
        let spans = actions.substitutions.iter().map(|substitution| substitution.span);
        let substitutions = spans.map(|span| span.start..span.end).collect();
        Self { programs: programs(&actions), hosts, substitutions }
    }

    /// Where the programs, the hosts and what joins commands stand in the text.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = in_addresses(text).collect();
        let joints = text.bytes().enumerate().filter(|(_, byte)| JOINTS.contains(byte));
        places.extend(joints.map(|(at, _)| at..at + 1));
        let names: BTreeSet<&String> =
            self.programs.iter().chain(&self.hosts).filter(|name| !name.is_empty()).collect();
        let finder = AhoCorasick::new(names.iter().take(MAX_PROGRAMS)).ok();
        let hits = finder.iter().flat_map(|finder| finder.find_overlapping_iter(text));
        let is_whole = |place: &Range<usize>| {
            let in_word =
                |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let bytes = text.as_bytes();
            !in_word(place.start.checked_sub(1).and_then(|at| bytes.get(at)))
                && !in_word(bytes.get(place.end))
        };
        places.extend(hits.map(|hit| hit.range()).filter(is_whole));
        places
    }
}

/// The names of the programs that a text runs, in order. What is not known of a name is what is known of its beginning.
fn programs(actions: &Actions<'_>) -> Vec<String> {
    actions.runs.iter().flat_map(names_of).collect()
}

/// The names of what a run starts: its program, or those of the text that another machine gets.
pub(super) fn names_of(run: &Run<'_>) -> Vec<String> {
    if run.invocation == InvocationKind::Elsewhere
        && run.program().is_some_and(|word| word.contains([' ', ';']))
    {
        let words: Vec<&str> = run.argv.iter().filter_map(Arg::known).collect();
        let text = words.join(" ");
        return read(&text).runs.iter().filter_map(|run| run.argv.first().map(name_of)).collect();
    }
    run.argv.first().map(name_of).into_iter().collect()
}

fn name_of(word: &Arg<'_>) -> String {
    // Settings and data look like a program where they begin a text: `{"token":"x"}`, `db-password=x`.
    let is_name = |sign: char| !"=:{[,<>\"' ".contains(sign);
    match word {
        Arg::Known(text) | Arg::Unknown { prefix: text, .. } => {
            text.chars().take_while(|sign| is_name(*sign)).collect()
        }
    }
}

/// The hosts that programs are told as `user@host`.
fn named_by_words(actions: &Actions<'_>) -> Vec<String> {
    let is_remote =
        |name: Option<&str>| name.is_some_and(|name| REMOTE.contains(&super::words::program(name)));
    let runs = actions.runs.iter().filter(|run| is_remote(run.program()));
    let words = runs.flat_map(|run| run.argv.iter().skip(1).filter_map(Arg::known));
    words.filter_map(host_of).map(str::to_owned).collect()
}

/// The host of `user@host`. A word with blanks is a command for another machine.
fn host_of(word: &str) -> Option<&str> {
    let (user, host) = word.rsplit_once('@').filter(|_| !word.contains([' ', '\n', '\t']))?;
    let host = host.split([':', '/']).next().unwrap_or_default();
    (!user.contains(':') && !host.is_empty()).then_some(host)
}

/// Where the hosts of addresses stand: behind `://`, and behind the last `@` before what ends the host.
fn in_addresses(text: &str) -> impl Iterator<Item = Range<usize>> {
    const START: &str = "://";
    text.match_indices(START).filter_map(move |(at, _)| {
        let start = at + START.len();
        let rest = text.get(start..)?;
        let is_end = |byte: u8| byte <= b' ' || b"/?#\"'`;|&<>(){}\\,$".contains(&byte);
        let end = start
            + rest.bytes().take(MAX_AUTHORITY).position(is_end).unwrap_or(rest.len().min(MAX_AUTHORITY));
        let authority = text.get(start..text.floor_char_boundary(end))?;
        let user = authority.rfind('@').map_or(0, |at| at + 1);
        let host = authority.get(user..)?.split(':').next()?;
        (!host.is_empty()).then(|| start + user..start + user + host.len())
    })
}

/// The longest part of an address that is searched for its host: no name of a host has as many letters.
const MAX_AUTHORITY: usize = 512;

/// Parts of a text, in order and apart from each other.
#[derive(Debug)]
struct Apart(Vec<Range<usize>>);

impl Apart {
    fn of(mut parts: Vec<Range<usize>>) -> Self {
        parts.sort_unstable_by_key(|part| part.start);
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(parts.len());
        for part in parts.into_iter().filter(|part| part.start < part.end) {
            match apart.last_mut() {
                Some(last) if part.start < last.end => last.end = last.end.max(part.end),
                _ => apart.push(part),
            }
        }
        Self(apart)
    }

    /// Those that touch a part.
    fn within(&self, part: &Range<usize>) -> &[Range<usize>] {
        let from = self.0.partition_point(|one| one.end <= part.start);
        let to = self.0.partition_point(|one| one.start < part.end);
        self.0.get(from..to.max(from)).unwrap_or_default()
    }

    /// Returns what is left of a part beside them.
    fn beside(&self, part: Range<usize>) -> Vec<Range<usize>> {
        let mut left = Vec::new();
        let mut from = part.start;
        for cut in self.within(&part) {
            left.push(from..cut.start);
            from = cut.end;
        }
        left.push(from..part.end);
        left.retain(|range| range.start < range.end);
        left
    }

    /// The same for parts in which others are looked for by themselves: one that lies in one of them stays, and ends with it.
    fn beside_those_around(&self, part: Range<usize>) -> Vec<Range<usize>> {
        match self.within(&part).first() {
            Some(around) if around.start <= part.start && part != *around => {
                let end = part.end.min(around.end);
                std::iter::once(part.start..end).collect()
            }
            _ => self.beside(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_out_is_cut_out_once() {
        let cut = Apart::of(vec![6..8, 2..4, 3..5]);
        assert_eq!(cut.beside(0..10), [0..2, 5..6, 8..10]);
        assert!(cut.beside(3..4).is_empty());
        assert_eq!(cut.beside(4..7).first(), Some(&(5..6)));
        assert_eq!(cut.beside_those_around(3..4).first(), Some(&(3..4)));
        assert_eq!(cut.beside_those_around(3..9).first(), Some(&(3..5)));
        assert_eq!(cut.beside_those_around(0..10), [0..2, 5..6, 8..10]);
    }

    #[test]
    fn hosts_are_found_where_addresses_name_them() {
        let hosts = |text: &str| -> Vec<String> {
            in_addresses(text).map(|place| text.get(place).unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(hosts("curl https://a:b@evil.example:8/x 'ftp://h'"), ["evil.example", "h"]);
        assert_eq!(hosts("a:// b://?x ://"), Vec::<String>::new());
    }
}
