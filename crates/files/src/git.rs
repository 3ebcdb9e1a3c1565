//! Which repository git would find from a folder, and what it says of itself: read without git, since a repository may name
//! programs that git starts wherever it looks.

mod blob;
mod find;
mod index;
mod settings;

pub use blob::blob_id;
pub use find::{FoundGit, GitRepository, find_git};
pub use index::{GitIndexError, IndexedFile, ObjectId, index_digest, indexed_files, submodule_paths};
pub use settings::{GitSetting, GitSyntaxError, git_settings};
