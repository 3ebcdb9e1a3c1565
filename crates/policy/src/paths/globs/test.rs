//! What globs mean, in lists that refuse and in lists that allow.

use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::set::work;
use super::*;

fn workspace(case: Case) -> Workspace {
    Workspace { case, ..Workspace::plain("/ws") }
}

fn denies(glob: &str, path: &str) -> bool {
    let workspace = workspace(Case::Sensitive);
    let globs = DenyGlobs::compile(&[glob.to_owned()], &workspace).unwrap();
    globs.hit(&workspace.locate(&Path::new("/ws").join(path))).is_some()
}

fn allows(glob: &str, path: &str, case: Case) -> bool {
    let workspace = workspace(case);
    let globs = AllowGlobs::compile(&[glob.to_owned()], &workspace).unwrap();
    globs.hit(&workspace.locate(&stockade_text::resolve_path(Path::new("/ws"), Path::new(path)))).is_some()
}

/// What the documents' glob matcher was measured to mean, for a list that allows.
#[test]
fn allowing_globs_mean_what_they_say() {
    for (glob, path, expected) in [
        ("**", ".", true),
        ("**", "a", true),
        ("**", ".hidden/x", true),
        ("**", "/outside", false),
        ("*", ".env", true),
        ("*", "a/b", false),
        (".", ".", true),
        (".", "a", false),
        (".comma/**", ".comma/skills/x.md", true),
        (".comma/**", ".comma", false),
        ("src/**", "src/a/b", true),
        ("src/**", "srcs/a", false),
        ("*.pem", "a.pem", true),
        ("*.pem", "a/b.pem", false),
        ("**/*.pem", "b.pem", true),
        ("**/*.pem", "a/b.pem", true),
        ("{src,lib}/**", "lib/x", true),
        ("src/[!a]*", "src/b", true),
        ("src/[!a]*", "src/a", false),
        ("src/?.rs", "src/a.rs", true),
        ("src/?.rs", "src/ab.rs", false),
        ("!src/**", "lib/x", true),
        ("!src/**", "src/x", false),
        ("!!src/**", "src/x", true),
        ("!src/**", "/outside", false),
        ("./src/**", "src/x", true),
        ("src//**", "src/x", true),
        ("/etc/**", "/etc/hosts", true),
        ("/ws/src/**", "src/x", true),
        ("**/hosts", "/etc/hosts", false),
        ("src[!a]x", "src/x", false),
        ("src[+-9]x", "src/x", false),
        ("src[+-9]x", "src5x", true),
        ("?", "ä", true),
        ("?", "e\u{301}", false),
        ("[ä-ö]*", "äb", true),
        ("[!ä]", "ä", false),
        ("{src/**,lib/**}", "src", false),
        ("{**,a}/b", "b", true),
        ("x{**,y}", "xa/b", false),
        ("a\u{e9}", "ae\u{301}", false),
        ("a\\*b", "a*b", true),
        ("a\\*b", "axb", false),
        ("Src/**", "src/x", false),
    ] {
        assert_eq!(allows(glob, path, Case::Sensitive), expected, "{glob} {path}");
    }
    assert!(allows("Src/**", "sRC/x", Case::Insensitive));
    assert!(!allows("!Src/**", "sRC/x", Case::Insensitive));
    assert!(!allows("!Src/**", "src./x", Case::Sensitive));
}

#[test]
fn denying_globs_cover_what_is_meant() {
    for (glob, path, expected) in [
        (".git/**", ".git", true),
        (".git/**", ".git/config", true),
        (".git/**", ".gitignore", false),
        (".git/**", "sub/.git", false),
        ("**/.git", "sub/.git/hooks/x", true),
        ("secrets/", "secrets/k", true),
        ("./secrets/**", "secrets/k", true),
        ("secrets/**", "Secrets/K", true),
        ("*.PEM", "a.pem", true),
        ("**/*.pem", "dir.pem/inside", true),
        ("**/*.pem", "a.pem.", true),
        ("**/*.pem", "a.pem ", true),
        ("**/*.pem", "a.pem.txt", false),
        ("**/.env*", ".e\u{200d}nv", true),
        ("**/[A-C].txt", "b.TXT", true),
        ("src/[!a]*", "src/b", true),
        ("src/[!a]*", "src/A", true),
        ("src/[!a]*", "src/a", false),
        ("[!?-u]", "x", true),
        ("a?", "a\u{200d}", true),
        ("A?", "a\u{200d}", true),
        ("?", "\u{fb01}", true),
        ("?", "ä", true),
        ("?", "e\u{301}", true),
        ("[ß-ä]", "Ä", true),
        ("[!x]", "ä", true),
        ("secret*", "secret\u{301}s", true),
        ("*\u{301}x", "\u{e9}X", true),
        ("\\\u{200d}*", "\u{200d}abc", true),
        ("größe?", "GRÖSSE1", true),
        ("größe?", "gräße1", false),
        ("a\u{301}\u{323}", "a\u{323}\u{301}", true),
        ("\u{1ea1}\u{301}", "a\u{301}\u{323}", true),
        ("{src/**,lib/**}", "src", true),
        ("{**,a}/b", "b", true),
        ("{src,lib}/**", "LIB/x", true),
        ("x{**,y}", "xa/b", true),
        ("x{**,y}", "a/xb", false),
        ("[+-9]", "a/b", false),
        ("!src/**", "src/x", false),
        ("!src/**", "SRC/x", true),
        ("!src/**", "lib", true),
        ("!src/**", "src", true),
        (".", ".", true),
        (".", "a", false),
        ("**", "a", true),
        ("**/**", "a", true),
        ("**", "/outside", true),
        ("**/hosts", "/etc/hosts", true),
        ("secrets/**", "/secrets/x", false),
        ("/etc/**", "/etc", true),
        ("/ws/a/**", "a/b", true),
    ] {
        assert_eq!(denies(glob, path), expected, "{glob} {path}");
    }
}

