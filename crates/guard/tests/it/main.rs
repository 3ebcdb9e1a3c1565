//! The public face of guard: files from strangers.

#[cfg(feature = "skills")]
#[cfg(test)]
mod admit;
#[cfg(all(feature = "audit", feature = "config"))]
#[cfg(test)]
mod answers;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod broker;
#[cfg(feature = "config")]
#[cfg(test)]
mod config;
#[cfg(feature = "container")]
#[cfg(test)]
mod container;
mod disguises;
#[cfg(all(feature = "container", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod docker;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
#[cfg(test)]
mod examples;
mod folders;
#[cfg(all(feature = "audit", feature = "config"))]
#[cfg(test)]
mod guard;
#[cfg(any(feature = "redis", feature = "sqlite"))]
mod limit_stores;
#[cfg(all(feature = "exec", feature = "skills", target_os = "linux"))]
#[cfg(test)]
mod names;
mod paths;
#[cfg(feature = "config")]
#[cfg(test)]
mod properties;
mod repositories;
#[cfg(feature = "config")]
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod support;
