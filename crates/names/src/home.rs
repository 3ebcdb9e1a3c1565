//! Credentials below the home: what the table withholds from every sandbox, and what it masks in folders that are shared.

use std::borrow::Cow;
use std::path::Path;

use crate::{Name, SandboxView, Scope, default_workspace, fits, fold, names};

/// How a path stands to credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearness {
    /// It is at, below or above something that is withheld.
    IsWithheld,
    /// It is at or below something that is masked. What is above may be shared without it.
    IsMasked,
}

fn with_view(view: SandboxView) -> impl Iterator<Item = &'static str> {
    let rows = names().filter(move |name: &&Name| name.scope == Scope::Home && name.view() == view);
    rows.flat_map(|name| name.paths).copied()
}

/// Returns the credentials next to a path below the home.
#[must_use]
pub fn nearest(below: &Path) -> Option<(Nearness, &'static str)> {
    let names = parts(below);
    // What lies above a workspace says nothing about it.
    if default_workspace(&names).is_some() {
        return None;
    }
    let mut withheld = with_view(SandboxView::Withheld).filter(|secret| leads_along(secret, &names));
    let withheld = withheld.next().map(|secret| (Nearness::IsWithheld, secret));
    withheld.or_else(|| at(SandboxView::Masked, &names).map(|secret| (Nearness::IsMasked, secret)))
}

/// What a command sees of a path below the home, where the folder around that is shared.
#[must_use]
pub fn view_of(below: &Path) -> SandboxView {
    let names = parts(below);
    if default_workspace(&names).is_some() {
        return SandboxView::default();
    }
    let views = [SandboxView::Withheld, SandboxView::Masked];
    views.into_iter().find(|view| at(*view, &names).is_some()).unwrap_or_default()
}

/// What is masked in folders that are shared: a folder below the home, and a name or pattern of names in it.
pub fn masked() -> impl Iterator<Item = (&'static str, &'static str)> {
    with_view(SandboxView::Masked).filter_map(|path| path.rsplit_once('/'))
}

/// What has this view and is at a path or above it.
fn at(view: SandboxView, names: &[Cow<'_, str>]) -> Option<&'static str> {
    with_view(view).find(|secret| secret.split('/').count() <= names.len() && leads_along(secret, names))
}

fn parts(below: &Path) -> Vec<Cow<'_, str>> {
    below
        .components()
        .map(|part| match part.as_os_str().to_str() {
            Some(name) => fold(name),
            None => part.as_os_str().to_string_lossy(),
        })
        .collect()
}

/// Whether one of both leads to the other.
fn leads_along(secret: &str, names: &[Cow<'_, str>]) -> bool {
    secret.split('/').zip(names).all(|(pattern, name)| fits(name, &fold(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_that_contain_credentials_are_recognised() {
        let rows = [
            (".ssh", Some(Nearness::IsWithheld)),
            (".SSH/x", Some(Nearness::IsWithheld)),
            (".config/git/credentials", Some(Nearness::IsWithheld)),
            (".local/share", Some(Nearness::IsWithheld)),
            (".gitconfig", Some(Nearness::IsWithheld)),
            (".cargo/credentials.toml", Some(Nearness::IsMasked)),
            (".cargo/Credentials", Some(Nearness::IsMasked)),
            (".minikube/certs/x", Some(Nearness::IsMasked)),
            (".cargo", None),
            (".cargo/registry", None),
            (".m2", None),
            ("project", None),
            ("project/.ssh", None),
        ];
        for (path, near) in rows {
            assert_eq!(nearest(Path::new(path)).map(|it| it.0), near, "{path}");
        }
    }

    /// They are looked for by one listing of one folder.
    #[test]
    fn only_the_last_name_is_a_pattern() {
        assert_eq!(masked().count(), with_view(SandboxView::Masked).count());
        for (folder, name) in masked() {
            assert!(!folder.contains('*'), "{folder}/{name}");
        }
    }
}
