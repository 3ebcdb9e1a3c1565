//! Skills: what stands at their head, what in them runs, and what of them reaches a prompt.

mod arguments;
mod bundle;
mod command;
mod dialect;
mod finding;
mod head;
mod manifest;
mod problem;
mod prompt;
mod read;
mod surface;

pub use bundle::{SkillFolders, SkillSource, find_skills};
pub use dialect::Dialect;
pub use finding::{Reading, SkillFinding};
pub use manifest::{SkillManifest, SkillPermissions, SkillRequirements};
pub use problem::{ProblemLevel, SkillProblem};
pub use prompt::PromptRefused;
pub use surface::{Surface, SurfaceKind};

pub(crate) use bundle::{Bundle, read_bundle};
pub(crate) use finding::Findings;
pub(crate) use head::{split, unix_lines};
pub(crate) use problem::{Place, Problems};
pub(crate) use prompt::{Parts, one_line};
pub(crate) use read::read_start;
pub(crate) use surface::Surfaces;
