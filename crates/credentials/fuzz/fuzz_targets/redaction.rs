#![no_main]

#[path = "../../tests/it/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::redaction(data));
