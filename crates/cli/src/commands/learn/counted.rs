//! Needs with the number of calls that had them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;

use stockade_state::learn::Need;

/// Something that an agent needed, and how often.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    /// What an approval could be about; nothing for a record of what none could.
    pub(super) need: Option<Need>,
    /// Names it.
    pub(super) what: String,
    /// The directory of its last call.
    pub(super) workspace: PathBuf,
    /// The recorded reason, if there is no need.
    pub(super) stopped: String,
    /// Number of records in the trail, and of calls in transcripts.
    recorded: u64,
    called: u64,
}

/// Where a call was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenIn {
    Trail,
    Transcript,
}

impl Counted {
    pub(super) fn of(need: Need, workspace: PathBuf) -> Self {
        let what = need.what();
        Self { need: Some(need), what, workspace, stopped: String::new(), recorded: 0, called: 0 }
    }

    /// Returns a record of what no approval could be about.
    pub(super) fn stopped(subject: String, reason: String, workspace: PathBuf) -> Self {
        Self { need: None, what: subject, workspace, stopped: reason, recorded: 0, called: 0 }
    }

    /// The number of calls. One call may be in the trail and in a transcript.
    pub(super) fn count(&self) -> u64 {
        self.recorded.max(self.called)
    }

    /// The most used first, and otherwise in the order of the alphabet.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other.count().cmp(&self.count()).then_with(|| self.what.cmp(&other.what))
    }
}

/// The needs of each agent.
#[derive(Debug, Default)]
pub(super) struct Needs(BTreeMap<String, BTreeMap<String, Counted>>);

impl Needs {
    /// Counts a call.
    pub(super) fn add(&mut self, agent: &str, seen: Counted, seen_in: SeenIn) {
        let of_agent = self.0.entry(agent.to_owned()).or_default();
        let counted = of_agent.entry(seen.what.clone()).or_insert_with(|| seen.clone());
        counted.workspace = seen.workspace;
        match seen_in {
            SeenIn::Trail => counted.recorded += 1,
            SeenIn::Transcript => counted.called += 1,
        }
    }

    /// Returns the number of different needs.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    pub(super) fn by_agent(self) -> Vec<(String, Vec<Counted>)> {
        self.0.into_iter().map(|(agent, needs)| (agent, needs.into_values().collect())).collect()
    }
}
