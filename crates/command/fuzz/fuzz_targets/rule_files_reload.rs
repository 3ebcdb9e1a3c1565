#![no_main]

#[path = "../../tests/it/rule_file_properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::rule_files_reload(data));
