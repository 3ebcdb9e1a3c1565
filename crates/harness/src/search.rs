//! What a tool reads that is given globs, or looks through folders: the files that its globs could match, since what a read of a
//! file is denied no search may read.
#![expect(clippy::disallowed_methods, reason = "looks through the folders that a search looks through")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_guard::admission::{Authorization, PathRequest};
use stockade_guard::policy::{Access, Caller};

use super::answer::HookVerdict;
use super::call::{Origin, ToolCall};
use super::judge::Agent;
use super::paths;
use super::wildcards::{Wildcards, is_glob};

/// What tools call a glob among their arguments: which files a search looks into, or which names it lists.
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

/// How many names are looked at, and about how many files it is asked.
const MAX_SEEN: usize = 100_000;
const MAX_ASKED: usize = 10_000;
/// How many globs a search may have, and how long one may be.
const MAX_GLOBS: usize = 64;
const MAX_GLOB: usize = 1024;

impl Agent<'_> {
    /// Decides on a search: on the folders that it names, on those that its globs begin in, and on the files that they could match.
    /// One that lists names alone reads no files.
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
        self.search(call, tool, &Search { named, globs, reads: !lists })
    }

    /// Decides on files that are read as they are named, and on what their names would match if they were globs.
    pub(super) fn read(&self, call: &ToolCall, tool: &str, files: &[String]) -> Result<HookVerdict, String> {
        let named: Vec<&str> = files.iter().map(String::as_str).collect();
        let globs = named.iter().filter(|path| is_glob(path)).map(|path| (HERE, *path)).collect();
        self.search(call, tool, &Search { named, globs, reads: true })
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
                    return Ok(HookVerdict::Ask(format!("stockade: {why}, so a person has to look at it")));
                }
            };
            asked.push(below(folder, if is_glob(glob) { wildcards.head } else { glob }));
            walks.push((below(folder, wildcards.head), wildcards));
        }
        let said = self.paths(call, tool, Access::Read, &asked)?;
        if said != HookVerdict::Silent || !*reads {
            return Ok(said);
        }
        let mut budget = Budget { seen: MAX_SEEN, asked: MAX_ASKED };
        for (folder, wildcards) in &walks {
            match self.denied_below(&call.origin, tool, folder, wildcards, &mut budget)? {
                Reached::Nothing => {}
                Reached::TooMuch => {
                    return Ok(HookVerdict::Ask(format!(
                        "stockade: there is too much below {folder} to see whether this reads what must not be read; name a folder"
                    )));
                }
                Reached::Denied(path) => {
                    let why = match self.paths(call, tool, Access::Read, std::slice::from_ref(&path))? {
                        HookVerdict::Deny(why) | HookVerdict::Ask(why) => why,
                        _ => "stockade: it has changed meanwhile".to_owned(),
                    };
                    return Ok(HookVerdict::Ask(format!(
                        "{why}; this would read {path} with others: name fewer files"
                    )));
                }
            }
        }
        Ok(HookVerdict::Silent)
    }

    /// Looks for a file below a folder that a glob could match and that must not be read.
    fn denied_below(
        &self,
        origin: &Origin,
        tool: &str,
        folder: &str,
        glob: &Wildcards<'_>,
        budget: &mut Budget,
    ) -> Result<Reached, String> {
        let base = origin.workspace.join(paths::asked(origin, folder));
        let mut folders = vec![base.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                // Neither can the harness read what is not there or not open to this user.
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
                let is_reached = glob.could_match(&below) || kind.is_symlink() && glob.could_pass(&below);
                if !is_reached {
                    continue;
                }
                if !budget.asks() {
                    return Ok(Reached::TooMuch);
                }
                if !self.may_read(origin, tool, &path)? {
                    return Ok(Reached::Denied(path.to_string_lossy().into_owned()));
                }
            }
        }
        Ok(Reached::Nothing)
    }

    /// Whether a file may be read, which is no decision to put on record: nobody has named it.
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

/// A path as a tool finds it that looks below a folder.
fn below(folder: &str, path: &str) -> String {
    match path.starts_with(['/', '~']) || path.starts_with("file://") {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    }
}

/// The folder that a tool begins in where it is told none.
const HERE: &str = ".";

/// What a tool looks for, as it was told to.
#[derive(Debug)]
struct Search<'s> {
    /// What it names as it is.
    named: Vec<&'s str>,
    /// What its files match, with the folder that this begins in.
    globs: Vec<(&'s str, &'s str)>,
    /// Whether it reads what it comes upon, and does not list it alone.
    reads: bool,
}

/// What a search comes upon.
#[derive(Debug)]
enum Reached {
    Nothing,
    /// More than can be looked at.
    TooMuch,
    /// A file that must not be read.
    Denied(String),
}

/// How much is looked at yet.
#[derive(Debug)]
struct Budget {
    seen: usize,
    asked: usize,
}

impl Budget {
    fn sees(&mut self) -> bool {
        self.seen = self.seen.saturating_sub(1);
        self.seen > 0
    }

    fn asks(&mut self) -> bool {
        self.asked = self.asked.saturating_sub(1);
        self.asked > 0
    }
}

/// The texts of these members: each a text or a list of some.
fn members<'v>(input: &'v Value, names: &[&str]) -> Result<Vec<&'v str>, String> {
    let mut found = Vec::new();
    for name in names {
        match input.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => found.push(text.as_str()),
            Some(Value::Array(all)) => {
                for one in all {
                    found.push(one.as_str().ok_or_else(|| format!("`{name}` is no glob"))?);
                }
            }
            Some(_) => return Err(format!("`{name}` is no glob")),
        }
    }
    found.retain(|glob| !glob.is_empty());
    Ok(found)
}
