//! The blocks of a Markdown document: fences, tables and paragraphs.

use super::Border;
use super::spans::push_code_spans;
use crate::flow::Language;
use crate::rule::Region;

/// Fence languages whose content a shell would run.
const SHELL_LANGUAGES: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "ksh",
    "dash",
    "fish",
    "shell",
    "shellscript",
    "shell-script",
    "shell-session",
    "shellsession",
    "sh-session",
    "console",
    "terminal",
    "bash-session",
    "command",
    "commandline",
    "powershell",
    "pwsh",
    "ps",
    "ps1",
    "bat",
    "batch",
    "cmd",
];

/// Fence languages that no shell reads. What another label means is unknown, and a shell may run it all the same.
#[rustfmt::skip]
const OTHER_LANGUAGES: &[&str] = &[
    "python", "python3", "py", "pycon", "ipython", "javascript", "js", "mjs", "cjs", "jsx", "typescript", "ts", "tsx", "node",
    "json", "jsonc", "json5", "jsonl", "yaml", "yml", "toml", "ini", "xml", "svg", "html", "vue", "svelte", "astro", "css", "scss",
    "less", "sql", "graphql", "gql", "proto", "protobuf", "rust", "rs", "go", "golang", "c", "h", "cpp", "c++", "cc", "csharp",
    "cs", "java", "kotlin", "kt", "scala", "groovy", "gradle", "swift", "objc", "ruby", "rb", "php", "perl", "pl", "lua", "r",
    "julia", "dart", "elixir", "ex", "exs", "erlang", "haskell", "hs", "clojure", "clj", "ocaml", "fsharp", "zig", "nim",
    "solidity", "sol", "hcl", "terraform", "tf", "nix", "dockerfile", "docker", "makefile", "make", "cmake", "nginx", "caddyfile",
    "diff", "patch", "markdown", "md", "mdx", "rst", "latex", "tex", "mermaid", "dot", "plantuml", "csv", "tsv", "http", "regex",
    "yara", "yar", "kql", "kusto", "spl", "sigma", "log", "properties", "env", "dotenv", "bicep", "prisma", "vim", "lisp", "elisp",
    "scheme", "matlab", "asm", "wasm", "glsl", "wgsl", "cypher", "sparql", "rego", "cue", "jinja", "jinja2", "handlebars", "liquid",
];

/// Reads a document block by block.
#[derive(Debug)]
pub(super) struct Blocks<'t> {
    text: &'t str,
    /// Everything before this offset was read.
    done: usize,
    /// Start and region of an unclosed fence, if one was met: then no later line is a fence.
    unclosed: Option<(usize, Region)>,
}

/// The line that opens a fenced block.
struct Fence {
    marker: u8,
    length: usize,
    region: Region,
    language: Language,
}

