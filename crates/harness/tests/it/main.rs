//! The public interface, as a hook uses it.

#[cfg(all(test, target_os = "linux"))]
mod calls;
