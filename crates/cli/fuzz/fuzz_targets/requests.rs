#![no_main]

#[path = "../../tests/cli/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::requests(data));
