//! How a table of settings is declared, and how its keys derive from it.

use std::collections::BTreeMap;

use crate::keys::ConfigKey;
use crate::kind::Kind;
use crate::narrow::Narrows;

/// A table whose settings have keys.
pub(crate) trait Rows {
    /// The keys of its settings, and of the tables in it, in the order of the documentation.
    const ROWS: &'static [ConfigKey];
}

/// Tables by the name of an agent, a tool or a rule.
impl<T: Rows> Rows for BTreeMap<String, T> {
    const ROWS: &'static [ConfigKey] = T::ROWS;
}

/// A table that no layer needs to set.
impl<T: Rows> Rows for Option<T> {
    const ROWS: &'static [ConfigKey] = T::ROWS;
}

/// Declares tables of settings: a struct that is deserialized, and a [`ConfigKey`] of each of its fields.
///
/// ```text
/// /// Documentation of the key, in Markdown.
/// "key" field: Type = DEFAULT, KIND, NARROWS;
/// "key" field: Table;
/// ```
///
/// The default is JSON, `KIND` a variant of [`Kind`], and `NARROWS` a variant of [`Narrows`]. A field without a default is a table.
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])*
        struct $name:ident at $table:literal {$(
            $(#[doc = $doc:literal])*
            $(#[expect(dead_code, reason = $reason:literal)])?
            $key:literal $field:ident: $type:ty
                $(= $default:tt, $kind:ident $(($words:expr))? $({ $($bounds:tt)* })?, $narrows:ident)?;
        )*}
    )*) => {$(
        $(#[doc = $about])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {$(
            $(#[doc = $doc])*
            $(#[expect(dead_code, reason = $reason)])?
            #[serde(rename = $key)]
            pub(super) $field: $type,
        )*}

        impl $crate::settings::declare::Rows for $name {
            const ROWS: &'static [$crate::keys::ConfigKey] = {
                use $crate::settings::declare::{count, joined, rows};
                const PARTS: &[&[$crate::keys::ConfigKey]] = &[$(
                    rows!($type, $table, $key, [$($doc),*]
                        $(, $default, $kind $(($words))? $({ $($bounds)* })?, $narrows)?)
                ),*];
                &joined::<{ count(PARTS) }>(PARTS)
            };
        }
    )*};
}

/// The keys that a field adds.
macro_rules! rows {
    ($type:ty, $table:literal, $key:literal, [$($doc:literal),*]) => {
        <$type as $crate::settings::declare::Rows>::ROWS
    };
    (
        $type:ty, $table:literal, $key:literal, [$($doc:literal),+],
        $default:tt, $kind:ident $(($words:expr))? $({ $($bounds:tt)* })?, $narrows:ident
    ) => {
        &[$crate::keys::ConfigKey {
            path: concat!($table, ".", $key),
            kind: $crate::kind::Kind::$kind $(($words))? $({ $($bounds)* })?,
            default: $crate::settings::declare::json_text!($default),
            narrows: $crate::narrow::Narrows::$narrows,
            // Each line of a doc comment starts with a space.
            doc: concat!($($doc),+).trim_ascii(),
        }]
    };
}

/// A default as text. `stringify` would break the lines of long lists.
macro_rules! json_text {
    ([$first:literal $(, $rest:literal)*]) => {
        concat!("[", stringify!($first), $(", ", stringify!($rest),)* "]")
    };
    ($value:tt) => {
        stringify!($value)
    };
}

pub(super) use {json_text, rows, settings};

/// Returns the number of keys.
pub(super) const fn count(mut parts: &[&[ConfigKey]]) -> usize {
    let mut count = 0;
    while let [part, rest @ ..] = parts {
        (count, parts) = (count + part.len(), rest);
    }
    count
}

/// Joins lists of keys. `N` is their [`count`].
pub(super) const fn joined<const N: usize>(mut parts: &[&[ConfigKey]]) -> [ConfigKey; N] {
    const NONE: ConfigKey =
        ConfigKey { path: "", kind: Kind::Flag, default: "", narrows: Narrows::Never, doc: "" };
    let mut all = [NONE; N];
    let mut free = all.as_mut_slice();
    while let [part, rest @ ..] = parts {
        let (here, after) = free.split_at_mut(part.len());
        here.copy_from_slice(part);
        (free, parts) = (after, rest);
    }
    all
}
