//! Files that a search tool could read: those that its globs can match. A search may not read a file whose reading is denied.
#![expect(clippy::disallowed_methods, reason = "looks through the folders that a search looks through")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_guard::admission::Reads;
use stockade_guard::admission::{Authorization, PathRequest};
use stockade_guard::policy::{Access, Caller};

use super::answer::{HookVerdict, ObjectionBasis};
use super::call::{Origin, ToolCall};
use super::judge::Agent;
use super::paths;
use super::wildcards::{Wildcards, is_glob};

/// Names of arguments with a glob for file names.
const GLOBS: &[&str] = &[
    "glob",
    "globs",
    "include",
    "includes",
    "include_pattern",
    "includePattern",
    "include_globs",
    "file_pattern",
    "filePattern",
    "glob_pattern",
    "globPattern",
];
const NAMES: &[&str] = &["pattern", "patterns", "query"];

/// Maximum number of examined names, approximate number of checked files, and number of those that are decided about like a
/// command, which takes longer.
const MAX_SEEN: usize = 100_000;
const MAX_ASKED: usize = 10_000;
const MAX_DECIDED: usize = 100;
/// Maximum number of globs in a search, and length of a glob.
const MAX_GLOBS: usize = 64;
const MAX_GLOB: usize = 1024;

impl Agent<'_> {
    /// Decides about a search: about the directories that it names, those in which its globs start, and the files that they
    /// could match.
    /// A search that only lists names reads no files.
    pub(super) fn look(&self, call: &ToolCall, tool: &str) -> Result<HookVerdict, String> {
        let lists = ["find", "ls"].contains(&tool);
        let mut globs = members(&call.input, GLOBS)?;
        if tool == "find" {
            globs.extend(members(&call.input, NAMES)?);
        }
        let named = paths::among(&call.input)?;
        let named: Vec<&str> =
            named.iter().map(String::as_str).filter(|path| !globs.contains(path)).collect();
        let (patterns, named): (Vec<&str>, Vec<&str>) = named.into_iter().partition(|path| is_glob(path));
        let folders = if named.is_empty() || tool == "read" { vec![HERE] } else { named.clone() };
        let globs = globs.iter().flat_map(|glob| folders.iter().map(|folder| (*folder, *glob)));
        let globs = globs.chain(patterns.into_iter().map(|pattern| (HERE, pattern))).collect();
        let named = if named.is_empty() { vec![HERE] } else { named };
        let reads = match (tool, lists) {
            (_, true) => Reads::Names,
            ("read", false) => Reads::File,
            _ => Reads::Tree,
        };
        self.search(call, tool, &Search { named, globs, reads })
    }

    /// Decides about files that are named, and about those that their names would match as globs.
    pub(super) fn read(&self, call: &ToolCall, tool: &str, files: &[String]) -> Result<HookVerdict, String> {
        let named: Vec<&str> = files.iter().map(String::as_str).collect();
        let globs = named.iter().filter(|path| is_glob(path)).map(|path| (HERE, *path)).collect();
        self.search(call, tool, &Search { named, globs, reads: Reads::File })
    }

    fn search(&self, call: &ToolCall, tool: &str, search: &Search<'_>) -> Result<HookVerdict, String> {
        let Search { named, globs, reads } = search;
        if globs.len() > MAX_GLOBS || globs.iter().any(|(_, glob)| glob.len() > MAX_GLOB) {
            return Err(format!("it has more than {MAX_GLOBS} globs, or one of more than {MAX_GLOB} bytes"));
        }
        let mut asked: Vec<String> = named.iter().map(|path| (*path).to_owned()).collect();
        let mut walks = Vec::new();
        for (folder, glob) in globs {
            let wildcards = match Wildcards::read(glob) {
                Ok(wildcards) => wildcards,
                Err(why) => {
                    return Ok(HookVerdict::Ask(format!("stockade: {why}, so the user has to agree").into()));
                }
            };
            asked.push(below(folder, if is_glob(glob) { wildcards.head } else { glob }));
            walks.push((below(folder, wildcards.head), wildcards));
        }
        let said = self.reads(call, tool, *reads, &asked)?;
        // While the hook observes, a search elsewhere may still read what no rule can allow.
        let is_over = !(self.observes(call) && said.basis() == Some(ObjectionBasis::Rules));
        if said != HookVerdict::Silent && is_over || *reads == Reads::Names {
            return Ok(said);
        }
        let mut budget = Budget { seen: MAX_SEEN, asked: MAX_ASKED, decided: MAX_DECIDED };
        for (folder, wildcards) in &walks {
            match self.denied_below(call, tool, folder, wildcards, &mut budget)? {
                Reached::Nothing => {}
                Reached::TooMuch => {
                    return Ok(HookVerdict::Ask(format!(
                        "stockade: {folder} has too many files to check whether this would read a denied one; \
                         search a subdirectory"
                    ).into()));
                }
                Reached::Denied(path, why) => {
                    return Ok(HookVerdict::Ask(
                        format!("{why}; this search would also read {path}: narrow it").into(),
                    ));
                }
            }
        }
        Ok(said)
    }

    /// Finds a file below a directory that a glob could match and that may not be read.
    fn denied_below(
        &self,
        call: &ToolCall,
        tool: &str,
        folder: &str,
        glob: &Wildcards<'_>,
        budget: &mut Budget,
    ) -> Result<Reached, String> {
        let base = call.origin.workspace.join(paths::asked(&call.origin, folder));
        let mut folders = vec![base.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                // The harness cannot read missing or inaccessible files either.
                Err(error) if is_nothing(&error) => continue,
                Err(error) => return Err(format!("{}: {error}", folder.display())),
            };
            for entry in entries {
                let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
                let (path, kind) = (entry.path(), entry.file_type().map_err(|error| error.to_string())?);
                if !budget.sees() {
                    return Ok(Reached::TooMuch);
                }
                if kind.is_dir() {
                    folders.push(path);
                    continue;
                }
                let below = path.strip_prefix(&base).unwrap_or(&path).to_string_lossy();
                let is_passed = kind.is_symlink() && glob.could_pass(&below);
                if !is_passed && !glob.could_match(&below) {
                    continue;
                }
                if !budget.asks() {
                    return Ok(Reached::TooMuch);
                }
                if self.may_read(&call.origin, tool, &path)? {
                    continue;
                }
                if !budget.decides() {
                    return Ok(Reached::TooMuch);
                }
                let path = path.to_string_lossy().into_owned();
                // What lies behind a link is not walked.
                if is_passed {
                    let why = format!("stockade: the link {path} leads out of the workspace");
                    return Ok(Reached::Denied(path, why));
                }
                match self.reads(call, tool, Reads::File, std::slice::from_ref(&path))? {
                    HookVerdict::Deny(why) | HookVerdict::Ask(why) => {
                        return Ok(Reached::Denied(path, why.text));
                    }
                    _ => {}
                }
            }
        }
        Ok(Reached::Nothing)
    }

    /// Whether the file tools of the agent may read a file. Not recorded as a decision, since the call does not name the file.
    fn may_read(&self, origin: &Origin, tool: &str, path: &Path) -> Result<bool, String> {
        let path: PathBuf = paths::from_workspace(origin, path);
        let request = PathRequest { tool, access: Access::Read, path: &path, caller: Caller::default() };
        let answer =
            self.session.with_paths(|paths| matches!(paths.authorize(&request), Authorization::Granted(_)));
        answer.map_err(|error| error.to_string())
    }
}

