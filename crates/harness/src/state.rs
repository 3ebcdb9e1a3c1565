//! State of a harness's hooks: registered hooks are started as the harness would start them, and have to refuse a test call.
#![expect(
    clippy::disallowed_methods,
    reason = "looks at settings of other programs, and whether a program can be executed"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use stockade_text::{Format, parse};

use super::json_edit::{self, MAX_SETTINGS};
use super::own_entries::{self, Entry, names_stockade};
use super::registration::{SettingsFolders, SettingsScope, read};
use super::replay::{Hook, Replayed, replay};
use super::{Harness, HookRegistration, Moment, OwnFile, OwnForm, Probe, SettingsFile, heartbeat, rewrite};

/// State of a harness's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The harness is not in use: it has no settings.
    NotUsed,
    /// No Stockade hook is registered.
    NotRegistered,
    /// A test call of every kind of tool was refused.
    Refuses {
        /// The file with the registration.
        file: PathBuf,
        /// When the harness last called its hook.
        seen: Option<SystemTime>,
    },
    /// A hook is registered, but a test call was not refused, or could not be made.
    Broken {
        /// What is wrong.
        why: String,
        /// The command that fixes it.
        fix: String,
    },
}

/// A hook of a settings file.
#[derive(Debug)]
struct Found {
    file: PathBuf,
    scope: SettingsScope,
    event: String,
    /// Which tools it is for; `None` for all.
    matcher: Option<String>,
    hook: Hook,
    /// The whole entry: the hook, or its group without others.
    entry: Value,
    /// Its position: the number of its group, and its own number within.
    at: (usize, usize),
}

fn broken(why: impl Into<String>, fix: impl Into<String>) -> State {
    State::Broken { why: why.into(), fix: fix.into() }
}

/// Directories below the home that show that a harness is in use, where its settings are in a directory of others.
const SIGNS: &[(&str, &[&str])] = &[
    ("antigravity", &[".gemini/antigravity", ".gemini/antigravity-cli", ".antigravity"]),
    ("crush", &[".config/crush", ".local/share/crush"]),
    ("goose", &[".config/goose"]),
    // Most users of the editor do not use its agent.
    ("vscode", &[]),
];

/// Checks a harness in the home directory and in a project.
pub fn look(harness: &Harness, places: &SettingsFolders) -> State {
    let state = match harness.registered {
        HookRegistration::Settings(settings) => settings_state(harness, &settings, places),
        HookRegistration::Own(own) => own_state(harness, own, places),
        HookRegistration::ByHand(_) => State::NotUsed,
    };
    let signs = SIGNS.iter().find(|(name, _)| *name == harness.name).map(|(_, signs)| *signs);
    match (state, signs) {
        (State::NotUsed | State::NotRegistered, Some(signs)) => {
            match signs.iter().any(|sign| places.home.join(sign).is_dir()) {
                true => State::NotRegistered,
                false => State::NotUsed,
            }
        }
        (state, _) => state,
    }
}

fn settings_state(harness: &Harness, settings: &SettingsFile, places: &SettingsFolders) -> State {
    let mut found = Vec::new();
    let mut is_used = false;
    for scope in [SettingsScope::User, SettingsScope::Project] {
        let own = if scope == SettingsScope::User { settings.user } else { settings.project };
        let folder = places.of(scope).join(own).parent().map(Path::to_owned);
        is_used |= folder.is_some_and(|folder| folder.is_dir());
        if scope == SettingsScope::Project && places.project == places.home {
            continue;
        }
        for name in [own].iter().chain(settings.beside) {
            let file = places.of(scope).join(name);
            let text = match read(&file) {
                Ok(Some(text)) if !text.trim().is_empty() => text,
                Ok(_) => continue,
                Err(refused) => return broken(refused.why, refused.fix),
            };
            let known = match json_edit::read(&text) {
                Ok(known) => known,
                Err(why) => {
                    let fix = format!("python3 -m json.tool {}", file.display());
                    return broken(format!("{}: {why}", file.display()), fix);
                }
            };
            if let Some(off) = switched_off(&known, settings.off) {
                let why =
                    format!("{} calls no hooks: `{off}` in {} turns them off", harness.title, file.display());
                return broken(why, format!("remove `{off}` from {}", file.display()));
            }
            found.extend(hooks_of(&known, settings.root, &file, scope));
        }
        if let Some(instead) =
            settings.instead.iter().map(|name| places.of(scope).join(name)).find(|path| path.exists())
        {
            let why = format!("{} reads hooks from {} alone", harness.title, instead.display());
            return broken(why, "move them to its settings, or register there by hand");
        }
    }
    if let Some((file, name)) = managed(settings, places) {
        let why =
            format!("{} calls no user hooks: `{name}` in {} disables them", harness.title, file.display());
        return broken(why, "ask the administrator of this machine to register stockade there");
    }
    found.retain(|one| names(&one.hook));
    match found.is_empty() {
        true if is_used => State::NotRegistered,
        true => State::NotUsed,
        false => replayed(harness, settings, places, &found),
    }
}

