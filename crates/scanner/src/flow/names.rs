//! Names of a program, and their contents.

use std::collections::HashMap;
use std::ops::Range;

use arrayvec::ArrayVec;

use super::contents::Contents;
use super::hashed::hashed;
use super::paths::{named, words};
use super::set::{function, set_by};
use super::sources::{ADDRESS, DERIVES_KEYS, ENCODES, Source, each_source, is_secret};
use super::statements::is_cut;
use super::uses::{
    is_elsewhere, is_member, is_of_environment, is_of_project, is_only_used, is_query, is_said, is_scratch,
    picked, picks_a_value, shows_who_asks,
};
use super::{Inflow, Inflows};
use crate::prefilter::byte_set::ByteSet;
use crate::rule::Region;

/// Maximum number of tracked names of a program.
const MAX_NAMES: usize = 512;
/// Maximum number of tracked arguments of a function.
pub(super) const MAX_ARGUMENTS: usize = 8;
/// The names of a program so far.
pub(super) struct Names<'p> {
    region: Region,
    /// Contents of global names, and return values of functions.
    contents: HashMap<&'p str, Contents<'p>>,
    /// Contents of names in the current function.
    local: HashMap<&'p str, Contents<'p>>,
    functions: HashMap<&'p str, Function<'p>>,
    /// The current function.
    function: Option<&'p str>,
    /// Whether any name has contents.
    has_contents: bool,
    /// Contents of names beyond the limit: an unknown name may be any of them.
    overflow: Contents<'p>,
    /// Contents of the previous statement if it was cut: this one continues it.
    begun: Option<Contents<'p>>,
}

/// A function, and the observed contents of its arguments.
#[derive(Default)]
struct Function<'p> {
    arguments: ArrayVec<&'p str, MAX_ARGUMENTS>,
    given: Contents<'p>,
}

/// What a statement has, as far as it is found.
struct Found<'p, 'f> {
    open: Contents<'p>,
    /// What leaves the statement only as a hash or a signature.
    hashed: Contents<'p>,
    parts: &'f [Range<usize>],
}

impl<'p> Found<'p, '_> {
    /// Where what is found at this offset belongs.
    fn at(&mut self, at: usize) -> &mut Contents<'p> {
        let is_hashed = self.parts.iter().any(|part| part.contains(&at));
        if is_hashed { &mut self.hashed } else { &mut self.open }
    }

    /// A hash of a secret does not reveal it; that of a file may still tell which one it is.
    fn together(mut self) -> Contents<'p> {
        if !self.parts.is_empty() {
            self.hashed.secrets.clear();
            self.hashed.flows = self.hashed.flows.without(Inflow::EncodedSecret);
            self.open.add(&self.hashed);
        }
        self.open
    }
}

impl<'p> Names<'p> {
    pub(super) fn new(region: Region) -> Self {
        Self {
            region,
            contents: HashMap::new(),
            local: HashMap::new(),
            functions: HashMap::new(),
            function: None,
            has_contents: false,
            overflow: Contents::default(),
            begun: None,
        }
    }

    /// Restarts at the first statement, keeping what is known.
    pub(super) fn begin_again(&mut self) {
        self.function = None;
        self.local.clear();
        self.begun = None;
    }

    /// Whether no name ever had contents.
    pub(super) fn hold_nothing(&self) -> bool {
        !self.has_contents
    }

    /// Reads a statement: returns its inflows, and updates its names.
    pub(super) fn read(&mut self, program: &'p str, statement: &Range<usize>) -> Inflows {
        let Some(text) = program.get(statement.clone()) else { return Inflows::NONE };
        self.enter(text);
        let begun = self.begun.take();
        let mut contents = self.collect(text, begun.clone(), &[]);
        let may_be_hashed = !contents.secrets.is_empty() || contents.flows.contains(Inflow::EncodedSecret);
        if may_be_hashed {
            let parts = hashed(text, self.region);
            if !parts.is_empty() {
                contents = self.collect(text, begun, &parts);
            }
        }
        let is_secret = contents.flows.has_any_of(SECRETS) || !contents.secrets.is_empty();
        // Cryptography libraries receive key material from a program's settings.
        let is_setting = contents.flows.contains(Inflow::Setting) && !DERIVES_KEYS.is_match(text);
        if (is_secret || is_setting) && ENCODES.is_match(text) {
            contents.flows = contents.flows.with(Inflows::of(&[Inflow::EncodedSecret]));
        }
        // Most statements have no address, which is cheaper to see than to search for one.
        let is_addressed = memchr::memmem::find(text.as_bytes(), b"://").is_some();
        let addresses = is_addressed.then(|| ADDRESS.find_iter(text));
        for found in addresses.into_iter().flatten() {
            let host = text.get(found).and_then(|address| address.rsplit(['/', '@']).next()).unwrap_or("");
            contents.keep_host(host);
        }
        if !contents.is_nothing() {
            // A name that holds only a host carries no data.
            self.has_contents |= !contents.flows.is_empty() || !contents.secrets.is_empty();
            self.assign(text, &contents);
        }
        let flows = contents.flows_at_sink();
        self.begun = is_cut(statement).then_some(contents);
        flows
    }

