#![no_main]

#[path = "../../tests/it/properties.rs"]
#[expect(dead_code, reason = "each target checks one of the properties")]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::edits(data));
