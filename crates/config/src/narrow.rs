//! How a project's file may change the effective value of a key: only so that less is allowed.
//!
//! The author of a repository is not trusted with the rules that guard against it. So a project's value never replaces the
//! effective value: it is combined with it, and the result is never wider.

use std::path::Path;

use serde_json::Value as Json;
use stockade_policy::Profile as ToolProfile;

use crate::kind::Kind;

/// How a project's value is combined with the effective one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Narrows {
    /// The lower number. Null is the highest.
    Lower,
    /// The higher of the two numbers.
    Higher,
    /// Entries in both lists.
    Intersect,
    /// Entries in both lists, and every entry with `!` of either list.
    IntersectHosts,
    /// Paths inside of paths of the other list.
    IntersectPaths,
    /// Entries in either list.
    Union,
    /// The word that is listed later.
    Stricter,
    /// True, if either is true.
    OnlyTrue,
    /// The profile, if it has no tool that the other lacks.
    Profile,
    /// Additional rules that can only be stricter.
    Tighten,
    /// The project's value is ignored.
    Never,
}

impl Narrows {
    /// Returns the effective value after a project sets `wish` over `base`.
    pub(crate) fn combine(self, kind: Kind, base: &Json, wish: &Json) -> Json {
        let narrower = match self {
            Self::Lower => amount(wish) < amount(base),
            Self::Higher => amount(wish) > amount(base),
            Self::Stricter => strictness(kind, wish) > strictness(kind, base),
            Self::OnlyTrue => *wish == Json::Bool(true),
            Self::Profile => has_no_more(base, wish),
            // Rules are never combined: a project's rules are evaluated beside all others, and the strictest decision applies.
            Self::Never | Self::Tighten => false,
            Self::Intersect => {
                return list(wish).filter(|one| list(base).any(|other| other == *one)).cloned().collect();
            }
            Self::IntersectHosts => {
                let keeps_out = |one: &&Json| one.as_str().is_some_and(|one| one.starts_with('!'));
                let more = list(wish).filter(|one| !list(base).any(|other| other == *one));
                let both = list(base).filter(|one| keeps_out(one) || list(wish).any(|other| other == *one));
                return both.chain(more.filter(keeps_out)).cloned().collect();
            }
            Self::IntersectPaths => {
                return list(wish)
                    .filter(|one| list(base).any(|other| is_below(one, other)))
                    .cloned()
                    .collect();
            }
            Self::Union => {
                let more = list(wish).filter(|one| !list(base).any(|other| other == *one));
                return list(base).chain(more).cloned().collect();
            }
        };
        if narrower { wish.clone() } else { base.clone() }
    }

    /// Describes it for users.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Lower => "may lower it",
            Self::Higher => "may raise it",
            Self::Intersect => "may remove entries",
            Self::IntersectHosts => "may remove entries, and add entries with `!`",
            Self::IntersectPaths => "may remove paths, or replace them by paths inside of them",
            Self::Union => "may add entries",
            Self::Stricter => "may choose a stricter word, which is listed later",
            Self::OnlyTrue => "may set it to true",
            Self::Profile => "may choose a profile without additional tools",
            Self::Tighten => "may add rules, which can only be stricter",
            Self::Never => "has no influence",
        }
    }
}

fn amount(value: &Json) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

fn strictness(kind: Kind, value: &Json) -> usize {
    let (Kind::Word(words) | Kind::OptionalWord(words)) = kind else { return 0 };
    words.iter().position(|word| value.as_str() == Some(word)).unwrap_or(0)
}

fn has_no_more(base: &Json, wish: &Json) -> bool {
    use stockade_policy::tools::ToolSet;
    let tools = |value: &Json| Some(ToolProfile::from_name(value.as_str()?)?.tools());
    match (tools(base), tools(wish)) {
        (Some(ToolSet::All), Some(_)) => true,
        (Some(base), Some(ToolSet::Only(names))) => names.iter().all(|name| base.contains(name)),
        _ => false,
    }
}

fn list(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn is_below(path: &Json, folder: &Json) -> bool {
    matches!((path.as_str(), folder.as_str()), (Some(path), Some(folder)) if Path::new(path).starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KEYS;
    use serde_json::json;

    #[test]
    fn combinations() {
        const WORDS: Kind = Kind::Word(&["open", "ask", "none"]);
        let rows = [
            (Narrows::Lower, json!(5), json!(9), json!(5)),
            (Narrows::Lower, json!(5), json!(3), json!(3)),
            (Narrows::Lower, json!(null), json!(3), json!(3)),
            (Narrows::Lower, json!(3), json!(null), json!(3)),
            (Narrows::Higher, json!(5), json!(9), json!(9)),
            (Narrows::Stricter, json!("ask"), json!("open"), json!("ask")),
            (Narrows::Stricter, json!("ask"), json!("none"), json!("none")),
            (Narrows::OnlyTrue, json!(true), json!(false), json!(true)),
            (Narrows::OnlyTrue, json!(false), json!(true), json!(true)),
            (Narrows::Intersect, json!(["a", "b"]), json!(["b", "c"]), json!(["b"])),
            (Narrows::Intersect, json!([]), json!(["c"]), json!([])),
            (Narrows::IntersectHosts, json!(["a", "!x"]), json!(["a", "b", "!y"]), json!(["a", "!x", "!y"])),
            (Narrows::IntersectHosts, json!(["a", "!x"]), json!(["a"]), json!(["a", "!x"])),
            (Narrows::Union, json!(["a"]), json!(["b", "a"]), json!(["a", "b"])),
            (Narrows::Union, json!(["a"]), json!([]), json!(["a"])),
            (
                Narrows::IntersectPaths,
                json!(["/opt"]),
                json!(["/opt/x", "/optional", "/"]),
                json!(["/opt/x"]),
            ),
            (Narrows::Profile, json!("coding"), json!("minimal"), json!("minimal")),
            (Narrows::Profile, json!("coding"), json!("full"), json!("coding")),
            (Narrows::Profile, json!("minimal"), json!("coding"), json!("minimal")),
            (Narrows::Profile, json!("full"), json!("messaging"), json!("messaging")),
            (Narrows::Never, json!("a"), json!("b"), json!("a")),
        ];
        for (narrows, base, wish, wanted) in rows {
            assert_eq!(narrows.combine(WORDS, &base, &wish), wanted, "{narrows:?} {base} {wish}");
        }
    }

    /// Setting a value twice has no further effect, and a wider value cannot undo a narrower one.
    #[test]
    fn combining_only_ever_narrows() {
        for key in KEYS {
            let base: Json = serde_json::from_str(key.default).unwrap();
            let wishes = match key.kind {
                Kind::Flag => vec![json!(true), json!(false)],
                Kind::Word(words) | Kind::OptionalWord(words) => {
                    words.iter().map(|word| json!(word)).collect()
                }
                Kind::Texts | Kind::Paths => vec![json!([]), json!(["/x"]), json!(["/x", "/y"])],
                _ => vec![json!(1), json!(1_000_000), json!(null)],
            };
            for wish in &wishes {
                let once = key.narrows.combine(key.kind, &base, wish);
                assert_eq!(key.narrows.combine(key.kind, &once, wish), once, "{} {wish}", key.path);
                for second in &wishes {
                    let twice = key.narrows.combine(key.kind, &once, second);
                    let back = key.narrows.combine(key.kind, &twice, &once);
                    assert_eq!(back, twice, "{}: {second} widened {once}", key.path);
                }
            }
        }
    }
}
