//! JSON objects of a body, as far as they decide which operations it asks for.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::operation::{MAX_OPERATIONS, Unread};

/// A request of GraphQL, or a message of JSON-RPC.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) query: Option<String>,
    /// Whether it names a stored query.
    pub(super) is_stored: bool,
    pub(super) method: Option<String>,
    /// Its identifier as JSON, if it is a string or a number.
    pub(super) id: Option<String>,
    /// `name` and `uri` of its parameters.
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    /// Whether it has a result or an error.
    pub(super) is_answer: bool,
    /// Whether it has members of each protocol.
    pub(super) is_graphql: bool,
    pub(super) is_rpc: bool,
    /// The members that occurred.
    seen: u16,
    wrong: Option<Unread>,
}

/// Why there are no messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoMessages {
    Json,
    TooMany,
}

/// The members of both protocols.
const MEMBERS: [&str; 10] = [
    "query",
    "operationName",
    "variables",
    "extensions",
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
];

/// Number of members that only GraphQL has.
const OF_GRAPHQL: usize = 4;

impl Message {
    /// Returns the reason why it could be read in another way.
    pub(super) fn is_plain(&self) -> Result<(), Unread> {
        self.wrong.map_or(Ok(()), Err)
    }

    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let place = MEMBERS.iter().position(|member| *member == name);
        let Some(place) = place else {
            let is_spelled = MEMBERS.iter().any(|member| is_spelling(name, member));
            self.wrong = Some(if is_spelled { Unread::Twice } else { Unread::Unknown });
            return map.next_value::<IgnoredAny>().map(drop);
        };
        let bit = 1 << place;
        if self.seen & bit != 0 {
            self.wrong = Some(Unread::Twice);
        }
        self.seen |= bit;
        self.is_graphql |= place < OF_GRAPHQL;
        self.is_rpc |= place >= OF_GRAPHQL;
        match name {
            "query" => self.query = map.next_value::<Text>()?.0,
            "id" => self.id = map.next_value::<Id>()?.0,
            "method" => self.method = map.next_value::<Text>()?.0,
            "extensions" => {
                let Members { found: [stored], is_twice } =
                    map.next_value_seed(Wanted(["persistedQuery"]))?;
                self.is_stored |= stored.is_some() || is_twice;
            }
            "params" => {
                let Members { found: [name, uri], is_twice } =
                    map.next_value_seed(Wanted(["name", "uri"]))?;
                (self.name, self.uri) = (name.and_then(|text| text.0), uri.and_then(|text| text.0));
                if is_twice {
                    self.wrong = Some(Unread::Twice);
                }
            }
            _ => {
                self.is_answer |= ["result", "error"].contains(&name);
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Whether some servers take a name for another one. Go folds case with all of Unicode.
fn is_spelling(name: &str, wanted: &str) -> bool {
    let folded = |text: &str| text.to_uppercase().to_lowercase();
    folded(name) == folded(wanted)
}

/// Reads an object, or an array of objects.
pub(super) fn read(text: &str) -> Result<Vec<Message>, NoMessages> {
    let all: Messages = serde_json::from_str(text).map_err(|_| NoMessages::Json)?;
    match all.0 {
        None => Err(NoMessages::TooMany),
        Some(messages) if messages.is_empty() => Err(NoMessages::Json),
        Some(messages) => Ok(messages),
    }
}

/// Messages; nothing if there are too many.
struct Messages(Option<Vec<Message>>);

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AllMessages)
    }
}

struct AllMessages;

impl<'de> Visitor<'de> for AllMessages {
    type Value = Messages;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Messages, A::Error> {
        Ok(Messages(Some(vec![OneMessage.visit_map(map)?])))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Messages, A::Error> {
        let mut messages = Vec::new();
        while let Some(message) = list.next_element::<Message>()? {
            if messages.len() == MAX_OPERATIONS {
                // The rest is read, because it could end the array in an invalid way.
                while list.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Messages(None));
            }
            messages.push(message);
        }
        Ok(Messages(Some(messages)))
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OneMessage)
    }
}

struct OneMessage;

impl<'de> Visitor<'de> for OneMessage {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut message = Message::default();
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            message.member(&name, &mut map)?;
        }
        Ok(message)
    }
}

/// A string; nothing for another value.
#[derive(Debug, Default)]
struct Text(Option<String>);

/// The identifier of a call, as JSON; nothing for another value.
#[derive(Debug, Default)]
struct Id(Option<String>);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdOrOther)
    }
}

struct IdOrOther;

impl<'de> Visitor<'de> for IdOrOther {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Id, E> {
        Ok(Id(Some(serde_json::Value::from(text).to_string())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Id, E> {
        Ok(Id(Some(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Id, E> {
        Ok(Id(Some(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Id, E> {
        Ok(Id(Some(serde_json::Value::from(number).to_string())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Id, E> {
        Ok(Id(None))
    }

    fn visit_unit<E>(self) -> Result<Id, E> {
        Ok(Id(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Id, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Id(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Id, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Id(None))
    }
}

/// Members of an object that are wanted; the rest of it is skipped, and so is another value.
#[derive(Clone, Copy)]
struct Wanted<const N: usize>([&'static str; N]);

/// The members that were found.
struct Members<const N: usize> {
    found: [Option<Text>; N],
    /// Whether one occurs twice, or in another spelling.
    is_twice: bool,
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrOther)
    }
}

struct TextOrOther;

/// The values of JSON in which nothing is wanted.
macro_rules! skips {
    ($value:ty, $nothing:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<$value, E> {
            Ok($nothing)
        }

        fn visit_i64<E>(self, _: i64) -> Result<$value, E> {
            Ok($nothing)
        }

        fn visit_u64<E>(self, _: u64) -> Result<$value, E> {
            Ok($nothing)
        }

        fn visit_f64<E>(self, _: f64) -> Result<$value, E> {
            Ok($nothing)
        }

        fn visit_unit<E>(self) -> Result<$value, E> {
            Ok($nothing)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<$value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
    };
}

impl<'de> Visitor<'de> for TextOrOther {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(Some(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    skips!(Text, Text(None));
}

impl<const N: usize> Members<N> {
    const fn none() -> Self {
        Self { found: [const { None }; N], is_twice: false }
    }
}

impl<'de, const N: usize> serde::de::DeserializeSeed<'de> for Wanted<N> {
    type Value = Members<N>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Members<N>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Wanted<N> {
    type Value = Members<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, _: &str) -> Result<Members<N>, E> {
        Ok(Members::none())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<N>, A::Error> {
        let mut members = Members::none();
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let place = self.0.iter().position(|wanted| *wanted == name);
            let Some(found) = place.and_then(|place| members.found.get_mut(place)) else {
                members.is_twice |= self.0.iter().any(|wanted| is_spelling(&name, wanted));
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let is_first = found.is_none();
            *found = Some(map.next_value()?);
            members.is_twice |= !is_first;
        }
        Ok(members)
    }

    skips!(Members<N>, Members::none());
}
