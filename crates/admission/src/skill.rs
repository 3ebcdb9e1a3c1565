//! Admission of skills: read from the disk, scanned, judged, and put into prompts. The pure parts are in
//! `stockade-skill`.

mod bundle;
mod files;
pub(crate) mod finding;
mod prompt;
mod surface;
mod tools;

pub use bundle::{SkillFolders, SkillSource, find_skills};
pub use files::{FileSurface, file_surfaces};
pub use finding::{Reading, SkillFinding, SkillFindingStep};
pub use prompt::PromptRefused;
pub use surface::Surface;
pub use tools::{check_tools, read_manifest};

#[cfg(feature = "lock")]
pub(crate) use bundle::MAIN_FILES;
pub(crate) use bundle::{Bundle, Others, read_bundle};
pub(crate) use finding::Findings;
pub(crate) use prompt::{one_line, prompt};
pub(crate) use surface::Surfaces;
pub(crate) use tools::{is_sweeping, tools_of};
