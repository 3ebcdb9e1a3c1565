//! Integration tests: admission of untrusted files.

#[cfg(feature = "skills")]
#[cfg(test)]
mod admit;
#[cfg(feature = "container")]
#[cfg(test)]
mod container;
#[cfg(feature = "skills")]
#[cfg(test)]
mod coverage;
#[cfg(feature = "skills")]
#[cfg(test)]
mod disguises;
#[cfg(all(feature = "container", target_os = "linux"))]
#[cfg(test)]
mod docker;
#[cfg(feature = "skills")]
#[cfg(test)]
mod examples;
mod folders;
#[cfg(all(feature = "commands", unix))]
#[cfg(test)]
mod links;
#[cfg(feature = "lock")]
#[cfg(test)]
mod lock;
#[cfg(feature = "skills")]
#[cfg(test)]
mod packed;
#[cfg(feature = "skills")]
#[cfg(test)]
mod properties;
#[cfg(feature = "skills")]
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod support;
