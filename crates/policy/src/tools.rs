//! Which tools an agent may use: profile, then allow, then deny, then what every active skill leaves of it.

mod groups;
mod names;
pub(crate) mod policy;
pub(crate) mod profiles;
pub(crate) mod resolve;
pub(crate) mod skill;

pub use groups::Group;
pub use policy::{ToolList, ToolProblem};
pub use profiles::ToolSet;
pub use resolve::{AllowedTool, ArgumentLimit, FilteredTool, Removal, Resolution, ToolFix};
pub use skill::{ArgumentScope, SkillTool, SkillToolsError};