    /// Returns what a statement has, of which some parts leave it only as a hash.
    fn collect(&self, text: &'p str, begun: Option<Contents<'p>>, hashed: &[Range<usize>]) -> Contents<'p> {
        let mut found = Found { open: begun.unwrap_or_default(), hashed: Contents::default(), parts: hashed };
        self.add_sources(text, &mut found);
        self.add_files(text, &mut found);
        self.add_names(text, &mut found);
        found.together()
    }

    /// Tracks where a function begins and ends: at a statement that is not indented.
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

    /// Returns the contents of a name that is read.
    fn known(&self, name: &str) -> Option<&Contents<'p>> {
        let known = self.local.get(name).or_else(|| self.contents.get(name));
        known.or_else(|| (!self.overflow.is_nothing()).then_some(&self.overflow))
    }

    fn add_sources(&self, text: &'p str, into: &mut Found<'p, '_>) {
        each_source(text, |source, found| match source {
            Source::Inflow(flow) => {
                let contents = into.at(found.start);
                contents.flows = contents.flows.with(Inflows::of(&[flow]));
                contents.is_of_machine |= flow == Inflow::SecretFile;
            }
            Source::Variable => {
                let matched = text.get(found.clone()).unwrap_or_default();
                let name =
                    matched.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next();
                let name = name.unwrap_or_default();
                if is_secret(name) && !shows_who_asks(text, found.start) {
                    into.at(found.start).keep_secret(name);
                }
            }
        });
    }

    fn add_files(&self, text: &'p str, into: &mut Found<'p, '_>) {
        for (at, word) in words(text) {
            // Most words name nothing. The dearer questions about how a word is used come last.
            let mut flows = named(word, self.region);
            let known = self.known(word);
            if flows.is_empty() && known.is_none() {
                continue;
            }
            let is_no_path = match self.region {
                Region::Code => is_said(text, at) || is_member(text, at, word),
                _ => is_query(text, at, word),
            };
            if is_no_path {
                continue;
            }
            if flows.contains(Inflow::SecretFile) && is_of_project(word) && self.is_for_one(text, at) {
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
            let contents = into.at(at);
            contents.flows = contents.flows.with(flows);
            contents.is_of_machine |= flows.contains(Inflow::SecretFile) && !is_of_project(word);
            if let Some(known) = known {
                contents.add(known);
            }
        }
    }

    /// Whether a statement takes one value out of what is at `at`, or uses it to authenticate a request.
    fn is_for_one(&self, text: &str, at: usize) -> bool {
        self.region != Region::Code && picks_a_value(text) || shows_who_asks(text, at)
    }

    fn add_names(&self, text: &'p str, into: &mut Found<'p, '_>) {
        if self.contents.is_empty() && self.local.is_empty() && self.overflow.is_nothing() {
            return;
        }
        for (at, name, is_meant) in identifiers(text, self.region) {
            let Some(known) = self.known(name).filter(|_| is_meant) else { continue };
            let contents = into.at(at);
            if known.flows.contains(Inflow::SecretFile) && !known.is_of_machine && self.is_for_one(text, at) {
                contents.add(&Contents { flows: picked(known.flows), ..known.clone() });
                continue;
            }
            let is_variable = known.flows.is_empty() && !known.secrets.is_empty();
            let is_setting = known.flows.contains(Inflow::Setting)
                && known.flows.without(Inflow::Setting).without(Inflow::EncodedSecret).is_empty();
            if (is_variable || is_setting) && shows_who_asks(text, at) {
                continue;
            }
            contents.add(known);
        }
    }

    /// Assigns contents to the names that a statement sets.
    fn assign(&mut self, text: &'p str, contents: &Contents<'p>) {
        for name in set_by(text, self.region) {
            self.give(name, contents);
        }
        if text.trim_start().starts_with("return")
            && let Some(function) = self.function
        {
            give(&mut self.contents, &mut self.overflow, function, contents);
        }
        if contents.flows.is_empty() && contents.secrets.is_empty() {
            return;
        }
        if self.region != Region::Code {
            for (_, word) in words(text).filter(|(_, word)| is_scratch(word)) {
                self.give(word, contents);
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
                called.given.add(contents);
            }
        }
    }

    fn give(&mut self, name: &'p str, contents: &Contents<'p>) {
        match self.function {
            Some(_) => give(&mut self.local, &mut self.overflow, name, contents),
            None => give(&mut self.contents, &mut self.overflow, name, contents),
        }
    }
}

/// Stores the contents of a name, or, beyond the limit, of some name.
fn give<'p>(
    names: &mut HashMap<&'p str, Contents<'p>>,
    overflow: &mut Contents<'p>,
    name: &'p str,
    contents: &Contents<'p>,
) {
    let mut contents = contents.clone();
    // The name of a file belongs to the statement that contains it.
    contents.flows = contents.flows.without(Inflow::StartupFile).without(Inflow::AgentFile);
    // A secret in a variable named after a header is used for authentication.
    let lower = name.to_ascii_lowercase();
    if ["header", "auth", "client", "session", "cookie"].iter().any(|word| lower.contains(word)) {
        contents.secrets.clear();
    }
    if contents.is_nothing() {
        return;
    }
    if names.len() < MAX_NAMES || names.contains_key(name) {
        names.entry(name).or_default().add(&contents);
    } else if !contents.flows.is_empty() || !contents.secrets.is_empty() {
        overflow.add(&contents);
    }
}

/// Inflows that come from files.
const OF_FILES: Inflows = Inflows::of(&[Inflow::SecretFile, Inflow::Setting]);

/// Data that is secret from every recipient.
const SECRETS: Inflows = Inflows::of(&[Inflow::SecretFile, Inflow::Environment]);

/// Returns the words of a statement that can be names, with their offsets, and whether they are used as names: in a
/// quoted string and in a shell only marked ones are.
fn identifiers(text: &str, region: Region) -> impl Iterator<Item = (usize, &str, bool)> {
    let bytes = text.as_bytes();
    let is_of_name = |byte: u8| ByteSet::WORD.contains(byte);
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