/// Makes test calls to every registered hook, for every kind of tool.
fn replayed(harness: &Harness, settings: &SettingsFile, places: &SettingsFolders, found: &[Found]) -> State {
    let again = format!("stockade uninstall {0}; stockade install {0}", harness.name);
    let file = found.first().map(|one| one.file.clone()).unwrap_or_default();
    for probe in harness.probes {
        let mut asked =
            found.iter().filter(|one| one.event == probe.event && is_for(one.matcher.as_deref(), probe.tool));
        let Some(one) = asked.next() else {
            let why = format!(
                "{} uses `{}` without asking: no hook in {} is for it",
                harness.title,
                probe.tool,
                file.display()
            );
            return broken(why, again);
        };
        if asked.next().is_some() {
            return broken(
                format!("{} calls stockade twice for `{}`", harness.title, probe.tool),
                format!(
                    "stockade uninstall {} --project (or --user), to keep one registration",
                    harness.name
                ),
            );
        }
        if let Err(why) = as_written(harness, settings, one) {
            let fix = match own_entries::is_ours(harness, own_entries::hook_of(&one.entry)) {
                true => again,
                false => {
                    format!("remove that hook from {}; stockade install {}", one.file.display(), harness.name)
                }
            };
            return broken(format!("{} has {why}", one.file.display()), fix);
        }
        if let Some(state) = refuses(harness, *probe, &one.hook, &places.project, &again) {
            return state;
        }
    }
    if let Some(untrusted) = found.iter().find_map(|one| untrusted(harness, places, one)) {
        return untrusted;
    }
    let seen = heartbeat::last(harness).map(|(at, _)| at);
    match settings.trust {
        Some(trust) if !is_newer(seen, &file) => broken(
            format!("{} has the hook, but has not called it since it was installed", harness.title),
            trust,
        ),
        _ => State::Refuses { file, seen },
    }
}

/// Refuses to test a hook that this program did not write. Other members may prevent a harness from calling it or waiting for
/// it, and hooks of a project are not run.
fn as_written(harness: &Harness, settings: &SettingsFile, one: &Found) -> Result<(), String> {
    match own_entries::entry(harness, settings, Moment::Before, &one.entry) {
        Entry::Ours(program) if one.scope == SettingsScope::User || is_this(&program) => Ok(()),
        Entry::Older => {
            Err("a hook of an earlier version, which allows calls that it cannot parse".to_owned())
        }
        Entry::Ours(_) => Err("a hook that was not written by this program, so it was not tested".to_owned()),
        Entry::Other(member) => Err(format!(
            "a hook that was not written by this program, so it was not tested: `{member}` differs"
        )),
    }
}

/// Whether a program is this one.
fn is_this(program: &str) -> bool {
    rewrite::program().is_ok_and(|own| own == program)
}

/// Returns `None` if a hook refuses as it must.
fn refuses(harness: &Harness, probe: Probe, hook: &Hook, folder: &Path, again: &str) -> Option<State> {
    let (title, tool) = (harness.title, probe.tool);
    match replay(harness, probe, hook, folder) {
        Replayed::Refused => None,
        Replayed::RefusedOtherwise(why) => Some(broken(format!("{title}, `{tool}`: {why}"), again)),
        Replayed::Open(why) => {
            Some(broken(format!("{title} would allow a call of `{tool}` that must be refused: {why}"), again))
        }
    }
}

/// Whether a hook was called since its file was written.
fn is_newer(seen: Option<SystemTime>, file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|found| found.modified()).ok();
    matches!((seen, written), (Some(seen), Some(written)) if seen >= written)
}

