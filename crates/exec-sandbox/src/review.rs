//! Lets a command work on a view of its workspace, and brings what it changed there into the workspace when somebody wants that: all
//! of it or some, and back again.
//!
//! ```text
//!  workspace ──► view ──► command ends ──► changes, judged ──► apply ──► workspace
//!                 │       with all that                         │ ▲
//!                 ▼       it started                      undo  ▼ │
//!                layer: what is different                slots: what was replaced
//! ```
//!
//! The view is an overlay that the kernel makes in the sandbox; where it makes none, a copy. Either way, what is there is the
//! workspace until something is applied: whoever looks at it from outside sees nothing of what the command does, and the command
//! sees of what others do there meanwhile as much as an overlay shows. Nothing is judged before all processes of the command are
//! gone, since one that is left could still write to what was judged.

mod about;
mod at;
mod attributes;
mod change;
mod copy;
mod crash;
mod error;
mod indexes;
mod judge;
mod layer;
mod manifest;
mod merge;
mod record;
mod select;
mod store;
#[cfg(test)]
mod tests;
mod view;

pub use about::ReviewView;
pub use change::{ChangeKind, ChangeState, FileChange};
pub use error::ReviewError;
pub use layer::{Content, LayerState, ReviewLayer};
pub use merge::{Merged, ResumedLayer};
pub use select::{ChangeSelection, Conflict};
pub use store::{DroppedLayer, MAX_LAYER_AGE, MAX_LAYER_BYTES, MAX_LAYERS, ReviewStore};
pub(crate) use view::{ViewedRun, is_in_view};