impl<'t> Blocks<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, done: 0, unclosed: None }
    }

    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// Returns the start and region of an unclosed fence, as far as was read.
    pub(super) const fn unclosed(&self) -> Option<(usize, Region)> {
        self.unclosed
    }

    /// Whether the line at `start` opens a fence.
    pub(super) fn begins_fence(&self, start: usize) -> bool {
        self.line_at(start).is_some_and(|line| Fence::open(line).is_some())
    }

    /// Returns the language of the fence at `start`.
    pub(super) fn language_at(&self, start: usize) -> Language {
        let fence = self.line_at(start).and_then(Fence::open);
        fence.map_or(Language::Unknown, |fence| fence.language)
    }

    /// Reads the next block and adds the borders of its regions. Returns false at the end of the text.
    pub(super) fn read_block(&mut self, borders: &mut Vec<Border>) -> bool {
        let start = self.done;
        let Some(line) = self.line_at(start) else { return false };
        if self.unclosed.is_none()
            && let Some(fence) = Fence::open(line)
        {
            match self.end_of_fence(start + line.len(), &fence) {
                Some(end) => return self.finish_fence(start..end, &fence, borders),
                // Detecting an unclosed fence takes reading to the end of the text. Repeated for one fence after the
                // other that would be quadratic, so the first one decides for all: the following text hides less from
                // the rules, never more.
                None => self.unclosed = Some((start, fence.region)),
            }
        }
        self.done = self.end_of_paragraph(start, line.len());
        push_paragraph(self.text, start..self.done, borders);
        true
    }

    /// Returns the line at `start`, with its end.
    fn line_at(&self, start: usize) -> Option<&'t str> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        rest.get(..end)
    }

    /// Returns the end of the block, including its closing line.
    fn end_of_fence(&self, content: usize, fence: &Fence) -> Option<usize> {
        let mut at = content;
        while let Some(line) = self.line_at(at) {
            at += line.len();
            if fence.is_closed_by(line) {
                return Some(at);
            }
        }
        None
    }

    fn finish_fence(
        &mut self,
        span: std::ops::Range<usize>,
        fence: &Fence,
        borders: &mut Vec<Border>,
    ) -> bool {
        borders.push(Border { start: span.start, region: fence.region });
        if fence.region == Region::Code {
            push_rows_of_drawing(self.text, span.clone(), borders);
        }
        borders.push(Border { start: span.end, region: Region::Prose });
        self.done = span.end;
        true
    }

    /// A paragraph ends before a blank line, a fence, or a line that begins a list item or a heading.
    fn end_of_paragraph(&self, start: usize, first_line: usize) -> usize {
        let mut at = start + first_line;
        while let Some(line) = self.line_at(at) {
            if !begins_plainly(line) && self.ends_paragraph(line) {
                break;
            }
            at += line.len();
        }
        at
    }

    fn ends_paragraph(&self, line: &str) -> bool {
        let opens_fence = || self.unclosed.is_none() && Fence::open(line).is_some();
        line.trim().is_empty() || begins_block(line) || opens_fence()
    }
}

impl Fence {
    /// Parses an opening line. Fences may be indented, in quotes and behind the marker of a list item.
    fn open(line: &str) -> Option<Self> {
        let line = without_list_marker(without_quote(line));
        let marker = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = line.bytes().take_while(|&byte| byte == marker).count();
        let info = line.get(length..)?.trim();
        // CommonMark: the info string of a backtick fence contains no backtick, or else `` ```a``` `` would be a
        // fence and not a span.
        let is_fence = length >= 3 && !(marker == b'`' && info.contains('`'));
        let region = region_of_language(info);
        let is_known = region == Region::Shell || is_one_of(OTHER_LANGUAGES, info);
        let language = if is_known { Language::Of(region) } else { Language::Unknown };
        is_fence.then_some(Self { marker, length, region, language })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = without_quote(line);
        // Renderers differ on how far a closing fence may be indented, so any indentation closes: a block that ends
        // too early exposes its rest as prose to more rules.
        if line.as_bytes().first() != Some(&self.marker) {
            return false;
        }
        let line = line.trim_end();
        line.len() >= self.length && line.bytes().all(|byte| byte == self.marker)
    }
}

/// The language is the first word of the info string, also when written `{.bash}`.
fn region_of_language(info: &str) -> Region {
    if is_one_of(SHELL_LANGUAGES, info) { Region::Shell } else { Region::Code }
}

/// Whether the language of an info string is one of these.
fn is_one_of(languages: &[&str], info: &str) -> bool {
    // Pandoc writes `{.bash}`, and Docusaurus puts a title behind the language.
    let info = info.trim_start_matches(['{', '.', ' ']);
    let end = info.find(|c: char| !(c.is_ascii_alphanumeric() || "-_+".contains(c))).unwrap_or(info.len());
    let language = info.get(..end).unwrap_or_default();
    languages.iter().any(|known| known.eq_ignore_ascii_case(language))
}

/// Whether a line is indented like a program and is not a list item: it may be a program, and prose as well.
pub(super) fn is_indented(line: &str) -> bool {
    let inner = without_quote(line);
    let width = |blank: char| if blank == '\t' { 4 } else { 1 };
    let indent: usize = line.chars().take_while(|blank| matches!(blank, ' ' | '\t')).map(width).sum();
    indent >= 4 && !inner.trim().is_empty() && without_list_marker(inner).len() == inner.len()
}

