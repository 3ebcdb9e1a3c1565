//! [`Data`] in any format of serde.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::{Data, ErrorKind, EvalError, SourceSpan};

/// The largest integer that a number represents exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Undefined | Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            // JSON has no other way to mark an integer.
            Self::Number(number) if number.fract() == 0.0 && number.abs() <= MAX_SAFE => {
                serializer.serialize_i64(*number as i64)
            }
            Self::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Number(_) => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(None)?;
                for (key, value) in fields.iter().filter(|(_, value)| *value != Self::Undefined) {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain data")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Data, E> {
        Ok(Data::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Data, E> {
        Ok(Data::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Data, E> {
        Ok(Data::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = all.next_element()? {
            items.push(item);
        }
        Ok(Data::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Data, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = all.next_entry()? {
            fields.push(field);
        }
        Ok(Data::Object(fields))
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for SourceSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.start, self.end].serialize(serializer)
    }
}

impl Serialize for EvalError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(span) = &self.span {
            map.serialize_entry("span", span)?;
        }
        if let Some(fix) = &self.fix {
            map.serialize_entry("fix", fix)?;
        }
        if let Some(thrown) = &self.thrown {
            map.serialize_entry("thrown", thrown)?;
        }
        map.end()
    }
}