#[test]
fn useless_globs_are_refused() {
    for (glob, expected) in [
        ("", GlobErrorKind::Empty),
        ("!", GlobErrorKind::Empty),
        ("~/.ssh/**", GlobErrorKind::Tilde),
        ("../x/**", GlobErrorKind::Upwards),
        ("a/../b", GlobErrorKind::Upwards),
        ("{x,../y}", GlobErrorKind::Upwards),
        ("a\0b", GlobErrorKind::Nul),
    ] {
        let error = DenyGlobs::compile(&[glob.to_owned()], &workspace(Case::Sensitive)).unwrap_err();
        assert_eq!(error.kind, expected, "{glob}");
    }
    for glob in ["[a", "{a", "a}", "[z-a]"] {
        let error = DenyGlobs::compile(&[glob.to_owned()], &workspace(Case::Sensitive)).unwrap_err();
        assert!(matches!(error.kind, GlobErrorKind::Syntax(_)), "{glob}");
    }
}

#[test]
fn an_escaped_path_matches_itself_alone() {
    for path in ["a*b", "a\u{301},b", "a?b", "[a]", "{a,b}", "!a", "~a", "a\\b", "-", "a]b"] {
        assert!(allows(&escape(path), path, Case::Sensitive), "{path}");
    }
    assert!(!allows(&escape("a*b"), "axb", Case::Sensitive));
}
/// Globs and paths that make careless matchers slow: what is repeated in the glob, how it ends, what the path repeats.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("**/", "x", "a/"),
    ("**/a/", "x", "a/"),
    ("*a", "x", "a"),
    ("*/", "x", "a/"),
    ("?", "*x", "a"),
    ("[!b]*", "x", "a"),
    ("{a,a*}", "x", "a"),
    ("{**/,a/}", "x", "a/"),
    ("a", "", "a/"),
    ("ä*", "x", "ä"),
    ("*.", "x", ". "),
    ("*", "e\u{301}x", "e\u{301}\u{323}"),
];

/// However many globs there are and whatever they are, a path is handed over a fixed number of times, whole: as it is
/// written, folded, trimmed and with its marks in order. The matcher itself reads what it is handed once.
#[test]
fn deciding_reads_a_path_a_fixed_number_of_times() {
    let workspace = workspace(Case::Sensitive);
    for (repeated, end, names) in HOSTILE {
        let glob = repeated.repeat(20) + end;
        let many = (0..50).map(|number| format!("{glob}{number}")).collect();
        for globs in [vec![glob.clone()], many, vec![format!("!{glob}"); 3]] {
            let deny = DenyGlobs::compile(&globs, &workspace).unwrap();
            let allow = AllowGlobs::compile(&globs, &workspace).unwrap();
            for length in [100, 1_000, 4_000] {
                let path = Path::new("/ws").join(names.repeat(length / names.len()));
                let place = workspace.locate(&path);
                let negated = deny.negated.len() + allow.negated.len();
                // Folding at most triples the bytes of a text.
                let most = 3 * path.as_os_str().len() * 7 * (1 + negated);
                let work = work::of(|| {
                    let _hits = (deny.hit(&place), allow.hit(&place));
                });
                assert!(work <= most, "{repeated} {names} {length}: {work} bytes");
            }
        }
    }
}

