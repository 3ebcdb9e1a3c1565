//! The public face of guard.

#[cfg(all(feature = "audit", feature = "config"))]
#[cfg(test)]
mod answers;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod broker;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod examples;
#[cfg(all(feature = "audit", feature = "config"))]
#[cfg(test)]
mod guard;
#[cfg(all(feature = "audit", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod lent_secrets;
#[cfg(all(feature = "exec", feature = "skills", target_os = "linux"))]
#[cfg(test)]
mod names;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod packages;
mod paths;
#[cfg(all(feature = "audit", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod recorded;
mod repositories;
#[cfg(all(feature = "audit", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod why;
