//! The sandbox from outside: whole plans, properties of plans, and live attempts to get out.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

#[cfg(target_os = "linux")]
mod advice;
mod alone;
#[cfg(target_os = "linux")]
mod asked;
#[cfg(target_os = "linux")]
mod attacks;
mod auto_traits;
#[cfg(target_os = "linux")]
mod bounds;
mod capabilities;
#[cfg(target_os = "linux")]
mod continued;
#[cfg(target_os = "linux")]
mod env_names;
mod escapes;
#[cfg(target_os = "linux")]
#[cfg(all(feature = "external", target_os = "linux"))]
mod external;
mod faults;
mod helpers;
#[cfg(target_os = "linux")]
mod homes;
#[cfg(target_os = "linux")]
mod inherited_memory;
#[cfg(target_os = "linux")]
mod led_to;
mod limits;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod listener_handoff;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod meanwhile;
#[cfg(target_os = "linux")]
mod memory_files;
mod mount_table;
#[cfg(target_os = "linux")]
mod names;
mod names_decided;
mod plans;
#[cfg(target_os = "linux")]
mod pool;
mod properties;
#[cfg(target_os = "linux")]
mod providers;
mod races;
#[cfg(target_os = "linux")]
mod reach;
#[cfg(target_os = "linux")]
mod review;
#[cfg(target_os = "linux")]
mod review_inputs;
mod saved_meanwhile;
mod seatbelt;
#[cfg(target_os = "linux")]
mod secrets;
mod seeds;
#[cfg(target_os = "linux")]
mod shared;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod terminals;
#[cfg(target_os = "linux")]
mod tiers;
#[cfg(target_os = "linux")]
mod users;
#[cfg(target_os = "linux")]
mod walls;
#[cfg(target_os = "linux")]
mod workflows;
