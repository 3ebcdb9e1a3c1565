#![no_main]

#[path = "../../tests/it/decision_properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::decisions_only_get_stricter(data));
