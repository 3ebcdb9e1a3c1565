//! The names of a program, and what each of them holds.

use std::collections::HashMap;
use std::ops::Range;

use arrayvec::ArrayVec;
use regex_automata::meta::Regex;

use super::paths::{named, words};
use super::set::{function, set_by};
use super::sources::{
    ADDRESS, DERIVES_KEYS, ENCODES, FINDER, HASHES, HASHES_IN_SHELL, PICKS, SHOWS_WHO_ASKS, Source,
    is_secret, source, specific_words,
};
use super::{Inflow, Inflows};
use crate::rule::Region;

/// The most names of a program that are kept.
const MAX_NAMES: usize = 512;
/// The most variables of the environment that are kept for a value, and the most hosts.
const MAX_KEPT: usize = 4;
/// The most arguments of a function that are kept.
pub(super) const MAX_ARGUMENTS: usize = 8;
/// How far before a secret it is looked for what it is used for.
const REACH: usize = 120;

/// What a value holds.
#[derive(Debug, Clone, Default)]
struct Held<'p> {
    flows: Inflows,
    /// The secrets of the environment in it, by the names of their variables.
    secrets: ArrayVec<&'p str, MAX_KEPT>,
    /// The hosts in it.
    hosts: ArrayVec<&'p str, MAX_KEPT>,
    /// Whether files of secrets in it are others than those of a project.
    is_of_machine: bool,
}

impl<'p> Held<'p> {
    fn add(&mut self, more: &Self) {
        self.flows = self.flows.with(more.flows);
        self.is_of_machine |= more.is_of_machine;
        more.secrets.iter().for_each(|secret| keep(&mut self.secrets, secret));
        more.hosts.iter().for_each(|host| keep(&mut self.hosts, host));
    }

    fn is_nothing(&self) -> bool {
        self.flows.is_empty() && self.secrets.is_empty() && self.hosts.is_empty()
    }

    /// What flows, with what only the hosts tell: whether a secret goes to whom it is for.
    fn flows_at_sink(&self) -> Inflows {
        let mut flows = self.flows;
        // One host that a secret is for says nothing of another.
        let at_home = |secret: &&str| self.hosts.iter().all(|host| is_for(secret, host));
        let is_foreign = |secret: &&str| specific_words(secret).next().is_some() && !at_home(secret);
        if !self.hosts.is_empty() && self.secrets.iter().any(is_foreign) {
            flows = flows.with(Inflows::of(&[Inflow::ForeignSecret]));
        }
        let is_encoded_only = flows == Inflows::of(&[Inflow::EncodedSecret]) && !self.hosts.is_empty();
        if is_encoded_only && !self.secrets.iter().any(is_foreign) {
            return Inflows::NONE;
        }
        if self.has_many_secrets() {
            flows = flows.with(Inflows::of(&[Inflow::ManySecrets]));
        }
        flows
    }

    /// Whether two of the secrets are for hosts that have nothing in common.
    fn has_many_secrets(&self) -> bool {
        let mut firsts = self.secrets.iter().filter_map(|secret| specific_words(secret).next());
        firsts.next().is_some_and(|one| firsts.any(|other| other != one))
    }
}

/// Keeps something that is not there yet, while there is room.
fn keep<'p>(list: &mut ArrayVec<&'p str, MAX_KEPT>, item: &'p str) {
    if !list.contains(&item) {
        let _ = list.try_push(item);
    }
}

/// The names of a program so far.
pub(super) struct Names<'p> {
    region: Region,
    /// What names hold everywhere, and what functions return.
    held: HashMap<&'p str, Held<'p>>,
    /// What names hold in the function that is being read.
    local: HashMap<&'p str, Held<'p>>,
    functions: HashMap<&'p str, Function<'p>>,
    /// The function that is being read.
    function: Option<&'p str>,
    /// Whether any name was given something.
    has_held: bool,
}

/// A function, and what its arguments were seen to hold.
#[derive(Default)]
struct Function<'p> {
    arguments: ArrayVec<&'p str, MAX_ARGUMENTS>,
    given: Held<'p>,
}

impl<'p> Names<'p> {
    pub(super) fn new(region: Region) -> Self {
        Self {
            region,
            held: HashMap::new(),
            local: HashMap::new(),
            functions: HashMap::new(),
            function: None,
            has_held: false,
        }
    }

    /// Starts from the first statement, with what is known of all.
    pub(super) fn begin_again(&mut self) {
        self.function = None;
        self.local.clear();
    }