/// A harness skips hooks, or hooks of projects, that the user has not trusted.
fn untrusted(harness: &Harness, places: &SettingsFolders, found: &Found) -> Option<State> {
    let project = places.project.to_str().unwrap_or_default();
    let is_project = found.scope == SettingsScope::Project;
    match harness.name {
        "claude" if is_project => {
            let known = read(&places.home.join(".claude.json")).ok().flatten();
            let known = known.and_then(|text| json_edit::read(&text).ok());
            let trusted = known
                .as_ref()
                .and_then(|known| known.get("projects")?.get(project)?.get("hasTrustDialogAccepted"));
            (trusted != Some(&Value::Bool(true))).then(|| {
                let why = format!("{} calls no hooks of an untrusted project: {project}", harness.title);
                broken(why, "start `claude` there and trust the folder, or register with --user")
            })
        }
        "codex" => {
            let text = read(&places.home.join(".codex/config.toml")).ok().flatten().unwrap_or_default();
            let known = parse(&text, Format::Toml, MAX_SETTINGS).ok().map(|node| node.value.to_json());
            let key = format!("{}:pre_tool_use:{}:{}", found.file.display(), found.at.0, found.at.1);
            let hash = known
                .as_ref()
                .and_then(|known| known.get("hooks")?.get("state")?.get(&key)?.get("trusted_hash"));
            let level =
                known.as_ref().and_then(|known| known.get("projects")?.get(project)?.get("trust_level"));
            let is_trusted = hash.is_some_and(Value::is_string)
                && (!is_project || level.and_then(Value::as_str) == Some("trusted"));
            (!is_trusted && found.event == harness.before()).then(|| {
                let why = format!("{} skips the hook because it is not trusted", harness.title);
                broken(why, "run `codex`, type /hooks, and trust the hooks of stockade")
            })
        }
        _ => None,
    }
}

/// A matcher only counts for a tool if every harness would match it: they read patterns differently.
fn is_for(matcher: Option<&str>, tool: &str) -> bool {
    match matcher {
        None | Some("" | "*" | ".*") => true,
        Some(matcher) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-|".contains(c);
            matcher.chars().all(is_plain) && matcher.split('|').any(|name| name == tool)
        }
    }
}

/// Returns the setting that disables hooks, if there is one.
fn switched_off(settings: &Value, off: &'static [(&'static str, bool)]) -> Option<&'static str> {
    off.iter()
        .find(|(path, value)| member(settings, path) == Some(&Value::Bool(*value)))
        .map(|(path, _)| *path)
}

fn managed(settings: &SettingsFile, places: &SettingsFolders) -> Option<(PathBuf, &'static str)> {
    settings.managed.iter().find_map(|(file, name, value)| {
        let file = places.system.join(file);
        let known = json_edit::read(&fs::read_to_string(&file).ok()?).ok()?;
        (member(&known, name) == Some(&Value::Bool(*value))).then_some((file, *name))
    })
}

fn member<'v>(settings: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(settings, |found, name| found.get(name))
}

/// Returns every hook of a file, in groups or not.
fn hooks_of(settings: &Value, root: &str, file: &Path, scope: SettingsScope) -> Vec<Found> {
    if let Some(list) = settings.get(root).and_then(Value::as_array) {
        return list.iter().filter_map(|one| triggered(one, file, scope)).collect();
    }
    let mut found = Vec::new();
    let events = settings.get(root).and_then(Value::as_object);
    for (event, list) in events.into_iter().flatten() {
        for (group, one) in list.as_array().into_iter().flatten().enumerate() {
            let matcher = one.get("matcher").map(|matcher| matcher.as_str().unwrap_or("?").to_owned());
            let inner = one.get("hooks").and_then(Value::as_array);
            let hooks: Vec<&Value> = inner.map_or_else(|| vec![one], |hooks| hooks.iter().collect());
            for (index, whole) in hooks.into_iter().enumerate() {
                let Some(hook) = hook_of(whole) else { continue };
                let (file, event, matcher) = (file.to_owned(), event.clone(), matcher.clone());
                let entry = own_entries::alone(one, whole);
                found.push(Found { file, scope, event, matcher, hook, entry, at: (group, index) });
            }
        }
    }
    found
}

/// Returns a hook that has its event and its action beside each other.
fn triggered(one: &Value, file: &Path, scope: SettingsScope) -> Option<Found> {
    let event = one.get("trigger").and_then(Value::as_str)?.to_owned();
    let matcher = one.get("matcher").map(|matcher| matcher.as_str().unwrap_or("?").to_owned());
    let hook = hook_of(one.get("action")?).filter(|_| one.get("enabled") != Some(&Value::Bool(false)))?;
    Some(Found { file: file.to_owned(), scope, event, matcher, hook, entry: one.clone(), at: (0, 0) })
}