/// Whatever a glob is made of, loading it ends soon: it is compiled to a matcher of bounded size, or refused.
#[test]
fn hostile_globs_are_bounded_or_refused() {
    let workspace = workspace(Case::Sensitive);
    let fill = |piece: &str| piece.repeat(MAX_GLOB_BYTES / piece.len());
    for glob in [
        fill("**/"),
        fill("*"),
        fill("?"),
        fill("[a-z]"),
        fill("{a,b}"),
        fill("{**/,b}"),
        fill("{"),
        "{".repeat(2_000) + &"}".repeat(2_000),
        format!("{{{}}}", fill("a,").get(..4_000).unwrap()),
        format!("{{{}}}/x", fill("**,").get(..4_000).unwrap()),
        format!("{{{}}}/**", fill("{a,b},").get(..3_996).unwrap()),
        fill("\u{10ffff}"),
    ] {
        let list = [glob.clone()];
        let (deny, allow) = (DenyGlobs::compile(&list, &workspace), AllowGlobs::compile(&list, &workspace));
        assert_eq!(deny.is_ok(), allow.is_ok(), "{glob}");
    }
    for (glob, count, expected) in [
        ("a".to_owned(), MAX_GLOBS, None),
        ("a".to_owned(), MAX_GLOBS + 1, Some(GlobErrorKind::TooLong)),
        ("a".repeat(MAX_GLOB_BYTES), 64, None),
        ("a".repeat(MAX_GLOB_BYTES), 65, Some(GlobErrorKind::TooLong)),
        ("?".repeat(MAX_GLOB_BYTES), 32, Some(GlobErrorKind::TooLarge)),
    ] {
        let compiled = AllowGlobs::compile(&vec![glob; count], &workspace);
        assert_eq!(compiled.err().map(|error| error.kind), expected, "{count}");
    }
}

/// Globs and paths made of the pieces that matter, so that they match now and then.
fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        20 => (0..pieces.len()).prop_map(|index| pieces[index].to_owned()),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

const GLOB: &[&str] = &[
    "a", "A", "b", "/", "/", "*", "**", "**/", "/**", "?", "[a-c]", "[!a]", "[^B-]", "{a,b}", "{", ",", "}",
    "{**,a}", ".", "\\", "ä", "Ä", "ß", "\u{301}", "\u{323}", "\u{200d}", "한", "\u{11ab}", "[ä-ö]",
];
const PATH: &[&str] = &[
    "a", "A", "b", "B", "/", "/", "ab", ".", " ", "-", "*", "{", "\\", "ä", "Ä", "a\u{308}", "ß", "SS", "ſ",
    "\u{301}", "\u{323}", "\u{200d}", "한", "하", "\u{11ab}", "\u{fffd}",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    /// What a glob allows it denies, in any script.
    #[test]
    fn what_a_glob_allows_it_denies(glob in pieces(GLOB), path in pieces(PATH)) {
        let glob = glob.trim_start_matches('!').to_owned();
        let globs = [glob.clone()];
        let workspace = workspace(Case::Sensitive);
        let allow = AllowGlobs::compile(&globs, &workspace);
        let deny = DenyGlobs::compile(&globs, &workspace);
        prop_assert_eq!(allow.is_ok(), deny.is_ok());
        let (Ok(allow), Ok(deny)) = (allow, deny) else { return Ok(()) };
        let path = stockade_text::resolve_path(Path::new("/ws"), Path::new(&path));
        let place = workspace.locate(&path);
        prop_assert!(allow.hit(&place).is_none() || deny.hit(&place).is_some(), "{} {:?}", glob, path);
    }

    /// Where globs mean the same everywhere, they mean here what they mean to another matcher.
    #[test]
    fn plain_globs_mean_what_they_mean_elsewhere(glob in pieces(&GLOB[..13]), path in pieces(&PATH[..10])) {
        let workspace = workspace(Case::Sensitive);
        let tidy = tidied(&glob);
        let other = globset::GlobBuilder::new(&tidy).literal_separator(true).backslash_escape(true).build();
        let ours = AllowGlobs::compile(&[glob], &workspace);
        let (Ok(other), Ok(ours)) = (other, ours) else { return Ok(()) };
        let path = stockade_text::resolve_path(Path::new("/ws"), Path::new(&path));
        let place = workspace.locate(&path);
        let plain = tidy.is_ascii() && !tidy.starts_with(['/', '!']);
        let Some(inside) = place.inside.as_deref().filter(|_| plain) else { return Ok(()) };
        if inside.to_str().is_none_or(|inside| !inside.is_ascii()) {
            return Ok(());
        }
        // A bracket of the other matcher crosses folders.
        let crosses = tidy.contains("[!") || tidy.contains("[^");
        let expected = other.compile_matcher().is_match(inside);
        if !crosses || !expected {
            prop_assert_eq!(ours.hit(&place).is_some(), expected, "{} {:?}", tidy, inside);
        }
    }
}
