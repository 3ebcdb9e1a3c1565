//! Review: a command works on an overlay of its workspace, and the user applies, discards or undoes its changes, completely or
//! in part.
//!
//! ```text
//!  workspace ─► overlay ─► command ends ─► changes, judged ──► apply ──► workspace
//!                 │       with all that                         │ ▲
//!                 ▼       it started                      undo  ▼ │
//!                layer: what is different                slots: what was replaced
//! ```
//!
//! The overlay is an overlayfs mount in the sandbox, or a copy where the kernel cannot mount one. Either way, the workspace is
//! unchanged until changes are applied. Other programs see nothing of the command's work, and the command sees their changes as
//! far as an overlay shows them. Changes are judged when all processes of the command are gone, because a remaining one could
//! still modify judged files.

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
mod overlay_run;
mod record;
mod select;
mod store;
#[cfg(test)]
mod tests;

pub use about::ReviewView;
pub use change::{ChangeKind, ChangeState, FileChange};
pub use error::ReviewError;
pub use layer::{Content, LayerState, ReviewLayer};
pub use merge::{Merged, ResumedLayer};
pub(crate) use overlay_run::{OverlayRun, is_in_overlay};
pub use select::{ChangeSelection, Conflict};
pub use store::{DroppedLayer, MAX_LAYER_AGE, MAX_LAYER_BYTES, MAX_LAYERS, ReviewStore};
