//! The public face of guard: files from strangers.

#[cfg(feature = "skill")]
#[cfg(test)]
mod admit;
#[cfg(feature = "audit")]
#[cfg(test)]
mod audit;
#[cfg(feature = "config")]
#[cfg(test)]
mod config;
mod disguises;
mod folders;
#[cfg(any(feature = "redis", feature = "sqlite"))]
mod limit_stores;
mod paths;
#[cfg(test)]
mod support;
