//! Checks of all secrets together, before any of them is read.

use super::host_list::HostList;
use super::secret_binding::{BoundName, SecretBinding, SecretError, SecretPlace};

impl SecretBinding {
    /// Checks that every secret can reach its host. `list` names the host list in errors, so that a user knows which setting to
    /// change.
    ///
    /// # Errors
    /// When one has no reachable host, or two have the same place.
    pub fn check(bindings: &[Self], hosts: &HostList, list: &str) -> Result<(), SecretError> {
        bindings.iter().try_for_each(|binding| check_host(binding, hosts, list))?;
        check_places(bindings)
    }

    /// Returns whether a list allows a host of the secret.
    #[must_use]
    pub fn is_reached(&self, hosts: &HostList) -> bool {
        !hosts.reached(&self.host).is_empty()
    }
}

/// Checks that a secret's host is allowed, and its requests are visible.
fn check_host(binding: &SecretBinding, hosts: &HostList, list: &str) -> Result<(), SecretError> {
    let to = binding.host.written();
    let reached = hosts.reached(&binding.host);
    if reached.is_empty() {
        let fix = match &binding.host.host {
            BoundName::One(_) => format!("add `{to}` to {list}"),
            BoundName::Below(end) => {
                format!("add the exact host below `{end}` that requests are signed for to {list}")
            }
        };
        return Err(SecretError::new(
            &binding.name,
            format!("is for `{to}`, which is not in the host list"),
            fix,
        ));
    }
    if let Some(unseen) = reached.iter().find(|entry| entry.carries_anything) {
        let fix = format!("remove `/tcp` from the entry `{}`", unseen.written);
        let why = format!("is for `{to}`, whose traffic is not inspected");
        return Err(SecretError::new(&binding.name, why, fix));
    }
    Ok(())
}

/// Checks that a name has one source, and a place one secret.
fn check_places(bindings: &[SecretBinding]) -> Result<(), SecretError> {
    for (number, one) in bindings.iter().enumerate() {
        for other in bindings.iter().take(number) {
            let wrong = |why: String, fix: &str| Err(SecretError::new(&one.name, why, fix));
            if one.name == other.name && one.source != other.source {
                return wrong("has two sources".to_owned(), "rename one of them");
            }
            if let (Some(place), true) =
                (one.shared_place(other), one.host.overlaps(&other.host) && one.name != other.name)
            {
                let (to, place) = (one.host.written(), place.words());
                return wrong(
                    format!("is for `{to}` in {place}, as is `{}`", other.name),
                    "remove one of them, or use another place",
                );
            }
        }
    }
    Ok(())
}

impl SecretBinding {
    /// Whether both are sent to one host in one place.
    #[cfg(target_os = "linux")]
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        self.host.overlaps(&other.host) && self.shared_place(other).is_some()
    }

    fn shared_place(&self, other: &Self) -> Option<&SecretPlace> {
        self.places.iter().find(|place| other.places.iter().any(|other| place.is_same(other)))
    }
}

impl SecretPlace {
    /// Whether two places conflict. The user and password of `Authorization: Basic` share one header.
    fn is_same(&self, other: &Self) -> bool {
        let plain = |place: &Self| match place {
            Self::Basic | Self::SigV4 => Self::Header("authorization".to_owned()),
            place => place.clone(),
        };
        plain(self) == plain(other)
    }
}
