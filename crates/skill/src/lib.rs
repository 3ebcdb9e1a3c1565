//! Reads skills of AI agents: text in, what it says about itself, what in it runs, and a prompt out.
//!
//! - [`SkillManifest::read`]: the head of a `SKILL.md` in one of five [`Dialect`]s, and what is wrong with it.
//! - [`head_surfaces`], [`load_commands`]: what runs, or lets something run, before a model is asked.
//! - [`settings_surfaces`], [`binary()`], [`is_program`]: the same of the files beside it.
//! - [`substitute`]: arguments, filled in once.
//! - [`SkillFrame`]: the tags around a skill in a prompt, which nothing in it can close, open or imitate.
//!
//! It does **not** look for attacks, clean a text, open a file or judge a command: that is for a scanner, a sanitizer and a
//! policy, and `stockade-guard` puts them together. Whoever holds a manifest only knows what a stranger wrote.
//!
//! ```
//! use stockade_skill::{Dialect, ListedTools, SkillManifest};
//!
//! let text = "---\nname: greet\ndescripton: Greets somebody.\nallowed-tools: Read\n---\nSay hello to $1.\n";
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
