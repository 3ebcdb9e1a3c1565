//! What git would find in a directory: facts that the caller has gathered, since this crate does not read the disk.

/// What git finds when it looks for a repository from a folder upwards.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundRepository {
    /// git finds none, up to the root of the file system.
    Nothing,
    /// Something that the repository of an honest project is not, or that could not be read to its end; and what it is.
    Doubtful(String),
    /// Another repository than the one of the workspace, such as a clone within it.
    Foreign,
    /// The repository that holds the workspace, or what git keeps in it: a linked worktree, a submodule.
    Own(RepositoryFacts),
}

/// What a repository says of itself, as far as it may start programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositoryFacts {
    /// Its settings, and those of the submodules in which git would look: the name, such as `core.fsmonitor`, and the value,
    /// which is missing where only the name is written. The user's own settings are not included.
    pub settings: Vec<(String, Option<String>)>,
    /// The names of its hooks, and of those of the submodules.
    pub hooks: Vec<String>,
}
