//! The public face of the trail: what is written, what a change to it shows, and what is exported.

#[cfg(test)]
mod exported;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod trail;
