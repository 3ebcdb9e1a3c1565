//! What a program does to the file of a name.

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reading a file, listing a folder.
    Read,
    /// Writing, creating, deleting, renaming.
    Write,
}
