//! Whether a harness really asks before it uses a tool: what is registered is started as the harness would start it, and has to
//! refuse.
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
use super::ours::{self, Entry, names_stockade};
use super::registration::{SettingsFolders, SettingsScope, read};
use super::replay::{Hook, Replayed, replay};
use super::{Harness, HookRegistration, Moment, OwnFile, OwnForm, Probe, SettingsFile, beat, rewrite};

/// What was found out about the hooks of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is not used here: there is nothing to register with.
    NotUsed,
    /// Nothing of ours is registered.
    NotRegistered,
    /// A denial was made as the harness makes it, and was refused, for every kind of tool.
    Refuses {
        /// The file that registers it.
        file: PathBuf,
        /// When the harness called its hook last.
        seen: Option<SystemTime>,
    },
    /// Something is registered, and a tool would be used that must not be; or nobody can tell.
    Broken {
        /// What is wrong, in a sentence.
        why: String,
        /// The command that fixes it.
        fix: String,
    },
}

/// One hook of a file of settings.
#[derive(Debug)]
struct Found {
    file: PathBuf,
    scope: SettingsScope,
    event: String,
    /// Which tools it is for; nothing means all of them.
    matcher: Option<String>,
    hook: Hook,
    /// All of it: the hook, or its group with no other one in it.
    entry: Value,
    /// Where it stands: the number of its group, and its own within that.
    at: (usize, usize),
}

fn broken(why: impl Into<String>, fix: impl Into<String>) -> State {
    State::Broken { why: why.into(), fix: fix.into() }
}

/// Looks at a harness at home and in a project.
pub fn look(harness: &Harness, places: &SettingsFolders) -> State {
    match harness.registered {
        HookRegistration::Settings(settings) => settings_state(harness, &settings, places),
        HookRegistration::Own(own) => own_state(harness, own, places),
        HookRegistration::ByHand(_) => State::NotUsed,
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
                return broken(why, format!("take `{off}` out of {}", file.display()));
            }
            found.extend(hooks_of(&known, &file, scope));
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
            format!("{} calls no hooks of yours: `{name}` in {} says so", harness.title, file.display());
        return broken(why, "ask whoever manages this machine to register stockade there");
    }
    found.retain(|one| names(&one.hook));
    match found.is_empty() {
        true if is_used => State::NotRegistered,
        true => State::NotUsed,
        false => replayed(harness, settings, places, &found),
    }
}

/// Asks every registered hook, for every kind of tool.
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
                format!("{} asks stockade twice about `{}`", harness.title, probe.tool),
                format!("stockade uninstall {}, in the place where it is not wanted", harness.name),
            );
        }
        if let Err(why) = as_written(harness, settings, one) {
            let fix = match ours::is_ours(harness, ours::hook_of(&one.entry)) {
                true => again,
                false => {
                    format!("take that hook out of {}; stockade install {}", one.file.display(), harness.name)
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
    let seen = beat::last(harness).map(|(at, _)| at);
    match settings.trust {
        Some(trust) if !is_newer(seen, &file) => {
            broken(format!("{} has the hook, and has not called it since it is there", harness.title), trust)
        }
        _ => State::Refuses { file, seen },
    }
}

/// An error where a hook is not what this program writes. Whatever else it has may keep it from being called, or from being waited
/// for; and what a project brings along is not run to see what it does.
fn as_written(harness: &Harness, settings: &SettingsFile, one: &Found) -> Result<(), String> {
    match ours::entry(harness, settings, Moment::Before, &one.entry) {
        Entry::Ours(program) if one.scope == SettingsScope::User || is_this(&program) => Ok(()),
        Entry::Older => {
            Err("a hook of an earlier version, which lets pass what it does not understand".to_owned())
        }
        Entry::Ours(_) => Err("a hook that this program did not write, so it is not tried".to_owned()),
        Entry::Other(member) => Err(format!(
            "a hook that this program did not write, so it is not tried: `{member}` is not as it would be"
        )),
    }
}

/// Whether a program is this one.
fn is_this(program: &str) -> bool {
    rewrite::program().is_ok_and(|own| own == program)
}

/// Nothing where a hook refuses as it must.
fn refuses(harness: &Harness, probe: Probe, hook: &Hook, folder: &Path, again: &str) -> Option<State> {
    let (title, tool) = (harness.title, probe.tool);
    match replay(harness, probe, hook, folder) {
        Replayed::Refused => None,
        Replayed::RefusedOtherwise(why) => Some(broken(format!("{title}, `{tool}`: {why}"), again)),
        Replayed::Open(why) => {
            Some(broken(format!("{title} would use `{tool}` for what must be refused: {why}"), again))
        }
    }
}

/// Whether a hook was called since its file was written.
fn is_newer(seen: Option<SystemTime>, file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|found| found.modified()).ok();
    matches!((seen, written), (Some(seen), Some(written)) if seen >= written)
}

/// A harness skips hooks that nobody has trusted, or those of a project that nobody has.
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
                let why = format!(
                    "{} calls no hooks of a project that nobody has trusted: {project}",
                    harness.title
                );
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
                let why = format!("{} skips the hook: nobody has trusted it", harness.title);
                broken(why, "run `codex`, type /hooks, and trust the hooks of stockade")
            })
        }
        _ => None,
    }
}

