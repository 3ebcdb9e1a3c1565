//! The public face of guard.

#[cfg(all(feature = "audit", feature = "config"))]
#[cfg(test)]
mod answers;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod broker;
#[cfg(feature = "config")]
#[cfg(test)]
mod config;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod examples;
#[cfg(all(feature = "audit", feature = "config"))]
#[cfg(test)]
mod guard;
#[cfg(all(feature = "audit", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod lent_secrets;
#[cfg(any(feature = "redis", feature = "sqlite"))]
mod limit_stores;
#[cfg(all(feature = "exec", feature = "skills", target_os = "linux"))]
#[cfg(test)]
mod names;
mod paths;
#[cfg(feature = "config")]
#[cfg(test)]
mod properties;
#[cfg(all(feature = "audit", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod recorded;
mod repositories;
#[cfg(feature = "config")]
#[cfg(test)]
mod seeds;
#[cfg(all(feature = "audit", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod why;