fn without_quote(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>'])
}

/// Strips `- `, `* `, `+ `, `1. ` or `1) `.
fn without_list_marker(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = match digits {
        0 => line.strip_prefix(['-', '*', '+']),
        _ => line.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')'])),
    };
    after.filter(|rest| rest.starts_with([' ', '\t'])).map_or(line, |rest| without_quote(rest))
}

/// Whether the first letter of a line shows that it is neither blank nor the start of a block.
fn begins_plainly(line: &str) -> bool {
    let first = line.bytes().find(|byte| !matches!(byte, b' ' | b'\t' | b'>'));
    first.is_some_and(|first| {
        first.is_ascii_graphic()
            && !first.is_ascii_digit()
            && !matches!(first, b'`' | b'~' | b'#' | b'-' | b'*' | b'+')
    })
}

fn begins_block(line: &str) -> bool {
    let line = without_quote(line);
    line.starts_with('#') || without_list_marker(line).len() < line.len()
}

/// Adds the rows and code spans of a paragraph. Code spans do not extend from one table row into the next.
fn push_paragraph(text: &str, span: std::ops::Range<usize>, borders: &mut Vec<Border>) {
    // Most paragraphs have no bar at all, and memchr finds that faster than splitting lines.
    if !holds_bar(text, span.clone()) {
        return push_code_spans(text, span, Region::Prose, borders);
    }
    let table = table_start(text, span.clone()).unwrap_or(span.end);
    let mut prose = span.start;
    for line in lines(text, span.clone()) {
        let content = text.get(line.clone()).unwrap_or_default();
        let in_table = line.start >= table && content.contains('|');
        // A line of a pipeline has a bar as well. Unless a separator above it marks a table, both ends need one: `cat
        // x | sh` is not a row.
        if !in_table && !has_outer_bars(content) {
            continue;
        }
        push_code_spans(text, prose..line.start, Region::Prose, borders);
        push_code_spans(text, line.clone(), Region::TableRow, borders);
        prose = line.end;
    }
    push_code_spans(text, prose..span.end, Region::Prose, borders);
}

/// Marks the lines of a non-shell block that draw a table.
fn push_rows_of_drawing(text: &str, span: std::ops::Range<usize>, borders: &mut Vec<Border>) {
    if !holds_bar(text, span.clone()) {
        return;
    }
    for line in lines(text, span) {
        if text.get(line.clone()).is_some_and(has_outer_bars) {
            borders.push(Border { start: line.start, region: Region::TableRow });
            borders.push(Border { start: line.end, region: Region::Code });
        }
    }
}

/// Whether there can be a table: most paragraphs need no second look.
fn holds_bar(text: &str, span: std::ops::Range<usize>) -> bool {
    let stretch = text.as_bytes().get(span).unwrap_or_default();
    memchr::memchr(b'|', stretch).is_some()
}

/// Returns the start of a table: the line before a header separator such as `|---|:--:|`.
fn table_start(text: &str, span: std::ops::Range<usize>) -> Option<usize> {
    let mut previous = None;
    for line in lines(text, span) {
        if is_header_separator(text.get(line.clone())?) {
            return previous;
        }
        previous = Some(line.start);
    }
    None
}

fn is_header_separator(line: &str) -> bool {
    let line = without_quote(line).trim();
    line.contains('|')
        && line.contains('-')
        && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}

/// Whether there is a bar at both ends with other text next to each: `| a |`, but not `|| a |`.
fn has_outer_bars(line: &str) -> bool {
    let line = without_quote(line).trim();
    let inner = line.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    // `|| a |` is a shell's "or" across lines, and an escaped bar is a character of the cell.
    inner.is_some_and(|inner| !inner.is_empty() && !inner.starts_with('|') && !inner.ends_with(['|', '\\']))
}

fn lines(text: &str, span: std::ops::Range<usize>) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut start = span.start;
    text.get(span).unwrap_or_default().split_inclusive('\n').map(move |line| {
        let from = start;
        start += line.len();
        from..start
    })
}
