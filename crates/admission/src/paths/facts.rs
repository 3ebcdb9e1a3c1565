//! Converts lookup results to the facts on which the policy decides.

use stockade_files::{FoundPath, FoundTarget, HeldName, LookupError, NameCase, OtherLinks, RootFolder};
use stockade_policy::paths::{Case, OtherNames, ResolveError, ResolvedPath, Target};
use stockade_policy::{PathFacts, Workspace};

/// Returns the facts about a path, and its target, held open; `None` if the path cannot be resolved.
pub(super) fn facts_of(found: Result<FoundPath, LookupError>) -> (PathFacts, Option<HeldName>) {
    match found {
        Ok(FoundPath { real, through, target, held, .. }) => {
            let target = target_of(target);
            (PathFacts::Resolved(ResolvedPath { real, through, target }), Some(held))
        }
        Err(error) => (PathFacts::Unresolvable(error_of(error)), None),
    }
}

/// Returns the workspace of a directory.
pub(super) fn workspace_of(root: &RootFolder) -> Workspace {
    let case = match root.case() {
        NameCase::Sensitive => Case::Sensitive,
        NameCase::Insensitive => Case::Insensitive,
    };
    Workspace { cwd: root.cwd().to_owned(), real: root.real().to_owned(), case }
}

fn target_of(target: FoundTarget) -> Target {
    match target {
        FoundTarget::Missing => Target::Missing,
        FoundTarget::File(OtherLinks::None) => Target::File(OtherNames::None),
        FoundTarget::File(OtherLinks::All(names)) => Target::File(OtherNames::All(names)),
        FoundTarget::File(OtherLinks::Some(names)) => Target::File(OtherNames::Some(names)),
        FoundTarget::File(OtherLinks::Unfinished(names)) => Target::File(OtherNames::Unfinished(names)),
        FoundTarget::Folder => Target::Folder,
        FoundTarget::Special => Target::Special,
    }
}

const fn error_of(error: LookupError) -> ResolveError {
    match error {
        LookupError::Loop => ResolveError::Loop,
        LookupError::MagicLink => ResolveError::MagicLink,
        LookupError::NotAFolder => ResolveError::NotAFolder,
        LookupError::Unreadable => ResolveError::Unreadable,
        LookupError::Changed => ResolveError::Changed,
    }
}
