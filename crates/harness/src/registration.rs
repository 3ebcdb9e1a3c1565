//! Installation of hooks in the settings of a harness, and their removal.
#![expect(clippy::disallowed_methods, reason = "reads, makes and removes settings of other programs")]

use std::fmt;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stockade_files::{KeptFile, KeptFileError};
use stockade_text::escape_path;

use super::json_edit::{self, Edited, Insertion, MAX_SETTINGS};
use super::line::line;
use super::mcp_servers::{ServersFile, servers_file};
use super::own_entries::{self, Entry, element, entries, hook_of, is_own_file, names_stockade, own_text};
use super::table::TIMEOUT;
use super::{Harness, HookRegistration, Manual, Moment, OwnFile, OwnForm, SettingsFile, heartbeat};
use stockade_guard::command::shell::quote_argv;

/// Scope of settings: a user in all projects, or all users of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingsScope {
    /// Settings of one user, for all projects.
    User,
    /// The settings of a project.
    Project,
}

impl fmt::Display for SettingsScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

/// Where the settings of users, projects and the machine are.
#[derive(Debug, Clone)]
pub struct SettingsFolders {
    /// The user's home directory.
    pub home: PathBuf,
    /// The project's directory.
    pub project: PathBuf,
    /// Root of the machine's settings.
    pub system: PathBuf,
}

impl SettingsFolders {
    /// Returns the directory of a scope.
    pub fn of(&self, scope: SettingsScope) -> &Path {
        match scope {
            SettingsScope::User => &self.home,
            SettingsScope::Project => &self.project,
        }
    }
}

/// Why nothing was written, and the fix.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong.
    pub why: String,
    /// The fix; empty if unknown.
    pub fix: String,
}

fn refused(path: &Path, why: impl fmt::Display, fix: impl Into<String>) -> Refused {
    Refused { why: format!("{}: {why}", escape_path(path)), fix: fix.into() }
}

/// Old and new content of a file; `None` if it does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsChange {
    /// The file.
    pub path: PathBuf,
    /// Its content before the change; `None` if it does not exist.
    pub before: Option<String>,
    /// Its content after the change; `None` if it is removed.
    pub after: Option<String>,
    /// The inserted texts.
    insertions: Vec<Insertion>,
}

impl SettingsChange {
    /// Whether the file stays unchanged.
    pub fn is_none(&self) -> bool {
        self.before == self.after
    }
}

/// What was written, to remove exactly that.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    path: PathBuf,
    /// Whether the file was created.
    made: bool,
    /// Directories that were created for it, the outermost first.
    folders: Vec<PathBuf>,
    insertions: Vec<(usize, String)>,
}

impl Kept {
    fn insertions(&self) -> impl Iterator<Item = Insertion> {
        self.insertions.iter().map(|(at, text)| Insertion { at: *at, text: text.clone() })
    }
}

/// Returns the file in which hooks are registered.
pub fn file(harness: &Harness, places: &SettingsFolders, scope: SettingsScope) -> Result<PathBuf, Refused> {
    let name = match (harness.registered, scope) {
        (HookRegistration::Own(OwnFile { user: "", .. }), SettingsScope::User) => {
            return Err(Refused {
                why: format!("{} reads hooks from projects only", harness.title),
                fix: format!("in each project: stockade install {} --project", harness.name),
            });
        }
        (
            HookRegistration::Settings(SettingsFile { user, .. })
            | HookRegistration::Own(OwnFile { user, .. }),
            SettingsScope::User,
        ) => user,
        (
            HookRegistration::Settings(SettingsFile { project, .. })
            | HookRegistration::Own(OwnFile { project, .. }),
            _,
        ) => project,
        (HookRegistration::ByHand(manual), _) => {
            let program = super::rewrite::program().unwrap_or_else(|_| "stockade".to_owned());
            return Err(Refused {
                why: format!("the settings of {} are not written by this program", harness.title),
                fix: by_hand(harness, manual, &line(harness, Moment::Before, &program)),
            });
        }
    };
    Ok(places.of(scope).join(name))
}

