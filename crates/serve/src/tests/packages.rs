//! The parts of the packages for Python and Node.js that are made from the types of the methods.
#![expect(clippy::disallowed_methods, reason = "writes and compares generated files")]

mod model;
mod node;
mod python;

use std::{env, fs};

use model::Model;

use crate::schema;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages");

#[test]
fn clients_beside_serve_md_are_fresh() {
    let model = Model::of(&schema());
    let files = [
        ("python/stockade/_protocol.py", python::protocol(&model)),
        ("node/lib/protocol.d.cts", node::types(&model)),
        ("node/lib/protocol.cjs", node::tables(&model)),
        ("node/lib/index.mjs", node::exports(&model)),
    ];
    for (path, wanted) in files {
        let path = format!("{ROOT}/{path}");
        if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &wanted).unwrap();
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == wanted, "{path} is not fresh: run `cargo xtask generate serve`");
    }
}

/// A name that a number was added to is that of another type as well, and says nothing to who reads it.
#[test]
fn every_type_has_a_name_of_its_own() {
    for object in &Model::of(&schema()).objects {
        assert!(!object.name.ends_with(|last: char| last.is_ascii_digit()), "{}", object.name);
    }
    for name in schema()["$defs"].as_object().unwrap().keys() {
        assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name}");
    }
}
