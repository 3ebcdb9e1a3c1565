//! The public face of the trail: what is written, what a change to it shows, and what is exported.

#[cfg(test)]
mod properties;
mod redacted;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod trail;
