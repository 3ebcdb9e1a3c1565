//! Finds the repository that git would find from a directory, and reads its settings without running git: a
//! repository may name programs that git starts.

mod blob;
mod find;
mod index;
mod settings;

pub use blob::blob_id;
pub use find::{FoundGit, GitRepository, find_git};
pub use index::{GitIndexError, IndexedFile, ObjectId, index_digest, indexed_files, submodule_paths};
pub use settings::{GitSetting, GitSyntaxError, git_settings};