/// Returns the manual steps that register a line.
fn by_hand(harness: &Harness, manual: Manual, line: &str) -> String {
    let event = harness.before();
    let json = |line: &str| Value::from(line).to_string();
    let (lines, file) = match manual {
        Manual::Line(how) => return format!("{how}{line}"),
        Manual::Toml(file) => {
            let hook = [
                "[[hooks]]".to_owned(),
                format!("event = \"{event}\""),
                // A string of JSON is one of TOML and of YAML, too.
                format!("command = {}", json(line)),
                format!("timeout = {TIMEOUT}"),
            ];
            (hook, file)
        }
        Manual::Yaml(file) => {
            let words = quote_argv(["sh", "-c", line]);
            let hook = [
                "hooks:".to_owned(),
                format!("  {event}:"),
                format!("    - command: {}", json(&words)),
                format!("      timeout: {TIMEOUT}"),
            ];
            (hook, file)
        }
    };
    let lines = lines.iter().map(String::as_str);
    format!("{} >> {file}", quote_argv(["printf", "%s\\n"].into_iter().chain(lines)))
}

/// Returns the change that installs the hooks.
pub fn install(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    program: &str,
) -> Result<SettingsChange, Refused> {
    let path = file(harness, places, scope)?;
    looked_at(places.of(scope), &path)?;
    let before = read(&path)?;
    let after = match harness.registered {
        HookRegistration::Settings(settings) => {
            only_one(harness, &settings, places, scope)?;
            with_hooks(harness, &settings, &path, before.as_deref(), program)?
        }
        HookRegistration::Own(own) => {
            if let Some(text) = before.as_deref().filter(|text| !is_own_file(harness, own, text)) {
                let first: String = text.lines().next().unwrap_or_default().chars().take(80).collect();
                let why = format!("it was not written by stockade, and starts with `{first}`");
                return Err(refused(&path, why, "move it away, or have it call `stockade hook` itself"));
            }
            Edited { text: own_text(harness, own, program), insertions: Vec::new() }
        }
        HookRegistration::ByHand(_) => {
            return Err(refused(&path, "these settings have to be edited by hand", ""));
        }
    };
    let Edited { text, insertions } = after;
    Ok(SettingsChange { path, before, after: Some(text), insertions })
}

/// Returns the change that removes the hooks.
pub fn uninstall(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
) -> Result<SettingsChange, Refused> {
    let path = file(harness, places, scope)?;
    looked_at(places.of(scope), &path)?;
    let before = read(&path)?;
    let after = match (&before, harness.registered) {
        (None, _) => None,
        (Some(text), HookRegistration::Settings(settings)) => without_hooks(harness, &settings, &path, text)?,
        (Some(text), HookRegistration::Own(own)) if is_own_file(harness, own, text) => None,
        (Some(text), _) => Some(text.clone()),
    };
    Ok(SettingsChange { path, before, after, insertions: Vec::new() })
}

/// Returns the change that wraps or unwraps the MCP servers of a harness, and the settings that were read.
pub fn servers(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    edit: impl FnOnce(&ServersFile, &str) -> Result<String, String>,
) -> Result<SettingsChange, Refused> {
    let path = servers_path(harness, places, scope)?;
    looked_at(places.of(scope), &path)?;
    let before = read(&path)?;
    let file = servers_file(harness);
    let after = match (&before, file) {
        (Some(text), Some(file)) if !text.trim().is_empty() => {
            let wrong = |why: String| {
                refused(&path, why, "fix the syntax; `python3 -m json.tool` shows the position")
            };
            Some(edit(file, text).map_err(wrong)?)
        }
        _ => before.clone(),
    };
    Ok(SettingsChange { path, before, after, insertions: Vec::new() })
}

