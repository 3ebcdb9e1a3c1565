//! Globs of harnesses, each of which reads them in its own way: what a glob could match by any of these readings.

/// What makes a text a glob for one of them.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '(', ')', '!', '\\'];

/// How many alternatives are told apart.
const MAX_ALTERNATIVES: usize = 64;

/// Whether a text is a glob, and no plain path.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(SPECIAL)
}

/// A glob: the folder that it begins in, which is plain, and what it says of what lies below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wildcards<'g> {
    pub(super) head: &'g str,
    /// One for each of its alternatives.
    rest: Vec<Vec<Part>>,
}

/// What a part of a glob could stand for. Whatever is read in more than one way stands for more than in any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// This character, in either case.
    Is(char),
    /// What a `?` or brackets stand for: one character, whichever.
    One,
    /// What stars stand for, and whatever cannot be read surely: a text of any length.
    Any,
}

impl<'g> Wildcards<'g> {
    /// Reads a glob. An error where it could lead out of the folder that it begins in.
    pub(super) fn read(glob: &'g str) -> Result<Self, String> {
        // What is left out says that all the rest is meant.
        if glob.starts_with('!') {
            return Ok(Self { head: "", rest: vec![vec![Part::Any]] });
        }
        let special = glob.find(SPECIAL).unwrap_or(glob.len());
        let plain = glob.get(..special).unwrap_or_default();
        let (head, rest) = glob.split_at(plain.rfind('/').map_or(0, |slash| slash + 1));
        if leads_out(head, rest) {
            return Err(format!("`{glob}` could lead out of the folder that it begins in"));
        }
        Ok(Self { head, rest: expanded(rest).iter().map(|one| below(one)).collect() })
    }

    /// Whether it could match a path below its folder, or something above it there.
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

    /// Whether it could match something behind a path below its folder.
    pub(super) fn could_pass(&self, path: &str) -> bool {
        let mut heads = self.rest.iter().flat_map(|rest| {
            let slashes = rest.iter().enumerate().filter(|(_, part)| **part == Part::Is('/'));
            slashes.map(|(at, _)| Self { head: "", rest: vec![rest.iter().take(at).copied().collect()] })
        });
        heads.any(|head| head.could_match(path))
    }
}

/// Whether what stands behind the plain folder could begin anew or go up, after alternatives were put in the place of braces.
fn leads_out(head: &str, rest: &str) -> bool {
    let rest = rest.replace('\\', "");
    let is_outside = |part: &str| part == ".." || part.starts_with('~');
    let begins_anew = ["{/", ",/", "(/", "|/"].iter().any(|start| rest.contains(start))
        || head.is_empty() && rest.starts_with('/');
    let goes_up = rest.split(['/', '{', ',', '}', '(', '|', ')']).any(is_outside);
    // Of nothing but dots, or of nothing: together with what stands beside it that can be two dots, or a slash at the beginning.
    let is_bare = rest.split('{').skip(1).any(|braces| match braces.split_once('}') {
        Some((inside, _)) => inside.split(',').any(|one| one.chars().all(|c| c == '.')),
        // Braces in braces could hold any alternative.
        None => true,
    });
    let is_open = rest.starts_with('{') || rest.matches('.').count() > 1;
    begins_anew || goes_up || is_bare && is_open
}

/// The alternatives of a glob: its braces are put out as long as all read them in one way, and there are not too many.
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

/// The first braces with alternatives and none of their own, and what stands around them.
fn braces(glob: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = glob.split_once('{')?;
    let (inside, behind) = rest.split_once('}')?;
    (inside.contains(',') && !inside.contains('{')).then_some((before, inside, behind))
}

/// The places of slashes, or those behind them.
fn places(path: &[char], behind: usize) -> impl Iterator<Item = usize> {
    path.iter().enumerate().filter(|(_, c)| **c == '/').map(move |(at, _)| at + behind)
}

/// The parts of what stands behind the plain folder: of a folder, all that is in it.
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
                // A bracket that stands first in brackets is one of what they hold.
                let negated = chars.next_if(|c| *c == '!' || *c == '^').is_some();
                let first = chars.next();
                let is_closed = first.is_some() && chars.by_ref().any(|c| c == ']');
                // They may hold a slash in one reading and none in another, or be no brackets at all.
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

/// Takes alternatives for any text, to the bracket that closes them. Where it is not sure which that is, to the end.
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

/// Whether parts stand for a text: whenever one does not fit, the last that stands for any text takes one character more.
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

    /// It takes no longer where a glob is made to.
    #[test]
    fn a_hostile_glob_is_read_in_time() {
        let path = "a/".repeat(20) + &"a".repeat(200);
        for glob in ["*a".repeat(500), "{a,*}".repeat(200), "{a,*a*a*a*a*a*a*ab}".repeat(50)] {
            assert!(!Wildcards::read(&format!("{glob}x")).unwrap().could_match(&path), "{glob}");
        }
    }
}