/// A matcher counts for a tool only where it surely does: harnesses read patterns differently.
fn is_for(matcher: Option<&str>, tool: &str) -> bool {
    match matcher {
        None | Some("" | "*" | ".*") => true,
        Some(matcher) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-|".contains(c);
            matcher.chars().all(is_plain) && matcher.split('|').any(|name| name == tool)
        }
    }
}

/// The setting that turns hooks off, where one does.
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

/// Every hook of a file, in groups or not.
fn hooks_of(settings: &Value, file: &Path, scope: SettingsScope) -> Vec<Found> {
    let mut found = Vec::new();
    let events = settings.get("hooks").and_then(Value::as_object);
    for (event, list) in events.into_iter().flatten() {
        for (group, one) in list.as_array().into_iter().flatten().enumerate() {
            let matcher = one.get("matcher").map(|matcher| matcher.as_str().unwrap_or("?").to_owned());
            let inner = one.get("hooks").and_then(Value::as_array);
            let hooks: Vec<&Value> = inner.map_or_else(|| vec![one], |hooks| hooks.iter().collect());
            for (index, whole) in hooks.into_iter().enumerate() {
                let Some(hook) = hook_of(whole) else { continue };
                let (file, event, matcher) = (file.to_owned(), event.clone(), matcher.clone());
                let entry = ours::alone(one, whole);
                found.push(Found { file, scope, event, matcher, hook, entry, at: (group, index) });
            }
        }
    }
    found
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
        is_used |= scope == SettingsScope::User && file.ancestors().nth(2).is_some_and(Path::is_dir);
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
                return broken(why, format!("take `{path}` out of {}", settings.display()));
            }
        }
        let fix = match ours::is_own_file(harness, own, &text) {
            true => again,
            false => format!("move {} away; {again}", file.display()),
        };
        return match ours::own_file(harness, own, &text) {
            // A module is not run here, so it has to name this program.
            Some(Entry::Ours(program)) if own.form == OwnForm::Plugin && is_this(&program) => {
                plugin_state(harness, file)
            }
            Some(Entry::Ours(program))
                if own.form != OwnForm::Plugin && (scope == SettingsScope::User || is_this(&program)) =>
            {
                called(harness, own, file, &text, places)
            }
            Some(Entry::Older) => {
                let why = "is of an earlier version, which lets pass what it does not understand";
                broken(format!("{} {why}", file.display()), fix)
            }
            _ => broken(
                format!("{} is another hook than this program writes, so it is not tried", file.display()),
                fix,
            ),
        };
    }
    if is_used { State::NotRegistered } else { State::NotUsed }
}

/// Asks what a file of ours registers, for every kind of tool.
fn called(harness: &Harness, own: OwnFile, file: PathBuf, text: &str, places: &SettingsFolders) -> State {
    use std::os::unix::fs::PermissionsExt as _;
    let again = format!("stockade install {}", harness.name);
    let is_program = own.form == OwnForm::Script;
    if is_program && fs::metadata(&file).is_ok_and(|found| found.permissions().mode() & 0o100 == 0) {
        return broken(
            format!("{} cannot be executed, so it is no hook", file.display()),
            format!("chmod u+x {}", file.display()),
        );
    }
    let known = if is_program { Value::Null } else { json_edit::read(text).unwrap_or_default() };
    let found = hooks_of(&known, &file, SettingsScope::User);
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
    State::Refuses { file, seen: beat::last(harness).map(|(at, _)| at) }
}

/// A module is not run here: it is what this program writes, and the program that it names answers.
fn plugin_state(harness: &Harness, file: PathBuf) -> State {
    let seen = beat::last(harness).map(|(at, _)| at);
    match is_newer(seen, &file) {
        true => State::Refuses { file, seen },
        false => broken(
            format!("{} has not loaded the plugin since it is there", harness.title),
            format!("start {} once and have it use a tool", harness.name),
        ),
    }
}