/// Returns where a harness has its servers.
pub fn servers_path(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
) -> Result<PathBuf, Refused> {
    let by_hand = |why: String| Refused {
        why,
        fix: "put `stockade mcp wrap --name NAME --` in front of the program of each server by hand"
            .to_owned(),
    };
    let file = servers_file(harness).ok_or_else(|| {
        by_hand(format!("the servers of {} are not written by this program", harness.title))
    })?;
    let name = match scope {
        SettingsScope::User => file.user,
        SettingsScope::Project => file
            .project
            .ok_or_else(|| by_hand(format!("{} is not known to keep servers in a project", harness.title)))?,
    };
    Ok(places.of(scope).join(name))
}

/// Writes a change of servers. Stored data about hooks in the same file is kept.
pub fn apply_servers(change: &SettingsChange) -> Result<(), Refused> {
    let SettingsChange { path, before, after, .. } = change;
    replace(path, |found| match found == before.as_deref() {
        true => Ok(after.clone()),
        false => Err("it has changed meanwhile".to_owned()),
    })
    .map_err(|error| refused(path, error, "nothing was changed"))
}

/// Writes a change. The file is replaced atomically, and only if it was not changed in the meantime.
pub fn apply(harness: &Harness, change: &SettingsChange) -> Result<(), Refused> {
    let SettingsChange { path, before, after, insertions } = change;
    let failed = |error: &dyn fmt::Display| refused(path, error, "nothing was changed");
    match after {
        Some(after) => {
            let folders = make_folders(path).map_err(|error| failed(&error))?;
            note(change, folders).map_err(|error| failed(&error))?;
            replace(path, |found| match found == before.as_deref() {
                true => Ok(Some(after.clone())),
                false => Err("it has changed meanwhile".to_owned()),
            })
            .map_err(|error| failed(&error))?;
            if insertions.is_empty() && !matches!(harness.registered, HookRegistration::Own(_)) {
                forget(path);
            }
            set_mode(harness, path).map_err(|error| failed(&error))
        }
        None if before.is_some() => {
            if read(path)? != *before {
                return Err(failed(&"it has changed meanwhile"));
            }
            fs::remove_file(path).map_err(|error| failed(&error))?;
            forget(path);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Stores what is about to be inserted.
fn note(change: &SettingsChange, folders: Vec<PathBuf>) -> Result<(), String> {
    let SettingsChange { path, before, insertions, .. } = change;
    let insertions = insertions.iter().map(|one| (one.at, one.text.clone())).collect();
    // What was created for an earlier installation also belongs to this one.
    let older = account_of(path).filter(|_| before.is_some());
    let made = before.is_none() || older.as_ref().is_some_and(|older| older.made);
    let folders = older.map(|older| older.folders).into_iter().flatten().chain(folders).collect();
    let account = Kept { path: path.clone(), made, folders, insertions };
    let account = serde_json::to_string(&account).map_err(|error| error.to_string())?;
    let kept = kept_file(path).ok_or("HOME is not set, so the change cannot be stored")?;
    replace(&kept, |_| Ok(Some(account)))
}

/// Refuses a path with a symlink, and files of other users.
fn looked_at(base: &Path, path: &Path) -> Result<(), Refused> {
    let own = rustix::process::geteuid().as_raw();
    let mut place = base.to_path_buf();
    let below = path.strip_prefix(base).unwrap_or(path);
    for part in below.components() {
        let Component::Normal(part) = part else { continue };
        place.push(part);
        let found = match fs::symlink_metadata(&place) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(refused(&place, error, "")),
        };
        if found.is_symlink() {
            let fix = "replace the symlink by a file or directory, or register by hand in its target";
            return Err(refused(
                &place,
                "it is a symlink, and a user who can change it could replace the settings",
                fix,
            ));
        }
        if found.uid() != own {
            let why = format!("it belongs to the user {} and not to {own}", found.uid());
            return Err(refused(&place, why, "run this as its owner"));
        }
        if found.is_file() && found.nlink() > 1 {
            return Err(refused(
                &place,
                "it has another hard link, which would keep the old text",
                "replace it by a copy",
            ));
        }
    }
    Ok(())
}

/// Reads a settings file; `None` if it does not exist.
pub fn read(path: &Path) -> Result<Option<String>, Refused> {
    kept(path).read().map_err(|error| {
        let fix = match error {
            KeptFileError::OpenToOthers { fix } => format!("chmod {fix} {}", escape_path(path)),
            _ => format!("ls -l {}", escape_path(path)),
        };
        refused(path, error, fix)
    })
}

fn kept(path: &Path) -> KeptFile {
    KeptFile::new(path, u64::try_from(MAX_SETTINGS).unwrap_or(u64::MAX))
}

/// Replaces a file atomically. The lock is in Stockade's state directory, not beside the file.
fn replace(
    path: &Path,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>, String>,
) -> Result<(), String> {
    let state = heartbeat::folder().ok_or("HOME is not set, so the change cannot be stored")?;
    private(&state).map_err(|error| format!("{}: {error}", escape_path(&state)))?;
    let file = kept(path).locked_by(state.join("lock"));
    let changed = file.change(|text| change(text).map(|after| (after, ())));
    changed.map_err(|error| error.to_string())?
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates the directories of a file, and returns those that were missing.
fn make_folders(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = path.parent().unwrap_or(path);
    let mut missing: Vec<PathBuf> =
        folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    private(folder)?;
    Ok(missing)
}

fn set_mode(harness: &Harness, path: &Path) -> io::Result<()> {
    match harness.registered {
        HookRegistration::Own(OwnFile { form: OwnForm::Script, .. }) => {
            fs::set_permissions(path, Permissions::from_mode(0o700))
        }
        _ => Ok(()),
    }
}

/// Returns the file that stores what was inserted into a settings file.
fn kept_file(path: &Path) -> Option<PathBuf> {
    let name: String = path.to_str()?.chars().map(|c| if c == '/' { '%' } else { c }).collect();
    Some(heartbeat::folder()?.join(format!("{}.json", name.get(name.len().saturating_sub(200)..)?)))
}

/// Deletes the stored data about a removed file, and empty directories that were created for it.
fn forget(path: &Path) {
    let Some(account) = kept_file(path) else { return };
    if let Some(kept) = account_of(path) {
        for folder in kept.folders.iter().rev() {
            fs::remove_dir(folder).ok();
        }
    }
    fs::remove_file(account).ok();
}

fn account_of(path: &Path) -> Option<Kept> {
    let text = kept(&kept_file(path)?).read().ok()??;
    serde_json::from_str::<Kept>(&text).ok().filter(|kept| kept.path == path)
}

/// Refuses a second installation in another file of the harness: two hooks would ask twice, and their answers could differ.
fn only_one(
    harness: &Harness,
    settings: &SettingsFile,
    places: &SettingsFolders,
    scope: SettingsScope,
) -> Result<(), Refused> {
    for instead in settings.instead {
        let path = places.of(scope).join(instead);
        if path.exists() {
            let why = format!("{} reads hooks from here, and none from `{}`", harness.title, settings.user);
            return Err(refused(&path, why, "move its hooks to the settings, or register there by hand"));
        }
    }
    let other = if scope == SettingsScope::User { SettingsScope::Project } else { SettingsScope::User };
    let own =
        places.of(scope).join(if scope == SettingsScope::User { settings.user } else { settings.project });
    let beside = settings.beside.iter().map(|name| (places.of(scope).join(name), scope));
    let elsewhere = file(harness, places, other).map(|path| (path, other)).ok();
    for (path, whose) in beside.chain(elsewhere).filter(|(path, _)| *path != own) {
        let Ok(Some(text)) = read(&path) else { continue };
        let known = json_edit::read(&text).ok();
        if known.is_some_and(|known| {
            known.get(settings.root).is_some_and(|hooks| names_stockade(&hooks.to_string()))
        }) {
            let fix = match whose == scope {
                true => "remove the calls of stockade from it".to_owned(),
                false => format!("stockade uninstall {} --{whose}", harness.name),
            };
            return Err(refused(&path, "stockade is registered here already", fix));
        }
    }
    Ok(())
}

/// Returns the settings with the hooks, which replace those of earlier versions.
fn with_hooks(
    harness: &Harness,
    settings: &SettingsFile,
    path: &Path,
    text: Option<&str>,
    program: &str,
) -> Result<Edited, Refused> {
    let wrong = |why: String| refused(path, why, "fix the syntax; `python3 -m json.tool` shows the position");
    let text = text.unwrap_or_default();
    if text.trim().is_empty() {
        let new = json_edit::new_text(&fresh(harness, settings, program));
        let insertions = vec![Insertion { at: 0, text: new.clone() }];
        return Ok(Edited { text: format!("{new}{text}"), insertions });
    }
    let mut edited = Edited::new(text);
    let found = json_edit::read(text).map_err(wrong)?;
    if settings.version {
        edited.set(&["version"], &json!(1)).map_err(wrong)?;
    }
    for event in harness.events {
        let element = element(settings, &line(harness, event.moment, program), event.moment);
        let known = entries(found.get(settings.root).and_then(|hooks| hooks.get(event.name)));
        match known.as_slice() {
            [] => edited.push(&[settings.root, event.name], &element).map_err(wrong)?,
            [known] if *known == element => {}
            [known] if own_entries::entry(harness, settings, event.moment, known) == Entry::Older => {
                let left = without_hooks(harness, settings, path, text)?.unwrap_or_default();
                return with_hooks(harness, settings, path, Some(&left), program);
            }
            _ => {
                let fix = match known.iter().all(|entry| own_entries::is_ours(harness, hook_of(entry))) {
                    true => format!("stockade uninstall {}", harness.name),
                    false => {
                        "remove that hook from it by hand: stockade did not write it, so it is not changed"
                            .to_owned()
                    }
                };
                return Err(refused(
                    path,
                    format!("`{}.{}` already calls stockade in another way", settings.root, event.name),
                    fix,
                ));
            }
        }
    }
    Ok(edited)
}

fn fresh(harness: &Harness, settings: &SettingsFile, program: &str) -> Value {
    let hooks: Map<String, Value> = harness
        .events
        .iter()
        .map(|event| {
            (event.name.to_owned(), {
                let line = line(harness, event.moment, program);
                json!([element(settings, &line, event.moment)])
            })
        })
        .collect();
    match settings.version {
        true => json!({"version": 1, settings.root: hooks}),
        false => json!({ settings.root: hooks }),
    }
}

/// Returns the settings without the hooks: byte for byte the original ones, if they were not changed in the meantime.
fn without_hooks(
    harness: &Harness,
    settings: &SettingsFile,
    path: &Path,
    text: &str,
) -> Result<Option<String>, Refused> {
    let wrong = |why: String| refused(path, why, "fix the syntax, or remove the hooks by hand");
    let account = account_of(path).filter(|kept| !kept.insertions.is_empty());
    let put_in: Vec<Insertion> = account.iter().flat_map(Kept::insertions).collect();
    let mut left = match account {
        Some(_) => json_edit::taken_out(text, &put_in).unwrap_or_else(|| text.to_owned()),
        None => text.to_owned(),
    };
    if left.trim().is_empty() {
        let is_made = left.is_empty() && account.is_some_and(|kept| kept.made);
        return Ok((!is_made).then_some(left));
    }
    // Hooks without stored data, or changed since.
    for event in harness.events {
        let is_out = |hook: &Value| own_entries::is_ours(harness, hook);
        left = json_edit::without(&left, &[settings.root, event.name], "hooks", &is_out).map_err(wrong)?;
    }
    Ok(Some(left))
}
