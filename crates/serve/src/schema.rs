//! The JSON Schema of every method.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::fault::CODES;
use super::listeners::PolicyChange;
use super::methods::METHODS;
#[cfg(target_os = "linux")]
use super::methods::OutputPiece;

/// Returns the schemas of all methods as one document.
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let methods: Map<String, Value> = METHODS
        .iter()
        .map(|method| {
            let parameters = (method.parameters)(&mut generator);
            let result = (method.answer)(&mut generator);
            (method.name.to_owned(), json!({"params": parameters, "result": result}))
        })
        .collect();
    let changed = <PolicyChange<'_> as schemars::JsonSchema>::json_schema(&mut generator);
    #[cfg(target_os = "linux")]
    let notifications = json!({
        "exec.output": <OutputPiece<'_> as schemars::JsonSchema>::json_schema(&mut generator),
        "policy.changed": changed,
    });
    #[cfg(not(target_os = "linux"))]
    let notifications = json!({ "policy.changed": changed });
    let errors: Map<String, Value> = CODES
        .iter()
        .map(|(code, name, means)| (code.to_string(), json!({"name": name, "means": means})))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "stockade serve",
        "version": env!("CARGO_PKG_VERSION"),
        "methods": methods,
        "notifications": notifications,
        "errors": errors,
        "$defs": generator.take_definitions(true),
    })
}
