//! Reads settings, indexes and the layout of untrusted git repositories without running git.
//!
//! git starts programs that the settings of a repository name, so it must not be asked about an untrusted directory. This crate parses
//! the same files and starts nothing:
//!
//! - [`git_settings`] and [`read_settings`] parse a config file, and [`include_applies`] evaluates a condition of `includeIf`.
//! - [`submodule_paths`], [`indexed_files`] and [`index_digest`] parse an index; [`blob_id`] computes the id of a content.
//! - [`harmful_setting`] names a setting that is not known to run no program, and [`GitSettings`] keeps those of a user that can be passed on.
//! - [`find_git`] finds the repository that git would use in a directory, with the settings and hooks that it would obey.
//! - [`users_git`] reads the settings of a user that git would use in a workspace.
//!
//! ```
//! use stockade_git::git_settings;
//!
//! let settings = git_settings(b"[filter \"LFS\"]\n\tClean = git-lfs clean\n")?;
//! assert_eq!(settings[0].key, "filter.LFS.clean");
//! assert_eq!(settings[0].value.as_deref(), Some("git-lfs clean"));
//! # Ok::<(), stockade_git::GitSyntaxError>(())
//! ```
//!
//! Only [`find_git`] and [`users_git`] do I/O. Every parser takes linear time. The crate lists settings, and decides nothing by them.
#![forbid(unsafe_code)]

mod allowed_settings;
mod blob;
mod condition;
mod find;
mod index;
mod passed_settings;
mod review_inputs;
mod settings;
mod users_settings;

pub use allowed_settings::{GitTarget, MAX_REPOSITORY_SETTINGS, SettingsOf, git_targets, harmful_setting};
pub use blob::blob_id;
pub use condition::include_applies;
pub use find::{FoundGit, GitRepository, find_git};
pub use index::{
    GitIndexError, IndexedFile, ObjectId, StatedFile, files_stated_since, index_digest, indexed_files,
    submodule_paths,
};
pub use passed_settings::GitSettings;
pub use review_inputs::{ReviewFile, ReviewInput, review_inputs};
pub use settings::{GitSetting, GitSyntaxError, SettingsReader, git_settings, read_settings};
pub use users_settings::{UsersGit, UsersPlaces, users_file, users_git};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
