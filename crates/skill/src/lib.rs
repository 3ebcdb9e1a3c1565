//! Parses the skills of AI agents: front matter, commands and other parts that run, and the frame for a prompt.
//!
//! - [`SkillManifest::read`]: the front matter of a `SKILL.md` in one of five [`Dialect`]s, and its problems.
//! - [`head_surfaces`], [`load_commands`]: parts that run, or let something run, before a model is asked.
//! - [`settings_surfaces`], [`binary()`], [`is_program`]: the same for the files beside it.
//! - [`substitute`]: arguments, substituted once.
//! - [`SkillFrame`]: the tags around a skill in a prompt, which nothing in it can close, open or imitate.
//!
//! It does **not** look for attacks, clean text, open files or judge commands: a scanner, a sanitizer and a policy
//! do, and `stockade-guard` combines them. A manifest contains only untrusted claims.
//!
//! ```
//! use stockade_skill::{Dialect, ListedTools, SkillManifest};
//!
//! let text = "---\nname: greet\ndescripton: Greets a person.\nallowed-tools: Read\n---\nSay hello to $1.\n";
//! let (manifest, problems) = SkillManifest::read(text, "SKILL.md", Dialect::Claude, &|_| Ok(()));
//!
//! assert_eq!(manifest.name.as_deref(), Some("greet"));
//! assert_eq!(manifest.tools, ListedTools::Text("Read".into()));
//! assert_eq!((problems[0].rule, problems[0].line), ("misspelt-key", 3));
//! assert_eq!(problems[0].fix, "write `description`");
//! ```
#![forbid(unsafe_code)]

mod arguments;
mod binary;
mod command;
mod dialect;
mod frame;
mod head;
mod manifest;
mod name;
mod problem;
mod read;
mod script;
mod settings;
mod surface;

pub use arguments::substitute;
pub use binary::{Binary, binary};
pub use command::{LoadCommand, load_commands};
pub use dialect::Dialect;
pub use frame::SkillFrame;
pub use head::{HeadStart, SkillText, split_head, unix_lines};
pub use manifest::{ListedTools, SkillManifest, SkillPermissions, SkillRequirements};
pub use name::{NAME_FIX, unusable};
pub use problem::{FilePosition, ProblemLevel, SkillProblem, SkillProblems};
pub use read::{MAX_HEAD_BYTES, ToolCheck, read_head};
pub use script::is_program;
pub use settings::{SettingsSurface, UnreadableSettings, settings_surfaces};
pub use surface::{HeadSurface, MAX_SURFACE_CHARS, MAX_SURFACES, SurfaceKind, first_chars, head_surfaces};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
