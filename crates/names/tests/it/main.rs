//! Integration tests: the table's examples, properties of any path, and the generated document.

mod names_md;
mod probes;
mod properties;
mod seeds;
mod table;
