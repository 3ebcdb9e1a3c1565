//! What the schema says, in the few forms that languages with types need.

use serde_json::{Map, Value};

/// All methods, and the types that they are made of.
pub(super) struct Model {
    pub(super) version: String,
    pub(super) methods: Vec<Method>,
    pub(super) objects: Vec<Object>,
    pub(super) aliases: Vec<Alias>,
    /// Codes of errors with their names and meanings.
    pub(super) errors: Vec<(i64, String, String)>,
}

pub(super) struct Method {
    /// As on the wire: `command.evaluate`.
    pub(super) name: String,
    pub(super) about: String,
    pub(super) params: Vec<Field>,
    pub(super) result: String,
}

pub(super) struct Object {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) fields: Vec<Field>,
}

/// A name for something that is no object.
pub(super) struct Alias {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) kind: Kind,
}

pub(super) struct Field {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Literal(Value),
    Named(String),
    List(Box<Self>),
    Map(Box<Self>),
    Union(Vec<Self>),
}

impl Model {
    pub(super) fn of(schema: &Value) -> Self {
        let version = schema["version"].as_str().unwrap().to_owned();
        let mut model = Self {
            version,
            methods: Vec::new(),
            objects: Vec::new(),
            aliases: Vec::new(),
            errors: errors(schema),
        };
        for (name, part) in entries(&schema["$defs"]) {
            model.define(name, part);
        }
        for (name, method) in entries(&schema["methods"]) {
            let (base, params) = (capitalised(name), &method["params"]);
            model.define(&format!("{base}Result"), &method["result"]);
            let params = model.fields(params, &base);
            let about = text(&method["params"]);
            model.methods.push(Method { name: name.clone(), about, params, result: format!("{base}Result") });
        }
        for (name, parameters) in entries(&schema["notifications"]) {
            model.define(&format!("{}Notification", capitalised(name)), parameters);
        }
        model
    }

    fn define(&mut self, name: &str, schema: &Value) {
        let (name, about) = (name.to_owned(), text(schema));
        if schema["properties"].is_object() {
            let fields = self.fields(schema, &name);
            self.objects.push(Object { name, about, fields });
        } else {
            let base = name.strip_suffix("Result").unwrap_or(&name).to_owned();
            let kind = self.kind(schema, &base);
            self.aliases.push(Alias { name, about, kind });
        }
    }

    fn fields(&mut self, schema: &Value, base: &str) -> Vec<Field> {
        let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
        let field = |(name, field): (&String, &Value)| Field {
            name: name.clone(),
            about: text(field),
            is_required: required.contains(&&Value::from(name.as_str())),
            kind: self.kind(field, &format!("{base}{}", capitalised(name))),
        };
        entries(&schema["properties"]).map(field).collect()
    }

    /// Returns what a schema allows. An object without a name gets one that begins with `base`.
    fn kind(&mut self, schema: &Value, base: &str) -> Kind {
        if let Some(reference) = schema["$ref"].as_str() {
            return Kind::Named(reference.trim_start_matches("#/$defs/").to_owned());
        }
        if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            return union(choices.iter().map(|choice| self.kind(choice, base)));
        }
        if !schema["const"].is_null() {
            return Kind::Literal(schema["const"].clone());
        }
        if let Some(values) = schema["enum"].as_array() {
            return union(values.iter().cloned().map(Kind::Literal));
        }
        match &schema["type"] {
            Value::Array(types) => union(types.iter().map(|one| self.typed(one, schema, base))),
            one => self.typed(one, schema, base),
        }
    }

    fn typed(&mut self, name: &Value, schema: &Value, base: &str) -> Kind {
        match name.as_str() {
            None => Kind::Any,
            Some("null") => Kind::Null,
            Some("boolean") => Kind::Boolean,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("string") => Kind::Text,
            Some("array") => Kind::List(Box::new(self.kind(&schema["items"], base))),
            Some("object") => match schema["properties"].as_object() {
                Some(properties) => {
                    let name = format!(
                        "{base}{}",
                        properties.keys().map(|key| capitalised(key)).collect::<String>()
                    );
                    self.define(&name, schema);
                    Kind::Named(name)
                }
                None => Kind::Map(Box::new(self.kind(&schema["additionalProperties"], base))),
            },
            Some(other) => panic!("a type that no client knows: {other}"),
        }
    }
}

fn union(kinds: impl Iterator<Item = Kind>) -> Kind {
    let mut all = Vec::new();
    for kind in kinds {
        let parts = if let Kind::Union(parts) = kind { parts } else { vec![kind] };
        all.extend(parts);
    }
    if all.len() == 1 { all.remove(0) } else { Kind::Union(all) }
}

fn errors(schema: &Value) -> Vec<(i64, String, String)> {
    let row = |(code, error): (&String, &Value)| {
        let named = |what: &str| error[what].as_str().unwrap().to_owned();
        (code.parse().unwrap(), named("name"), named("means"))
    };
    entries(&schema["errors"]).map(row).collect()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn text(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `command.evaluate` becomes `CommandEvaluate`.
pub(super) fn capitalised(name: &str) -> String {
    name.split('.')
        .map(|part| {
            part.chars().take(1).flat_map(char::to_uppercase).chain(part.chars().skip(1)).collect::<String>()
        })
        .collect()
}
