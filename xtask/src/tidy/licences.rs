//! Licences of everything that is compiled in. `deny.toml` lists the allowed ones, for `cargo deny` too.

use crate::checks::Verdict;
use testkit::{Json, Program};

/// Checks the licence and the origin of every package that the lock file names for this platform.
pub(super) fn check(cargo: &Program, deny: &str) -> Verdict {
    let metadata = match cargo.clone().args(["metadata", "--format-version", "1"]).read() {
        Ok(metadata) => metadata,
        Err(error) => {
            return Verdict::failed(format!(
                "Cargo.lock is not complete; run `cargo check` and commit it\n{error}"
            ));
        }
    };
    let Some(metadata) = Json::parse(&metadata) else {
        return Verdict::failed("`cargo metadata` printed no JSON");
    };
    let allowed = allowed(deny);
    let faults: Vec<String> =
        metadata.at("packages").items().iter().filter_map(|package| fault(package, &allowed)).collect();
    if faults.is_empty() { Verdict::passed() } else { Verdict::failed(faults.join("\n")) }
}

/// The list `allow = [ "…", … ]` in the table `[licenses]` of `deny.toml`.
fn allowed(deny: &str) -> Vec<&str> {
    let table = deny.split("[licenses]").nth(1).unwrap_or_default();
    let list = table.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

fn fault(package: &Json, allowed: &[&str]) -> Option<String> {
    let name = format!("{} {}", package.at("name").text(), package.at("version").text());
    let source = package.at("source").text();
    if !source.is_empty() && !source.starts_with("registry+") {
        return Some(format!("{name} comes from {source}; only released packages are allowed"));
    }
    let licence = package.at("license").text();
    if is_allowed(licence, allowed) {
        return None;
    }
    Some(format!(
        "{name} has the licence `{licence}`, which deny.toml does not allow; leave it out, or allow it there"
    ))
}

/// Whether a licence expression can be met: `OR` needs one side, `AND` needs both. Old packages write `/` for `OR`.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    either(&mut words, allowed) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut met = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    match words.next() {
        Some("(") => either(words, allowed) && words.next_if_eq(&")").is_some(),
        Some(name) => match words.next_if_eq(&"WITH").and_then(|_| words.next()) {
            Some(exception) => allowed.contains(&format!("{name} WITH {exception}").as_str()),
            None => allowed.contains(&name),
        },
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        for met in [
            "MIT",
            "MIT OR Apache-2.0",
            "GPL-3.0 OR MIT",
            "MIT/GPL-3.0",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(is_allowed(met, &allowed), "{met}");
        }
        for unmet in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT WITH Odd-exception", "MIT MIT", "OR"] {
            assert!(!is_allowed(unmet, &allowed), "{unmet}");
        }
    }

    #[test]
    fn the_list_is_read_from_deny_toml() {
        let deny = "[bans]\nallow = [\"no\"]\n[licenses]\n# why\nallow = [\n    \"MIT\", # x\n    \"Apache-2.0\",\n]\n";
        assert_eq!(allowed(deny), ["MIT", "Apache-2.0"]);
        assert!(allowed("").is_empty());
    }

    #[test]
    fn packages_from_elsewhere_are_refused() {
        let package = |source: &str| {
            let text =
                format!(r#"{{"name": "x", "version": "1.0.0", "source": {source}, "license": "MIT"}}"#);
            fault(&Json::parse(&text).unwrap(), &["MIT"])
        };
        assert_eq!(package("null"), None);
        assert_eq!(package("\"registry+https://index.example\""), None);
        assert!(package("\"git+https://x.example\"").is_some());
    }
}
