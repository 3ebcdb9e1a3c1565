//! Which limits hold for the results of which tool.

use std::collections::BTreeMap;

/// The most bytes that any override can let in.
pub const MAX_RESPONSE_BYTES_CEILING: u64 = 5_000_000;
/// The fewest bytes that an override can ask for.
pub const MAX_RESPONSE_BYTES_FLOOR: u64 = 32_000;
/// The most characters that any override can let through.
pub const MAX_CHARS_CEILING: u64 = 500_000;
/// The fewest characters that an override can ask for.
pub const MAX_CHARS_FLOOR: u64 = 100;

/// The profile of tools from MCP servers, whose names begin with `mcp__`.
pub const MCP_DEFAULT_PROFILE: &str = "mcp_default";
/// The profile of every other tool without one of its own: the strictest in what it takes for text.
pub const FALLBACK_PROFILE: &str = "web_fetch";

const MCP_PREFIX: &str = "mcp__";

/// The tools that have a profile. Megabytes are decimal.
const PROFILES: &[(&str, SourceProfile)] = &[
    ("web_fetch", SourceProfile::of(2_000_000, 50_000, Strategy::Readability, Hidden::Strip)),
    ("web_search", SourceProfile::of(500_000, 40_000, Strategy::Structured, Hidden::Keep)),
    ("bash", SourceProfile::of(500_000, 50_000, Strategy::Tail, Hidden::Keep)),
    ("file_read", SourceProfile::of(1_000_000, 100_000, Strategy::Raw, Hidden::Keep)),
    (MCP_DEFAULT_PROFILE, SourceProfile::of(2_000_000, 50_000, Strategy::Raw, Hidden::Keep)),
];

/// The limits of a tool.
///
/// They are always between the floors and the ceilings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(description = "The limits of a tool."))]
pub struct SourceProfile {
    /// The maximum number of bytes that are read.
    max_response_bytes: u64,
    /// The maximum number of characters in the result.
    max_chars: u64,
    /// The part that is kept.
    #[cfg_attr(feature = "serde", serde(rename = "extractionStrategy"))]
    strategy: Strategy,
    /// Whether invisible parts of HTML are removed.
    #[cfg_attr(feature = "serde", serde(rename = "stripHidden"))]
    hidden: Hidden,
}

/// The part of a result that is kept if it is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ExtractionStrategy"))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Strategy {
    /// The main content of an HTML page as text; other text from its beginning.
    Readability,
    /// JSON and lists of results, cut between two elements so that what is left still parses.
    Structured,
    /// The last lines: what a command said in the end.
    Tail,
    /// The text from its beginning, as it is.
    Raw,
}

/// Treatment of the parts of an HTML page that a user does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "bool", into = "bool"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum Hidden {
    /// Hidden parts are removed: instructions hide there.
    Strip,
    /// Hidden parts are kept, like all others.
    Keep,
}

/// Overrides of the limits of a tool.
///
/// What is not set stays; what is set is brought between floor and ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "SourceOverrides", description = "Overrides of the limits of a tool.")
)]
pub struct ProfileOverride {
    /// The maximum number of bytes that are read.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "whole_number"))]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max_response_bytes: Option<u64>,
    /// The maximum number of characters in the result.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "whole_number"))]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max_chars: Option<u64>,
    /// The part that is kept.
    #[cfg_attr(feature = "serde", serde(rename = "extractionStrategy"))]
    pub strategy: Option<Strategy>,
    /// Whether invisible parts of HTML are removed.
    #[cfg_attr(feature = "serde", serde(rename = "stripHidden"))]
    pub hidden: Option<Hidden>,
}

/// The profiles of all tools, with an operator's overrides by name of the tool.
///
/// An override of `mcp_default` or `web_fetch` also holds for the tools that fall back to it.
///
/// ```
/// use stockade_output::{ProfileOverride, SourceProfiles};
///
/// let wish = ProfileOverride { max_chars: Some(u64::MAX), ..ProfileOverride::default() };
/// let profiles = SourceProfiles::new([("bash".to_owned(), wish)]);
/// assert_eq!(profiles.resolve("bash").max_chars(), 500_000, "the ceiling holds whatever is wished for");
/// assert_eq!(profiles.resolve("mcp__files__read").max_chars(), 50_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SourceProfiles {
    overrides: BTreeMap<String, ProfileOverride>,
}

impl SourceProfile {
    const fn of(max_response_bytes: u64, max_chars: u64, strategy: Strategy, hidden: Hidden) -> Self {
        Self { max_response_bytes, max_chars, strategy, hidden }
    }

    /// Returns how many bytes of a result are looked at.
    #[must_use]
    pub const fn max_response_bytes(&self) -> usize {
        self.max_response_bytes as usize
    }

    /// Returns how many characters of a result are kept.
    #[must_use]
    pub const fn max_chars(&self) -> usize {
        self.max_chars as usize
    }

    /// Returns which characters are kept.
    #[must_use]
    pub const fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Returns what happens to hidden parts.
    #[must_use]
    pub const fn hidden(&self) -> Hidden {
        self.hidden
    }