    /// Whether no name was ever given anything.
    pub(super) fn hold_nothing(&self) -> bool {
        !self.has_held
    }

    /// Reads a statement: returns what flows in it, and keeps what its names hold from now on.
    pub(super) fn read(&mut self, program: &'p str, statement: &Range<usize>) -> Inflows {
        let Some(text) = program.get(statement.clone()) else { return Inflows::NONE };
        self.enter(text);
        let mut held = Held::default();
        self.add_sources(text, &mut held);
        self.add_files(text, &mut held);
        self.add_names(text, &mut held);
        if self.hashes(text) {
            // What is signed or hashed with a secret tells nothing of it.
            held.secrets.clear();
            held.flows = held.flows.without(Inflow::EncodedSecret);
        }
        let is_secret = held.flows.has_any_of(SECRETS) || !held.secrets.is_empty();
        // Libraries of cryptography take the digits of a key that a program keeps.
        let is_setting = held.flows.contains(Inflow::Setting) && !finds(&DERIVES_KEYS, text);
        if (is_secret || is_setting) && finds(&ENCODES, text) {
            held.flows = held.flows.with(Inflows::of(&[Inflow::EncodedSecret]));
        }
        for found in all(&ADDRESS, text) {
            let host = text.get(found).and_then(|address| address.rsplit(['/', '@']).next()).unwrap_or("");
            keep(&mut held.hosts, host);
        }
        if !held.is_nothing() {
            self.has_held = true;
            self.assign(text, &held);
        }
        held.flows_at_sink()
    }

    /// Whether a statement signs or hashes: a shell by a command, and not by a word of a comment or an address.
    fn hashes(&self, text: &str) -> bool {
        match self.region {
            Region::Code => text.lines().any(|line| finds(&HASHES, without_comment(line))),
            _ => finds(&HASHES_IN_SHELL, text),
        }
    }

    /// Notes where a function begins, and where one has ended: at a statement that is not indented.
    fn enter(&mut self, text: &'p str) {
        let begun = function(text);
        let is_outside = !text.trim_start_matches(['\n', '\r']).starts_with([' ', '\t', '}', ')']);
        if begun.is_some() || is_outside {
            self.function = None;
            self.local.clear();
        }
        let Some((name, arguments)) = begun else { return };
        self.function = Some(name);
        if self.functions.len() < MAX_NAMES {
            let known = self.functions.entry(name).or_default();
            known.arguments = arguments;
            if !known.given.is_nothing() {
                for argument in &known.arguments {
                    self.local.insert(argument, known.given.clone());
                }
            }
        }
    }

