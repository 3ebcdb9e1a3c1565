//! Opens, walks and reads untrusted directories, and reports what could not be read.
//!
//! An untrusted directory may contain links that lead out of it, endless pipes, and files and nesting of any size; an
//! attacker may also swap a file for a link while it is read. Therefore:
//!
//! - every name is opened relative to its open directory, never through a link, and the type is checked after the
//!   open;
//! - pipes, sockets and devices are not opened;
//! - bytes, entries and depth are bounded;
//! - whatever could not be examined is a [`Gap`] in the result. No name is left out: hidden files, ignored files and
//!   `.git` are visited like all others. Exclusions by the caller ([`read_files_except`]) are gaps, too.
//!
//! [`read_files()`] walks its sources and calls back once per file, in a fixed order for any number of threads.
//! [`TextReadings`] converts any bytes to text, so that no encoding hides content. [`folders_with`] finds directories
//! that contain a file of a certain name, and [`OpenFolder`] is one open directory.
//!
//! [`RootFolder`] resolves a path and pins its target: between a decision about a path and its use, the path may be
//! replaced by a link, so a [`HeldName`] opens the file that was examined or fails.
//!
//! [`read_trusted`] reads files that are trusted because of their permissions, and [`FileVersions`] detects changes.
//! A [`KeptFile`] is a text file of our own that is replaced as a whole, by one writer at a time.
//!
//! [`BoundedLines`] splits an untrusted stream into lines of bounded length.
//!
//! With the feature `unpack`, `unpack` extracts the members of archives (zip, gzip, tar) and documents (PDF,
//! Word, Excel, `LibreOffice`) in memory, within bounds, and reports what it could not read.
//!
//! The crate makes no decisions: the caller interprets links, names and texts. It does not inspect images. Only Unix
//! is supported.
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
mod hard_links;
mod held_name;
mod in_order;
mod kept_file;
mod kernel_file;
mod known_links;
mod link;
mod machine_code;
mod media;
mod mount_aliases;
mod name_case;
mod own_file;
mod owned_folder;
mod owned_path;
mod read_files;
mod reader;
mod real_path;
pub mod regular_file;
mod resolve;
mod source;
mod text_file;
mod text_readings;
mod trusted_file;
#[cfg(target_os = "linux")]
mod unchanged_folders;
#[cfg(feature = "unpack")]
mod unpack;
mod walk;

pub use bounded_lines::{BoundedLine, BoundedLines};
pub use file_versions::FileVersions;
pub use find::{FoundFolders, folders_with};
pub use folder::{EntryKind, FolderEntry, OpenFolder, OpenedPath, open_path};
pub use found_path::{FoundPath, FoundTarget, LookupError, OtherLinks};
pub use gap::{Coverage, Gap, Unopened};
pub use held_name::{HeldName, OpenFor, Reopened};
pub use kept_file::{KeptFile, KeptFileError};
pub use kernel_file::{read_kernel_file, read_kernel_line};
pub use known_links::KnownLinks;
pub use machine_code::{machine_code, starts_as_machine_code};
pub use media::media;
pub use mount_aliases::MountAliases;
pub use name_case::NameCase;
pub use own_file::{OwnAccess, open_own};
pub use owned_folder::real_owned_folder;
pub use owned_path::{NotOwned, OwnedPath, check_owned, check_owned_once};
pub use read_files::{FileBytes, read_files, read_files_except};
pub use reader::FileReader;
pub use real_path::real_path;
pub use resolve::{Resolver, RootFolder};
pub use source::{FileOptions, Source};
pub use text_file::{TextFile, read_text};
pub use text_readings::{FileNature, TextReadings};
pub use trusted_file::{TrustedFileError, Writers, read_trusted};
#[cfg(target_os = "linux")]
pub use unchanged_folders::{FolderStamp, UnchangedFolders};
#[cfg(feature = "unpack")]
pub use unpack::{Packed, UnpackBudget, unpack};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
