//! Opens, walks and reads folders of strangers, and says what could not be read.
//!
//! A folder that somebody else filled may hold links that lead out of it, pipes that never end, files of any size and folders
//! of any depth; and while it is read, somebody may put a link where a file was. So:
//!
//! - every name is opened from the open folder that it is in, never through a link, and what is open is asked what it is;
//! - pipes, sockets and devices are not opened;
//! - bytes, entries and depth are bounded;
//! - whatever could not be looked at is a [`Gap`] that the caller sees. No name is left out: hidden files, ignored files and
//!   `.git` are visited as all others. What the caller excludes ([`read_files_except`]) is a gap, too.
//!
//! [`read_files()`] walks what it is given and calls back once for every file, in a fixed order, whatever the number of threads.
//! [`TextReadings`] makes text of any bytes, so that nothing in a file is a way to keep somebody from reading it.
//! [`folders_with`] finds the folders that have a file of a certain name, and [`OpenFolder`] is one folder, held open.
//!
//! [`RootFolder`] finds out where a path really leads, through which links, and holds on to what is there: between a decision
//! about a path and its use, anybody may put a link in its place, so a [`HeldName`] opens what was looked at or nothing.
//!
//! [`read_trusted`] reads what is believed because of who may write it, and [`FileVersions`] tells whether files are still as they were.
//! A [`KeptFile`] is one of our own: text that programs and people change, replaced whole and by one writer at a time.
//!
//! [`find_git`] says which repository git would find in a folder and what it says of itself, without starting git: settings
//! ([`git_settings`]), hooks and submodules ([`submodule_paths`]).
//!
//! [`BoundedLines`] cuts an untrusted stream into lines of a bounded length.
//!
//! With the feature `unpack`, [`unpack()`] hands on what is packed in archives (zip, gzip, tar) and documents (PDF, and those that are
//! zips: of Word, Excel, `LibreOffice`), within bounds, and says what it could not read.
//!
//! It decides nothing: what a link, a name or a text means is for whoever asked. It does not look into images. Systems other than Unix are not served.
//!
//! ```
//! use std::ops::ControlFlow;
//! use stockade_files::{FileOptions, Source, read_files};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.txt"), "four")?;
//! std::os::unix::fs::symlink("/etc/passwd", folder.path().join("b.txt"))?;
//!
//! let mut seen = Vec::new();
//! read_files(
//!     &[Source::Path(folder.path().into())],
//!     &FileOptions::default(),
//!     |file| (file.bytes.len(), file.gap.map(|gap| gap.name())), // on any thread
//!     |one| {
//!         seen.push(one); // in order
//!         ControlFlow::Continue(())
//!     },
//! );
//! assert_eq!(seen, [(4, None), (0, Some("linkOutside"))]);
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bounded_lines;
mod file_versions;
mod find;
mod folder;
mod found_path;
mod gap;
mod git;
mod hard_links;
mod held_name;
mod in_order;
mod kept_file;
mod link;
mod media;
mod name_case;
mod owned_path;
mod read_files;
mod reader;
mod resolve;
mod source;
mod text_file;
mod text_readings;
mod trusted_file;
#[cfg(feature = "unpack")]
mod unpack;
mod walk;

pub use bounded_lines::{BoundedLine, BoundedLines};
pub use file_versions::FileVersions;
pub use find::{FoundFolders, folders_with};
pub use folder::{EntryKind, FolderEntry, OpenFolder, OpenedPath, open_path};
pub use found_path::{FoundPath, FoundTarget, LookupError, OtherLinks};
pub use gap::{Coverage, Gap, Unopened};
pub use git::{
    FoundGit, GitIndexError, GitRepository, GitSetting, GitSyntaxError, IndexedFile, ObjectId, blob_id,
    find_git, git_settings, index_digest, indexed_files, submodule_paths,
};
pub use held_name::{HeldName, OpenFor, Reopened};
pub use kept_file::{KeptFile, KeptFileError};
pub use media::media;
pub use name_case::NameCase;
pub use owned_path::{NotOwned, check_owned};
pub use read_files::{FileBytes, read_files, read_files_except};
pub use reader::FileReader;
pub use resolve::{Resolver, RootFolder};
pub use source::{FileOptions, Source};
pub use text_file::{TextFile, read_text};
pub use text_readings::{FileNature, TextReadings};
pub use trusted_file::{TrustedFileError, Writers, read_trusted};
#[cfg(feature = "unpack")]
pub use unpack::{Packed, UnpackBudget, unpack};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