fn hook_of(hook: &Value) -> Option<Hook> {
    let text = |name: &str| hook.get(name).and_then(Value::as_str);
    if text("type").is_some_and(|kind| kind != "command") || hook.get("enabled") == Some(&Value::Bool(false))
    {
        return None;
    }
    let command = text("command").or_else(|| text("bash"))?.to_owned();
    match hook.get("args").and_then(Value::as_array) {
        Some(args) => {
            let args = args.iter().filter_map(Value::as_str).map(str::to_owned);
            Some(Hook::Program([command].into_iter().chain(args).collect()))
        }
        None => Some(Hook::Line(command)),
    }
}

fn names(hook: &Hook) -> bool {
    match hook {
        Hook::Line(line) => names_stockade(line),
        Hook::Program(words) => words.iter().any(|word| names_stockade(word)),
    }
}

fn own_state(harness: &Harness, own: OwnFile, places: &SettingsFolders) -> State {
    let again = format!("stockade install {}", harness.name);
    let mut is_used = false;
    for (scope, name) in [(SettingsScope::User, own.user), (SettingsScope::Project, own.project)] {
        let file = places.of(scope).join(name);
        let is_its_own = scope == SettingsScope::User || own.user.is_empty();
        is_used |= is_its_own && !name.is_empty() && file.ancestors().nth(2).is_some_and(Path::is_dir);
        if name.is_empty() {
            continue;
        }
        let text = match read(&file) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(refused) => return broken(refused.why, refused.fix),
        };
        for (settings, path, value) in own.off {
            let settings = places.home.join(settings);
            let known = read(&settings).ok().flatten().and_then(|text| json_edit::read(&text).ok());
            if known.is_some_and(|known| member(&known, path) == Some(&Value::Bool(*value))) {
                let why = format!("{} calls no hooks: `{path}` in {}", harness.title, settings.display());
                return broken(why, format!("remove `{path}` from {}", settings.display()));
            }
        }
        let fix = match own_entries::is_own_file(harness, own, &text) {
            true => again,
            false => format!("move {} away; {again}", file.display()),
        };
        return match own_entries::own_file(harness, own, &text) {
            // A module is not run here, so it has to contain the path of this program.
            Some(Entry::Ours(program)) if own.form.is_plugin() && is_this(&program) => {
                plugin_state(harness, file)
            }
            Some(Entry::Ours(program))
                if !own.form.is_plugin() && (scope == SettingsScope::User || is_this(&program)) =>
            {
                called(harness, own, file, &text, places)
            }
            Some(Entry::Older) => {
                let why = "is of an earlier version, which allows calls that it cannot parse";
                broken(format!("{} {why}", file.display()), fix)
            }
            _ => broken(
                format!("{} was not written by this program, so it was not tested", file.display()),
                fix,
            ),
        };
    }
    if is_used { State::NotRegistered } else { State::NotUsed }
}

/// Makes test calls to the hook of a hooks file, for every kind of tool.
fn called(harness: &Harness, own: OwnFile, file: PathBuf, text: &str, places: &SettingsFolders) -> State {
    use std::os::unix::fs::PermissionsExt as _;
    let again = format!("stockade install {}", harness.name);
    let is_program = own.form == OwnForm::Script;
    if is_program && fs::metadata(&file).is_ok_and(|found| found.permissions().mode() & 0o100 == 0) {
        return broken(
            format!("{} is not executable", file.display()),
            format!("chmod u+x {}", file.display()),
        );
    }
    let known = if is_program { Value::Null } else { json_edit::read(text).unwrap_or_default() };
    let found = hooks_of(&known, "hooks", &file, SettingsScope::User);
    let program = Hook::Program(vec![file.display().to_string()]);
    for probe in harness.probes {
        let hook = found.iter().find(|one| one.event == probe.event).map(|one| &one.hook);
        let Some(hook) = Some(&program).filter(|_| is_program).or(hook) else {
            return broken(format!("{} has no hook for `{}`", file.display(), probe.tool), again);
        };
        if let Some(state) = refuses(harness, *probe, hook, &places.project, &again) {
            return state;
        }
    }
    State::Refuses { file, seen: heartbeat::last(harness).map(|(at, _)| at) }
}

/// A module is not run here: its content is compared, and test calls go to the program that it names.
fn plugin_state(harness: &Harness, file: PathBuf) -> State {
    let seen = heartbeat::last(harness).map(|(at, _)| at);
    match is_newer(seen, &file) {
        true => State::Refuses { file, seen },
        false => broken(
            format!("{} has not loaded the plugin since it was installed", harness.title),
            format!("start {} once and have it use a tool", harness.name),
        ),
    }
}
