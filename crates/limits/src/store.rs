//! Keeping limits where several processes or machines share them.

mod contract;
mod memory;
mod optimistic;
mod shared;
mod status;

pub use self::contract::{AgentState, Change, LimitStore, StateReader, StoreError};
pub use self::memory::MemoryStore;
pub use self::optimistic::{SwapResult, VersionedState, VersionedStore, compare_and_swap_loop};
pub use self::shared::{AgentLimits, CallPermit, CallRefusal, CallVerdict, SharedLimits};
pub use self::status::{AgentStatus, LimitReset};
