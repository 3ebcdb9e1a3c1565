//! Auto traits that users rely on to share results between threads.

use stockade_skill::{
    Dialect, HeadSurface, ListedTools, LoadCommand, SkillFrame, SkillManifest, SkillProblem, SkillProblems,
    SkillText, SurfaceKind,
};

fn is_send_sync_debug<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn results_can_be_shared_and_shown() {
    is_send_sync_debug::<Dialect>();
    is_send_sync_debug::<HeadSurface<'_>>();
    is_send_sync_debug::<ListedTools>();
    is_send_sync_debug::<LoadCommand<'_>>();
    is_send_sync_debug::<SkillFrame>();
    is_send_sync_debug::<SkillManifest>();
    is_send_sync_debug::<SkillProblem>();
    is_send_sync_debug::<SkillProblems>();
    is_send_sync_debug::<SkillText<'_>>();
    is_send_sync_debug::<SurfaceKind>();
}
