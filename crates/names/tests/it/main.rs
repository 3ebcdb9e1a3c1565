//! The table from outside: its examples, what holds of any path, and the document made from it.

mod names_md;
mod probes;
mod properties;
mod seeds;
mod table;
