//! Globs in all dialects of harnesses: what a glob could match in any of them.

/// Characters that make a text a glob in some dialect.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '(', ')', '!', '\\'];

/// Maximum number of alternatives.
const MAX_ALTERNATIVES: usize = 64;

/// Whether a text is a glob, and not a plain path.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(SPECIAL)
}

/// A glob: the plain directory in which it starts, and the pattern of the paths below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wildcards<'g> {
    pub(super) head: &'g str,
    /// One pattern for each alternative.
    rest: Vec<Vec<Part>>,
}

/// A part of a pattern. Where dialects differ, it matches more than any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// This character, ignoring case.
    Is(char),
    /// A `?` or brackets: any one character.
    One,
    /// Stars, and everything ambiguous: a text of any length.
    Any,
}

impl<'g> Wildcards<'g> {
    /// Parses a glob. It is an error if the glob could match outside of the directory in which it starts.
    pub(super) fn read(glob: &'g str) -> Result<Self, String> {
        // An exclusion matches everything else.
        if glob.starts_with('!') {
            return Ok(Self { head: "", rest: vec![vec![Part::Any]] });
        }
        let special = glob.find(SPECIAL).unwrap_or(glob.len());
        let plain = glob.get(..special).unwrap_or_default();
        let (head, rest) = glob.split_at(plain.rfind('/').map_or(0, |slash| slash + 1));
        if leads_out(head, rest) {
            return Err(format!("`{glob}` could match outside of the directory in which it starts"));
        }
        Ok(Self { head, rest: expanded(rest).iter().map(|one| below(one)).collect() })
    }

    /// Whether it could match a path below its directory, or a parent of that path.
    pub(super) fn could_match(&self, path: &str) -> bool {
        let lower: Vec<char> = path.chars().flat_map(char::to_lowercase).collect();
        let starts = places(&lower, 1);
        let ends = || places(&lower, 0).chain([lower.len()]);
        [0].into_iter().chain(starts).any(|start| {
            ends().filter(|end| *end > start).any(|end| {
                lower.get(start..end).is_some_and(|name| self.rest.iter().any(|rest| matches(rest, name)))
            })
        })
    }

    /// Whether it could match something below a path in its directory.
    pub(super) fn could_pass(&self, path: &str) -> bool {
        let mut heads = self.rest.iter().flat_map(|rest| {
            let slashes = rest.iter().enumerate().filter(|(_, part)| **part == Part::Is('/'));
            slashes.map(|(at, _)| Self { head: "", rest: vec![rest.iter().take(at).copied().collect()] })
        });
        heads.any(|head| head.could_match(path))
    }
}

/// Whether the pattern could start at the root or go up, once alternatives are expanded.
fn leads_out(head: &str, rest: &str) -> bool {
    let rest = rest.replace('\\', "");
    let is_outside = |part: &str| part == ".." || part.starts_with('~');
    let begins_anew = ["{/", ",/", "(/", "|/"].iter().any(|start| rest.contains(start))
        || head.is_empty() && rest.starts_with('/');
    let goes_up = rest.split(['/', '{', ',', '}', '(', '|', ')']).any(is_outside);
    // Only dots, or empty: with its neighbors, that could become `..` or a leading slash.
    let is_bare = rest.split('{').skip(1).any(|braces| match braces.split_once('}') {
        Some((inside, _)) => inside.split(',').any(|one| one.chars().all(|c| c == '.')),
        // Nested braces could contain any alternative.
        None => true,
    });
    let is_open = rest.starts_with('{') || rest.matches('.').count() > 1;
    begins_anew || goes_up || is_bare && is_open
}

/// Expands the alternatives of a glob, as long as all dialects agree about its braces, and up to the maximum.
fn expanded(glob: &str) -> Vec<String> {
    let (mut all, mut left) = (vec![String::new()], glob);
    if !glob.contains(['[', '\\', '(']) {
        while let Some((before, inside, behind)) = braces(left) {
            let next =
                all.iter().flat_map(|one| inside.split(',').map(move |part| format!("{one}{before}{part}")));
            let next: Vec<String> = next.take(MAX_ALTERNATIVES + 1).collect();
            if next.len() > MAX_ALTERNATIVES {
                break;
            }
            (all, left) = (next, behind);
        }
    }
    all.iter().map(|one| format!("{one}{left}")).collect()
}

/// Returns the first braces with alternatives and without nested ones, and the texts around them.
fn braces(glob: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = glob.split_once('{')?;
    let (inside, behind) = rest.split_once('}')?;
    (inside.contains(',') && !inside.contains('{')).then_some((before, inside, behind))
}

/// Returns the positions of slashes, or those after them.
fn places(path: &[char], behind: usize) -> impl Iterator<Item = usize> {
    path.iter().enumerate().filter(|(_, c)| **c == '/').map(move |(at, _)| at + behind)
}

/// Parses the pattern. For a directory, it includes its content.
fn below(glob: &str) -> Vec<Part> {
    match glob.trim_end_matches('/') {
        "" => vec![Part::Any],
        glob => parts(glob),
    }
}

