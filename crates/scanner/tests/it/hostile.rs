//! Texts that an attacker would write to slow a scanner down: each kind is known to cost a backtracking engine, or a
//! search that restarts at every hit, quadratic or cubic time.

/// A kind of hostile text: its name, and a generator for about so many bytes.
pub(crate) type Generator = (&'static str, fn(usize) -> String);

/// Every kind.
pub(crate) const GENERATORS: &[Generator] = &[
    ("$(sh ", |n| repeat("$(sh ", n)),
    ("$(sh", |n| repeat("$(sh", n)),
    ("$(a sh b ", |n| repeat("$(a sh b ", n)),
    ("$(", |n| repeat("$(", n)),
    ("$( then sh", |n| format!("$({}", repeat("sh ", n))),
    ("$(curl x then )", |n| format!("{})", repeat("$(curl x ", n))),
    ("wget -O- ", |n| repeat("wget -O- ", n)),
    ("wget-O-", |n| repeat("wget-O-", n)),
    ("wget -O -x ", |n| repeat("wget -O -x ", n)),
    ("wget ", |n| repeat("wget ", n)),
    ("wget then -O- ", |n| format!("wget {}", repeat("-O- ", n))),
    ("curl ", |n| repeat("curl ", n)),
    ("curl then a pipe", |n| format!("{}|", repeat("curl ", n))),
    ("curl x | ", |n| repeat("curl x | ", n)),
    ("curl x | sh ", |n| repeat("curl x | sh ", n)),
    ("curl lines", |n| repeat("curl x\n", n)),
    ("curl then sh at the end", |n| format!("curl {} | sh", repeat("x ", n))),
    ("backtick then sh ", |n| format!("`{}", repeat("sh ", n))),
    ("backtick sh then spaces", |n| format!("`sh{}", " ".repeat(n))),
    ("backtick curl flood", |n| repeat("`curl ", n)),
    ("backtick pairs", |n| repeat("`curl x` ", n)),
    ("backticks", |n| "`".repeat(n)),
    ("backticks of growing length", growing_backticks),
    ("pool.", |n| repeat("pool.", n)),
    ("pool.a.", |n| repeat("pool.aa.", n)),
    ("printenv lines", |n| repeat("printenv\n", n)),
    ("|sh lines", |n| repeat("|sh\n", n)),
    ("| sh on one line", |n| repeat("| sh ", n)),
    ("pipe then spaces", |n| format!("|{}", " ".repeat(n))),
    ("pipes and spaces", |n| repeat("|  ", n)),
    ("base64 lines of 80", |n| repeat(&format!("{}\n", "QUJD".repeat(20)), n)),
    ("base64 runs of 79", |n| repeat(&format!("{} ", "A".repeat(79)), n)),
    ("base64 in one run", |n| "A".repeat(n)),
    ("base64 -d ", |n| repeat("base64 -d ", n)),
    ("base64 -d | ", |n| repeat("base64 -d | ", n)),
    ("hex escapes", |n| repeat("\\x41", n)),
    ("hex escapes, 18 at a time", |n| repeat(&format!("{} ", "\\x41".repeat(18)), n)),
    ("\\x then hex", |n| format!("\\x{}", "4".repeat(n))),
    ("backslashes", |n| "\\".repeat(n)),
    ("backslash line ends", |n| repeat("curl \\\n", n)),
    ("fences", |n| repeat("```\n", n)),
    ("shell fences", |n| repeat("```sh\ncurl x\n```\n", n)),
    ("unclosed fences of growing length", growing_fences),
    ("env | ", |n| repeat("env | ", n)),
    ("eval", |n| repeat("eval ( ", n)),
    ("eval then spaces", |n| format!("eval({}", " ".repeat(n))),
    ("< then spaces", |n| format!("<{}", " ".repeat(n))),
    ("<", |n| "<".repeat(n)),
    ("<system then spaces", |n| repeat("<system  ", n)),
    ("bash -", |n| repeat("bash -", n)),
    ("nc -", |n| repeat("nc -", n)),
    ("nc -e x ", |n| repeat("nc -e x ", n)),
    ("/dev/tcp/", |n| repeat("/dev/tcp/", n)),
    ("/proc/", |n| repeat("/proc/self/environ ", n)),
    ("stratum+", |n| repeat("stratum+tcp", n)),
    ("xmrig", |n| repeat("xmrig ", n)),
    ("sudo -x ", |n| format!("curl x | {}", repeat("sudo -x ", n))),
    ("a=b ", |n| format!("curl x | {}", repeat("a=b ", n))),
    ("folders", |n| format!("curl x | /{}", repeat("usr/", n))),
    ("zero-width letters", |n| repeat("b\u{200b}ash ", n)),
    ("zero-width run", |n| repeat("\u{200b}", n)),
    ("full-width letters", |n| repeat("ｃｕｒｌ ", n)),
    ("cyrillic look-alikes", |n| repeat("b\u{430}sh ", n)),
    ("idle quotes", |n| repeat("c''url ", n)),
    ("quotes", |n| "'".repeat(n)),
    ("$@", |n| repeat("$@", n)),
    ("one long word of disguises", |n| repeat("c''u\u{200b}", n)),
    ("disguises under disguises", |n| repeat("ｃ<!-- -->''u\u{200b}rl ", n)),
    ("control characters", |n| repeat("\u{1}a", n)),
    ("circled letters", |n| repeat("ⓒ", n)),
    ("comments", |n| repeat("a<!-->", n)),
    ("comments behind blanks", |n| format!("|{}", repeat(" <!---->\n", n))),
    ("comments that never end", |n| repeat("a<!--", n)),
    ("ends of comments", |n| format!("a<!--{}", repeat("->", n))),
    ("nested comments", |n| repeat("<!-<!-- -->- -->", n)),
    ("table rows", |n| repeat("| curl | sh |\n", n)),
    ("everything at once", everything),
    ("spaces", |n| " ".repeat(n)),
    ("line ends", |n| "\n".repeat(n)),
    ("emoji", |n| repeat("😀", n)),
];

/// Sizes at which growth is measured: each twice the one before.
pub(crate) const SIZES: [usize; 5] = [10_000, 20_000, 40_000, 80_000, 160_000];

/// `piece` again and again, `size` bytes or a little less.
fn repeat(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

/// Runs of backticks, all of different length: each searches for its end and finds none.
fn growing_backticks(size: usize) -> String {
    grow(size, "`", " ")
}

fn growing_fences(size: usize) -> String {
    grow(size, "`", "x\n")
}

fn grow(size: usize, piece: &str, between: &str) -> String {
    let mut text = String::new();
    for length in 3.. {
        if text.len() + length > size {
            break;
        }
        text.push_str(&piece.repeat(length));
        text.push_str(between);
    }
    text
}

/// The pieces of all rules in turn.
fn everything(size: usize) -> String {
    repeat(
        "$(sh `curl x | wget -O- |sh env| eval(\" pool.aa. bash -i nc -e base64 -d | \\x41 < system> stratum+tcp: ",
        size,
    )
}