    /// What a name holds where it is read.
    fn known(&self, name: &str) -> Option<&Held<'p>> {
        self.local.get(name).or_else(|| self.held.get(name))
    }

    fn add_sources(&self, text: &'p str, held: &mut Held<'p>) {
        let Some(finder) = FINDER.as_ref() else { return };
        for found in finder.find_iter(text) {
            match source(found.pattern().as_usize()) {
                Some(Source::Inflow(flow)) => {
                    held.flows = held.flows.with(Inflows::of(&[flow]));
                    held.is_of_machine |= flow == Inflow::SecretFile;
                }
                Some(Source::Variable) => {
                    let matched = text.get(found.range()).unwrap_or_default();
                    let name = matched
                        .rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
                        .next();
                    let name = name.unwrap_or_default();
                    if is_secret(name) && !shows_who_asks(text, found.start()) {
                        keep(&mut held.secrets, name);
                    }
                }
                None => {}
            }
        }
    }

    fn add_files(&self, text: &'p str, held: &mut Held<'p>) {
        let is_picked = self.region != Region::Code && picks_a_value(text);
        for (at, word) in words(text) {
            let is_no_path = match self.region {
                Region::Code => is_said(text, at) || is_member(text, at, word),
                _ => is_query(text, at, word),
            };
            if is_no_path {
                continue;
            }
            let mut flows = named(word, self.region);
            if is_of_project(word) && (is_picked || shows_who_asks(text, at)) {
                flows = picked(flows);
            }
            let is_used = || {
                is_only_used(text, at)
                    || self.region != Region::Code
                        && (is_of_environment(text, at, word) || is_elsewhere(text, at))
            };
            if flows.has_any_of(OF_FILES) && is_used() {
                flows = flows.without(Inflow::SecretFile).without(Inflow::Setting);
            }
            held.flows = held.flows.with(flows);
            held.is_of_machine |= flows.contains(Inflow::SecretFile) && !is_of_project(word);
            if let Some(known) = self.known(word) {
                held.add(known);
            }
        }
    }

    fn add_names(&self, text: &'p str, held: &mut Held<'p>) {
        if self.held.is_empty() && self.local.is_empty() {
            return;
        }
        let is_picked = self.region != Region::Code && picks_a_value(text);
        for (at, name, is_meant) in identifiers(text, self.region) {
            let Some(known) = self.known(name).filter(|_| is_meant) else { continue };
            let is_for_one = is_picked || shows_who_asks(text, at);
            if is_for_one && known.flows.contains(Inflow::SecretFile) && !known.is_of_machine {
                held.add(&Held { flows: picked(known.flows), ..known.clone() });
                continue;
            }
            let is_variable = known.flows.is_empty() && !known.secrets.is_empty();
            let is_setting = known.flows.contains(Inflow::Setting)
                && known.flows.without(Inflow::Setting).without(Inflow::EncodedSecret).is_empty();
            if (is_variable || is_setting) && shows_who_asks(text, at) {
                continue;
            }
            held.add(known);
        }
    }

    /// Keeps what a statement holds for whatever it sets.
    fn assign(&mut self, text: &'p str, held: &Held<'p>) {
        for name in set_by(text, self.region) {
            self.give(name, held);
        }
        if text.trim_start().starts_with("return")
            && let Some(function) = self.function
        {
            give(&mut self.held, function, held);
        }
        if held.flows.is_empty() && held.secrets.is_empty() {
            return;
        }
        if self.region != Region::Code {
            for (_, word) in words(text).filter(|(_, word)| is_scratch(word)) {
                self.give(word, held);
            }
        }
        if self.functions.is_empty() {
            return;
        }
        for (at, name, _) in identifiers(text, Region::Code) {
            let is_call = text.get(at + name.len()..).is_some_and(|rest| rest.starts_with('('));
            if let Some(called) =
                self.functions.get_mut(name).filter(|_| is_call && self.function != Some(name))
            {
                called.given.add(held);
            }
        }
    }

    fn give(&mut self, name: &'p str, held: &Held<'p>) {
        match self.function {
            Some(_) => give(&mut self.local, name, held),
            None => give(&mut self.held, name, held),
        }
    }
}

/// Keeps what a name holds.
fn give<'p>(names: &mut HashMap<&'p str, Held<'p>>, name: &'p str, held: &Held<'p>) {
    let mut held = held.clone();
    // The name of a file is of the statement that says it.
    held.flows = held.flows.without(Inflow::StartupFile).without(Inflow::AgentFile);
    // A secret in what is named a header is there to show who asks.
    let lower = name.to_ascii_lowercase();
    if ["header", "auth", "client", "session", "cookie"].iter().any(|word| lower.contains(word)) {
        held.secrets.clear();
    }
    if !held.is_nothing() && (names.len() < MAX_NAMES || names.contains_key(name)) {
        names.entry(name).or_default().add(&held);
    }
}

/// What files hold that are named.
const OF_FILES: Inflows = Inflows::of(&[Inflow::SecretFile, Inflow::Setting]);

/// What is secret, whoever gets it.
const SECRETS: Inflows = Inflows::of(&[Inflow::SecretFile, Inflow::Environment]);