fn parts(glob: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '{' => skip(&mut chars, '}', &mut parts),
            '[' => {
                // A closing bracket at the start of brackets is one of their characters.
                let negated = chars.next_if(|c| *c == '!' || *c == '^').is_some();
                let first = chars.next();
                let is_closed = first.is_some() && chars.by_ref().any(|c| c == ']');
                // Dialects disagree about a slash in brackets, or whether these are brackets at all.
                parts.push(if is_closed && !negated && first != Some(']') { Part::One } else { Part::Any });
            }
            '*' => parts.push(Part::Any),
            '?' | '+' | '@' | '!' if next == Some('(') => {}
            '(' => skip(&mut chars, ')', &mut parts),
            '?' => parts.push(Part::One),
            '\\' => parts.extend(chars.next().into_iter().flat_map(char::to_lowercase).map(Part::Is)),
            c => parts.extend(c.to_lowercase().map(Part::Is)),
        }
    }
    parts.dedup_by(|one, other| *one == Part::Any && *other == Part::Any);
    parts
}

/// Treats alternatives as any text, up to the closing brace. If that is ambiguous, to the end.
fn skip(chars: &mut impl Iterator<Item = char>, close: char, parts: &mut Vec<Part>) {
    while let Some(c) = chars.next() {
        match c {
            _ if c == close => break,
            '{' | '(' | '[' | '\\' => chars.by_ref().for_each(drop),
            _ => {}
        }
    }
    parts.push(Part::Any);
}

/// Matches a text against parts. On a mismatch, the last part that matches any text takes one more character.
fn matches(parts: &[Part], text: &[char]) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut again = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                again = Some((part + 1, at));
                part += 1;
            }
            Some(Part::One) => (part, at) = (part + 1, at + 1),
            Some(Part::Is(c)) if text.get(at) == Some(c) => (part, at) = (part + 1, at + 1),
            _ => match again {
                Some((behind, from)) => {
                    (part, at) = (behind, from + 1);
                    again = Some((behind, from + 1));
                }
                None => return false,
            },
        }
    }
    parts.iter().skip(part).all(|part| *part == Part::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_what_any_harness_could_match_by_it() {
        for (glob, path, wanted) in [
            ("*.rs", "src/a.rs", true),
            ("*.rs", ".env", false),
            ("**/*.rs", ".env", false),
            ("**/*.ts", "a/.env.ts", true),
            (".en[v]", ".env", true),
            (".en[v]", "a/b/.env", true),
            (".EN?", ".env", true),
            (".{env,git}", ".env", true),
            ("{.env,x}", "a/.env", true),
            ("@(.env|x)", ".env", true),
            ("+(.)env", ".env", true),
            (".e[!a]v", ".env", true),
            (".e[]n]v", ".env", true),
            (".e[n", ".env", true),
            ("\\.env", ".env", true),
            (".e\\nv", ".env", true),
            (".{[}],env}", ".env", true),
            (".{a{b,c},env}", ".env", true),
            (".\\Env", ".env", true),
            ("!*.rs", ".env", true),
            ("*", ".env", true),
            ("sec*/", "secrets/key", true),
            ("sec*", "secrets/key", true),
            ("s*/k*", "secrets/key", true),
            ("s*/x", "secrets/key", false),
            ("[ab].md", ".env", false),
            ("*.{rs,toml}", "a.rs", true),
            ("*.{rs,toml}", "a/b", false),
            ("**/*.{rs,toml}", "deep/.env", false),
            ("*.{a{b,c},d}", "deep/.env", true),
            ("{a,b}{c,d}.{e,f}", "x/bc.f", true),
            ("{a,b}{c,d}.{e,f}", "x/ba.f", false),
            ("Cargo.toml", "crates/x/Cargo.toml", true),
        ] {
            let read = Wildcards::read(glob).unwrap();
            assert_eq!(read.could_match(path), wanted, "{glob} {path}");
        }
        assert!(Wildcards::read("o?t/passwd").unwrap().could_pass("out"));
        assert!(!Wildcards::read("x*/passwd").unwrap().could_pass("out"));
    }

    #[test]
    fn a_glob_begins_in_its_plain_folder_and_does_not_leave_it() {
        for (glob, head) in [
            ("/etc/**", "/etc/"),
            ("src/*.rs", "src/"),
            ("../x*", "../"),
            ("*", ""),
            ("~/.ssh/*", "~/.ssh/"),
            ("a/b", "a/"),
        ] {
            assert_eq!(Wildcards::read(glob).unwrap().head, head, "{glob}");
        }
        for glob in
            ["*/../../x", "{/etc,a}/*", "{a,/etc}/*", "{..,a}/*", "@(..|a)/x", "@(/etc|a)/x", "{~,a}/.ssh/*"]
        {
            assert!(Wildcards::read(glob).is_err(), "{glob}");
        }
    }

    /// The work stays bounded for a hostile glob.
    #[test]
    fn a_hostile_glob_is_read_in_time() {
        let path = "a/".repeat(20) + &"a".repeat(200);
        for glob in ["*a".repeat(500), "{a,*}".repeat(200), "{a,*a*a*a*a*a*a*ab}".repeat(50)] {
            assert!(!Wildcards::read(&format!("{glob}x")).unwrap().could_match(&path), "{glob}");
        }
    }
}
