#![no_main]

#[path = "../../tests/it/mcp_properties.rs"]
mod mcp_properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_properties::messages(data));