fn finds(regex: &Option<Regex>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn all<'r>(regex: &'r Option<Regex>, text: &'r str) -> impl Iterator<Item = Range<usize>> + 'r {
    regex.iter().flat_map(move |regex| regex.find_iter(text)).map(|found| found.range())
}

fn before(text: &str, at: usize, reach: usize) -> &str {
    text.get(text.floor_char_boundary(at.saturating_sub(reach))..at).unwrap_or_default()
}

/// A line without the comment that ends it.
fn without_comment(line: &str) -> &str {
    let ends = ["  #", " # ", " // "].iter().filter_map(|mark| line.find(mark)).min();
    ends.and_then(|end| line.get(..end)).unwrap_or(line)
}

/// Whether a secret is for a host, as the name of its variable says: by the label that somebody registered, not by one before it.
fn is_for(secret: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let mut labels = host.trim_end_matches('.').rsplit('.');
    let last = labels.next().unwrap_or_default();
    let second = labels.next().unwrap_or(last);
    let is_of_country =
        last.len() == 2 && matches!(second, "co" | "com" | "org" | "net" | "gov" | "ac" | "edu");
    let label = labels.next().filter(|_| is_of_country).unwrap_or(second);
    let is_label = |word: &str| word == label || ALSO_CALLED.contains(&(word, label));
    let joined: String = specific_words(secret).collect();
    specific_words(secret).any(|word| is_label(&word)) || is_label(&joined)
}

/// What variables are named after, and the label of its host.
const ALSO_CALLED: &[(&str, &str)] = &[
    ("aws", "amazonaws"),
    ("discord", "discordapp"),
    ("facebook", "fb"),
    ("gemini", "googleapis"),
    ("gh", "github"),
    ("github", "githubusercontent"),
    ("google", "googleapis"),
    ("hf", "huggingface"),
    ("npm", "npmjs"),
    ("twitter", "x"),
];

/// Whether a secret stands where requests say who asks, and not in what they bring.
fn shows_who_asks(text: &str, at: usize) -> bool {
    let line = before(text, at, REACH);
    let line = line.rsplit(['\n', ',']).next().unwrap_or_default();
    let body = [" -d", " -F", " --data", " --form"].iter().filter_map(|option| line.rfind(option)).max();
    finds(&SHOWS_WHO_ASKS, body.and_then(|body| line.get(body..)).unwrap_or(line))
}

/// Whether a file is named by a variable that is set for one command: the command gets its name, and nothing that stands beside it.
fn is_of_environment(text: &str, at: usize, word: &str) -> bool {
    let before = before(text, at, REACH).trim_end_matches(['"', '\'']);
    let sets_only =
        before.trim_start().ends_with('=') && !before.trim_start().contains([' ', '\t', '|', '(', '`']);
    let after = text.get(at + word.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
    let rest = after.trim_start_matches([' ', '\t']);
    sets_only && rest.len() < after.len() && rest.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// Whether a path stands behind the name of another machine, as `scp` and `rsync` take it.
fn is_elsewhere(text: &str, at: usize) -> bool {
    let host =
        before(text, at, REACH).strip_suffix(':').map(|before| before.rsplit([' ', '\t', '"', '\'']).next());
    let copies = || ["scp ", "rsync ", "sftp "].iter().any(|tool| text.contains(tool));
    host.flatten().is_some_and(|host| host.contains(['@', '.']) && !host.contains('/')) && copies()
}

/// Options, each with the commands that do with the file behind it what it is there for.
const USED_BY: &[(&str, &[&str])] = &[
    ("-i", &["ssh", "scp", "sftp", "rsync", "ssh-copy-id", "autossh", "mosh", "sed"]),
    ("-o", &["curl", "wget", "ssh", "scp", "sftp", "openssl", "gpg", "age", "sops"]),
    ("-p", &["mkdir", "install"]),
    ("-d", &["test", "[", "[["]),
    ("-e", &["test", "[", "[["]),
    ("-f", &["test", "[", "[[", "rm", "ssh-keygen", "dotenv", "ln", "touch"]),
];

/// Commands that hand on what they read, whatever else stands in them.
const READERS: &[&str] = &[
    "cat", "xxd", "base64", "base32", "head", "tail", "od", "hexdump", "strings", "grep", "awk", "sort",
    "tac", "rev", "nl", "tar", "gzip", "dd", "cut",
];

/// Whether a file before which this stands is used for what it is there for, written, or only its rights are changed.
fn is_only_used(text: &str, at: usize) -> bool {
    let near = before(text, at, 32).trim_end_matches(['"', '\'', '@']);
    let last = near.trim_end().rsplit([' ', '\t', '\n', '(']).next().unwrap_or_default();
    // `--option=` is the same as `--option `.
    let last = if last.starts_with("--") { last.trim_end_matches('=') } else { last };
    if let Some((_, commands)) = USED_BY.iter().find(|(option, _)| *option == last) {
        let segment = before(text, at, REACH).rsplit(['|', ';', '&', '`', '(']).next().unwrap_or_default();
        let name = |word: &str| {
            let word = word.rsplit(['/', '=']).next().unwrap_or_default();
            word.trim_matches(['"', '\'']).to_owned()
        };
        let mut words = segment.split_whitespace().map(name);
        let reads = words.clone().next().is_some_and(|first| READERS.contains(&first.as_str()));
        return !reads && words.any(|word| commands.contains(&word.as_str()));
    }
    matches!(
        last,
        ">" | ">>"
            | "--output"
            | "--key"
            | "--cert"
            | "--cacert"
            | "--identity"
            | "--identity-file"
            | "IdentityFile"
            | "600"
            | "700"
            | "400"
            | "0600"
            | "mkdir"
            | "source"
            | "."
            | "touch"
            | "test"
            | "ls"
            | "--env-file"
            | "--exclude"
            | "--exclude-from"
            | "--ignore"
            | "--kubeconfig"
            | "--config"
            | "--netrc-file"
            | "--key-file"
            | "--keyfile"
            | "--private-key"
            | "--ssh-key"
            | "--cookie-jar"
            | "--load-cookies"
            | "load_dotenv"
            | "dotenv"
    )
}

/// Whether a path of a program stands within a sentence, which no shell runs.
fn is_said(text: &str, at: usize) -> bool {
    let follows_a_blank = before(text, at, 1).ends_with([' ', '\t']);
    follows_a_blank
        && !["system(", "popen(", "exec", "spawn", "subprocess", "run("]
            .iter()
            .any(|call| text.contains(call))
}

/// Whether a word of a program is a member of a value, such as `answer.key`, and no path.
fn is_member(text: &str, at: usize, word: &str) -> bool {
    let is_quoted = before(text, at, 1).ends_with(['"', '\'', '`', '@', '=']);
    let is_file = word.contains('/') || text.get(at..).is_some_and(|rest| rest.starts_with(['@', '~']));
    !is_quoted && !is_file
}

/// Whether a word of a shell is what `jq` is asked for, such as `.key`, and no path.
fn is_query(text: &str, at: usize, word: &str) -> bool {
    word.starts_with('.')
        && !word.contains('/')
        && !word.starts_with(".env")
        && before(text, at, REACH).rsplit(['|', '(']).next().is_some_and(|command| command.contains("jq "))
}

/// Whether a statement of a shell takes one value out of a file, by its name, and sends it nowhere by itself.
fn picks_a_value(text: &str) -> bool {
    finds(&PICKS, text)
        && !["curl", "wget", "nc ", "/dev/tcp", "base64"].iter().any(|tool| text.contains(tool))
}

/// What is taken of a file of secrets by its name.
fn picked(flows: Inflows) -> Inflows {
    if flows.contains(Inflow::SecretFile) {
        flows.without(Inflow::SecretFile).with(Inflows::of(&[Inflow::Setting]))
    } else {
        flows
    }
}

/// Whether a file is of the settings of a project, one value of which a request is there to show.
fn is_of_project(word: &str) -> bool {
    word.rsplit('/').next().is_some_and(|last| last.starts_with(".env") || last.ends_with(".json"))
}

/// Where programs put what they want to find again.
fn is_scratch(word: &str) -> bool {
    let starts = ["/tmp/", "/var/tmp/", "/dev/shm/", "./", "$TMP", "${TMP"];
    let ends =
        [".tar", ".gz", ".tgz", ".zip", ".txt", ".json", ".log", ".b64", ".enc", ".dat", ".bin", ".out"];
    let is_address = word.contains("//");
    !is_address
        && (starts.iter().any(|start| word.starts_with(start)) || ends.iter().any(|end| word.ends_with(end)))
}

/// The words of a statement that can be names, with where they begin, and whether they are meant as such: in a text in quotes and in
/// a shell only what a sign marks is.
fn identifiers(text: &str, region: Region) -> impl Iterator<Item = (usize, &str, bool)> {
    let bytes = text.as_bytes();
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (mut at, mut quote) = (0, None);
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            if !is_of_name(byte) {
                match (byte, quote) {
                    (b'"' | b'\'' | b'`', None) => quote = Some(byte),
                    (_, Some(open)) if open == byte => quote = None,
                    (b'\n', _) => quote = None,
                    _ => {}
                }
                at += 1;
                continue;
            }
            let start = at;
            while bytes.get(at).copied().is_some_and(is_of_name) {
                at += 1;
            }
            let name = text.get(start..at).unwrap_or_default();
            let last = start.checked_sub(1).and_then(|last| bytes.get(last)).copied().unwrap_or(b' ');
            let is_marked = matches!(last, b'$' | b'{' | b'@');
            let is_own = last == b'.'
                && (text.get(..start).unwrap_or_default().ends_with("self.")
                    || text.get(..start).unwrap_or_default().ends_with("this."));
            let is_key = bytes.get(at) == Some(&b'=') && bytes.get(at + 1) != Some(&b'=')
                || bytes.get(at) == Some(&b':');
            let is_meant = match region {
                Region::Code => is_marked || (quote.is_none() && (last != b'.' || is_own) && !is_key),
                _ => is_marked,
            };
            return Some((start, name, is_meant));
        }
        None
    })
}
