//! Contents of a value in a program.

use arrayvec::ArrayVec;

use super::sources::specific_words;
use super::uses::is_for;
use super::{Inflow, Inflows};

/// Maximum number of environment secrets, and of hosts, tracked for a value.
const MAX_KEPT: usize = 4;

/// Contents of a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents<'p> {
    pub(super) flows: Inflows,
    /// Secrets of the environment, by the names of their variables.
    pub(super) secrets: ArrayVec<&'p str, MAX_KEPT>,
    /// The hosts in it.
    pub(super) hosts: ArrayVec<&'p str, MAX_KEPT>,
    /// Whether secret files in it are others than the project's own.
    pub(super) is_of_machine: bool,
    /// Whether there were more secrets or hosts than tracked: then the worst is assumed.
    pub(super) is_over: bool,
}

impl<'p> Contents<'p> {
    pub(super) fn add(&mut self, more: &Self) {
        self.flows = self.flows.with(more.flows);
        self.is_of_machine |= more.is_of_machine;
        self.is_over |= more.is_over;
        more.secrets.iter().for_each(|secret| self.keep_secret(secret));
        more.hosts.iter().for_each(|host| self.keep_host(host));
    }

    pub(super) fn keep_secret(&mut self, secret: &'p str) {
        self.is_over |= !keep(&mut self.secrets, secret);
    }

    pub(super) fn keep_host(&mut self, host: &'p str) {
        self.is_over |= !keep(&mut self.hosts, host);
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.flows.is_empty() && self.secrets.is_empty() && self.hosts.is_empty()
    }

    /// Returns the inflows, including those that depend on the hosts: whether a secret goes to its issuer.
    pub(super) fn flows_at_sink(&self) -> Inflows {
        let mut flows = self.flows;
        // Every host must belong to the issuer of the secret.
        let at_home = |secret: &&str| self.hosts.iter().all(|host| is_for(secret, host));
        let is_foreign = |secret: &&str| specific_words(secret).next().is_some() && !at_home(secret);
        let has_foreign = self.secrets.iter().any(is_foreign) || self.is_over && !self.secrets.is_empty();
        if !self.hosts.is_empty() && has_foreign {
            flows = flows.with(Inflows::of(&[Inflow::ForeignSecret]));
        }
        let is_encoded_only = flows == Inflows::of(&[Inflow::EncodedSecret]) && !self.hosts.is_empty();
        if is_encoded_only && !has_foreign {
            return Inflows::NONE;
        }
        if self.has_many_secrets() {
            flows = flows.with(Inflows::of(&[Inflow::ManySecrets]));
        }
        flows
    }

    /// Whether two of the secrets belong to unrelated hosts.
    fn has_many_secrets(&self) -> bool {
        let mut firsts = self.secrets.iter().filter_map(|secret| specific_words(secret).next());
        firsts.next().is_some_and(|one| firsts.any(|other| other != one))
    }
}

/// Adds an item, and returns whether the list contains it now, which is false if there was no room.
fn keep<'p>(list: &mut ArrayVec<&'p str, MAX_KEPT>, item: &'p str) -> bool {
    list.contains(&item) || list.try_push(item).is_ok()
}
