//! Limits that several processes or machines share.

mod agent_limits;
mod contract;
mod error;
mod memory;
mod operation;
mod optimistic;
mod refusal;
mod shared;
mod status;
mod wire;

pub use self::agent_limits::AgentLimits;
pub use self::contract::{
    AgentLook, AgentState, Change, LimitStore, ManagedStore, StateStore, apply_by_update,
};
pub use self::error::StoreError;
pub use self::memory::MemoryStore;
pub use self::operation::{AdmittedCall, Grant, LimitAnswer, LimitOperation};
pub use self::optimistic::{SwapResult, VersionedState, VersionedStore, compare_and_swap_loop};
pub use self::refusal::CallRefusal;
pub use self::shared::{CallPermit, CallVerdict, SharedLimits};
pub use self::status::{AgentStatus, LimitReset};
pub use self::wire::Question;