    /// Returns the profile with an operator's wishes, as far as floors and ceilings allow.
    #[must_use]
    pub fn with(self, wish: &ProfileOverride) -> Self {
        let bytes = wish.max_response_bytes.unwrap_or(self.max_response_bytes);
        let chars = wish.max_chars.unwrap_or(self.max_chars);
        Self {
            max_response_bytes: bytes.clamp(MAX_RESPONSE_BYTES_FLOOR, MAX_RESPONSE_BYTES_CEILING),
            max_chars: chars.clamp(MAX_CHARS_FLOOR, MAX_CHARS_CEILING),
            strategy: wish.strategy.unwrap_or(self.strategy),
            hidden: wish.hidden.unwrap_or(self.hidden),
        }
    }
}

impl SourceProfiles {
    /// Returns the profiles with overrides.
    #[must_use]
    pub fn new(overrides: impl IntoIterator<Item = (String, ProfileOverride)>) -> Self {
        Self { overrides: overrides.into_iter().collect() }
    }

    /// Returns the profile of a tool: its own, else that of MCP tools, else the fallback.
    #[must_use]
    pub fn resolve(&self, tool: &str) -> SourceProfile {
        let (name, profile) = base(tool);
        let none = ProfileOverride::default();
        let of = |name| self.overrides.get(name).unwrap_or(&none);
        let profile = profile.with(of(name));
        if name == tool { profile } else { profile.with(of(tool)) }
    }

    /// Returns the profiles of the five built-in names and of every tool with an override.
    #[must_use]
    pub fn all(&self) -> BTreeMap<String, SourceProfile> {
        let built_in = PROFILES.iter().map(|(name, _)| *name);
        let names = built_in.chain(self.overrides.keys().map(String::as_str));
        names.map(|name| (name.to_owned(), self.resolve(name))).collect()
    }
}

/// Returns the profile of one tool with one override.
#[must_use]
pub fn resolve_source(tool: &str, wish: &ProfileOverride) -> SourceProfile {
    base(tool).1.with(wish)
}

/// Finds the row that a tool's profile starts from. Names and prefix are compared exactly.
fn base(tool: &str) -> (&'static str, SourceProfile) {
    let row = |name: &str| PROFILES.iter().find(|(row, _)| *row == name).copied();
    let fallback = if tool.starts_with(MCP_PREFIX) { MCP_DEFAULT_PROFILE } else { FALLBACK_PROFILE };
    let strictest =
        SourceProfile::of(MAX_RESPONSE_BYTES_FLOOR, MAX_CHARS_FLOOR, Strategy::Readability, Hidden::Strip);
    row(tool).or_else(|| row(fallback)).unwrap_or((FALLBACK_PROFILE, strictest))
}

impl From<bool> for Hidden {
    fn from(strip: bool) -> Self {
        if strip { Self::Strip } else { Self::Keep }
    }
}

impl From<Hidden> for bool {
    fn from(hidden: Hidden) -> Self {
        hidden == Hidden::Strip
    }
}

/// Reads a number that people write in many ways: a negative one asks for the least, a fraction is cut off. What is not
/// a number is refused, since nothing is larger than it.
#[cfg(feature = "serde")]
fn whole_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    use serde::{Deserialize, de::Error};
    let Some(number) = Option::<f64>::deserialize(deserializer)? else { return Ok(None) };
    if number.is_nan() {
        return Err(D::Error::custom("not a number"));
    }
    // The conversion stops at the ends of the range.
    Ok(Some(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_within_floors_and_ceilings() {
        for (name, profile) in PROFILES {
            assert_eq!(profile.with(&ProfileOverride::default()), *profile, "{name}");
        }
        let names: Vec<_> = PROFILES.iter().map(|(name, _)| *name).collect();
        assert!(names.contains(&MCP_DEFAULT_PROFILE) && names.contains(&FALLBACK_PROFILE));
    }

    #[test]
    fn an_override_of_a_fallback_holds_for_those_who_fall_back() {
        let chars = |n| ProfileOverride { max_chars: Some(n), ..ProfileOverride::default() };
        let profiles = SourceProfiles::new([
            (MCP_DEFAULT_PROFILE.to_owned(), chars(7_000)),
            ("mcp__a".to_owned(), chars(9_000)),
        ]);
        let resolved = ["mcp__a", "mcp__b", "mcp_default", "other"].map(|t| profiles.resolve(t).max_chars());
        assert_eq!(resolved, [9_000, 7_000, 7_000, 50_000]);
        assert_eq!(profiles.all().len(), 6);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn numbers_from_files_are_brought_into_range_or_refused() {
        for (json, chars) in [
            (r#"{"maxChars": -1}"#, Ok(100)),
            (r#"{"maxChars": 50000.5}"#, Ok(50_000)),
            (r#"{"maxChars": 1e300}"#, Ok(500_000)),
            (r#"{"maxChars": null}"#, Ok(50_000)),
            (r#"{"maxChars": "NaN"}"#, Err(())),
            (r#"{"maxChar": 5}"#, Err(())),
        ] {
            let wish = serde_json::from_str::<ProfileOverride>(json).map_err(drop);
            assert_eq!(wish.map(|wish| resolve_source("bash", &wish).max_chars()), chars, "{json}");
        }
    }
}
