//! Repositories that git would find: facts that the caller gathers, because this crate does not read the disk.

/// The repository that git finds in a directory or its parents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundRepository {
    /// None, up to the root of the file system.
    Nothing,
    /// A suspicious repository, or one that could not be read completely, with a description.
    Doubtful(String),
    /// Another repository than that of the workspace, such as a clone in it.
    Foreign,
    /// The repository of the workspace, or a linked worktree or submodule of it.
    Own(RepositoryFacts),
}

/// Settings of a repository that may start programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositoryFacts {
    /// Its settings, and those of submodules that git would read: the name, such as `core.fsmonitor`, and the value, if any. The
    /// user's own settings are not included.
    pub settings: Vec<(String, Option<String>)>,
    /// The names of its hooks, and of those of submodules.
    pub hooks: Vec<String>,
}