fn is_nothing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

/// Resolves a path as a search tool does.
fn below(folder: &str, path: &str) -> String {
    match path.starts_with(['/', '~']) || path.starts_with("file://") {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    }
}

/// Directory of a search without one.
const HERE: &str = ".";

/// Targets of a search.
#[derive(Debug)]
struct Search<'s> {
    /// Paths that it names.
    named: Vec<&'s str>,
    /// Globs for its files, with the directory in which they start.
    globs: Vec<(&'s str, &'s str)>,
    /// What it reads of the paths that it names.
    reads: Reads,
}

/// Result of examining the files of a search.
#[derive(Debug)]
enum Reached {
    Nothing,
    /// Too many files to examine.
    TooMuch,
    /// A file that may not be read, and why.
    Denied(String, String),
}

/// Remaining budget of a search.
#[derive(Debug)]
struct Budget {
    seen: usize,
    asked: usize,
    decided: usize,
}

impl Budget {
    fn sees(&mut self) -> bool {
        self.seen = self.seen.saturating_sub(1);
        self.seen > 0
    }

    fn decides(&mut self) -> bool {
        self.decided = self.decided.saturating_sub(1);
        self.decided > 0
    }

    fn asks(&mut self) -> bool {
        self.asked = self.asked.saturating_sub(1);
        self.asked > 0
    }
}

/// Returns the texts of these members: each a string or a list of strings.
fn members<'v>(input: &'v Value, names: &[&str]) -> Result<Vec<&'v str>, String> {
    let mut found = Vec::new();
    for name in names {
        match input.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => found.push(text.as_str()),
            Some(Value::Array(all)) => {
                for one in all {
                    found.push(one.as_str().ok_or_else(|| format!("`{name}` is not a string"))?);
                }
            }
            Some(_) => return Err(format!("`{name}` is not a string")),
        }
    }
    found.retain(|glob| !glob.is_empty());
    Ok(found)
}
