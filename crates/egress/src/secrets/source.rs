//! Reads secrets from their sources: variables, files, commands and the keyring of the user who starts commands.
#![expect(clippy::disallowed_methods, reason = "reads secrets where their owner keeps them")]

mod folders;

use std::env;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use stockade_handoff::{find_program, helper_command};
use zeroize::{Zeroize as _, Zeroizing};

use super::super::secret_binding::{SecretBinding, SecretError, SecretSource};
use folders::Unsafe;

/// A secret of more bytes is not read: it would be a file of something else.
const MAX: usize = 8 << 10;

/// A file of JSON is of a program that keeps more in it than one secret.
const MAX_JSON: usize = 1 << 20;

/// The shortest. A shorter one would be found everywhere, and could not be taken out of what comes back.
pub(super) const MIN: usize = 8;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it is looked whether it is over.
const STEP: Duration = Duration::from_millis(10);

/// The command that asks the keyring of the system, and its arguments; `{service}` and `{account}` are replaced.
const KEYRING: &[&str] = if cfg!(target_os = "macos") {
    &["security", "find-generic-password", "-s", "{service}", "-a", "{account}", "-w"]
} else {
    &["secret-tool", "lookup", "service", "{service}", "account", "{account}"]
};

/// Variables by which a command finds the agent or the keyring that it asks.
const SESSION: &[&str] = &["DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_TYPE", "USER", "LOGNAME", "LANG"];

/// Returns a secret.
///
/// # Errors
/// When it cannot be read or is not a secret. The error contains no part of it.
pub(super) fn read(binding: &SecretBinding) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let wrong = |(why, fix): (String, String)| SecretError::new(&binding.name, why, fix);
    let mut bytes = match &binding.source {
        SecretSource::Environment(name) => variable(name),
        SecretSource::File(path) => file(Path::new(path), MAX),
        SecretSource::Json { path, members } => member(Path::new(path), members),
        SecretSource::Command(words) => command(words),
        SecretSource::Login { file, of } => return file.secret(of),
        SecretSource::Keyring { service, account } => keyring(service, account),
    }
    .map_err(wrong)?;
    // Files and commands end with the end of a line.
    // Editors and `echo` end a file with a line break, which is not part of a key.
    while let Some(b'\n' | b'\r') = bytes.last() {
        bytes.pop();
    }
    judge(&bytes).map_or(Ok(bytes), |(why, fix)| Err(wrong((why.to_owned(), fix.to_owned()))))
}

/// Why a text is no secret that could be put into requests.
pub(in super::super) fn judge(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        // Searching for an empty value would match everywhere, and a short one in ordinary text.
        [] => Some(("is empty", "set its source to a value, or remove the secret")),
        _ if bytes.len() < MIN => {
            Some(("is shorter than 8 bytes, so it cannot be recognised in responses", "use a longer secret"))
        }
        _ if bytes.iter().any(u8::is_ascii_control) => Some((
            "contains a line break or another control character",
            "use a source that contains only the secret",
        )),
        _ if std::str::from_utf8(bytes).is_err() => {
            Some(("is not valid UTF-8", "use a source that contains text"))
        }
        _ => None,
    }
}

type Wrong = (String, String);

fn variable(name: &str) -> Result<Zeroizing<Vec<u8>>, Wrong> {
    let value = env::var_os(name);
    value.map(|value| Zeroizing::new(value.into_encoded_bytes())).ok_or_else(|| {
        (
            format!("has the source variable `{name}`, which is not set"),
            format!("set the variable: `export {name}=…`"),
        )
    })
}

/// Reads a member of an object in a file of JSON. The first of a name counts, and all that was read is overwritten.
fn member(path: &Path, members: &[String]) -> Result<Zeroizing<Vec<u8>>, Wrong> {
    let shown = path.display();
    let wrong = |why: &str| {
        let names = members.join(".");
        (
            format!("has the source `{names}` in `{shown}`, {why}"),
            "log in again outside of the sandbox, or use another source".to_owned(),
        )
    };
    let text = file(path, MAX_JSON)?;
    let mut value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|_| wrong("which is not valid JSON"))?;
    let found = members.iter().try_fold(&mut value, |value, name| value.get_mut(name));
    let found = found.and_then(|found| match found {
        serde_json::Value::String(text) => Some(Zeroizing::new(std::mem::take(text).into_bytes())),
        _ => None,
    });
    overwrite(&mut value);
    found.ok_or_else(|| wrong("which is not a string"))
}

/// Overwrites every text of a value that is done with.
fn overwrite(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => text.zeroize(),
        serde_json::Value::Array(all) => all.iter_mut().for_each(overwrite),
        serde_json::Value::Object(all) => all.values_mut().for_each(overwrite),
        _ => {}
    }
}

pub(in super::super) fn file(path: &Path, most: usize) -> Result<Zeroizing<Vec<u8>>, Wrong> {
    let shown = path.display();
    let cannot = |error: &dyn std::fmt::Display| {
        (
            format!("has the source `{shown}`, which cannot be read: {error}"),
            "use a file that contains only the secret".to_owned(),
        )
    };
    let path = folders::judged(path).map_err(|why| match why {
        Unsafe::Unreadable(error) => cannot(&error),
        Unsafe::Folder(folder) => (
            format!("has the source `{shown}`, and other users can change files in `{}`", folder.display()),
            format!("remove the permission: `chmod go-w {}`, or keep it elsewhere", folder.display()),
        ),
        Unsafe::Link(link) => (
            format!(
                "has the source `{shown}`, whose path contains a symlink of another user: `{}`",
                link.display()
            ),
            "use a path without that symlink".to_owned(),
        ),
    })?;
    // The last component must not be a symlink, a pipe that blocks, or a terminal that becomes the controlling one.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(&path, flags, Mode::empty()).map_err(|error| cannot(&error))?;
    let stat = fstat(&file).map_err(|error| cannot(&error))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(cannot(&"it is not a regular file"));
    }
    let own = rustix::process::geteuid().as_raw();
    if stat.st_uid != own && stat.st_uid != 0 {
        return Err((
            format!("has the source `{shown}`, which belongs to another user"),
            format!("change the owner: `chown {own} {shown}`"),
        ));
    }
    // The same rule as that of ssh for keys. The open file is checked, so it cannot be exchanged afterwards.
    if stat.st_mode & 0o077 != 0 {
        return Err((
            format!("has the source `{shown}`, which other users can read or change"),
            format!("remove the permission: `chmod 600 {shown}`"),
        ));
    }
    bounded(std::fs::File::from(file), most).map_err(|error| cannot(&error))
}

/// Reads all, as far as it is no longer than a secret may be.
fn bounded(from: impl Read, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    // No buffer that grows leaves its contents behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(most + 1));
    from.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    Ok(bytes)
}

fn keyring(service: &str, account: &str) -> Result<Zeroizing<Vec<u8>>, Wrong> {
    let word = |word: &&str| word.replace("{service}", service).replace("{account}", account);
    command(&KEYRING.iter().map(word).collect::<Vec<_>>())
}

/// Runs a command without a shell. Its standard error is discarded, because it might contain the secret.
fn command(words: &[String]) -> Result<Zeroizing<Vec<u8>>, Wrong> {
    let [program, arguments @ ..] = words else {
        return Err(("has no command".to_owned(), "name one".to_owned()));
    };
    let failed = |why: String| {
        let fix =
            format!("run `{}` in a terminal, and check that it prints only the secret", words.join(" "));
        (format!("has the source command `{program}`, {why}"), fix)
    };
    let path = match program.starts_with('/') {
        true => Some(Path::new(program).to_path_buf()),
        // A relative path would run a file of the current directory, which may be that of an untrusted project.
        false if program.contains('/') => None,
        false => find_program(program),
    };
    let path = path.ok_or_else(|| failed("which is not on the search path".to_owned()))?;
    let mut command = helper_command(&path);
    command.args(arguments).stdout(Stdio::piped());
    command.envs(SESSION.iter().filter_map(|name| Some((*name, env::var_os(name)?))));
    // The current directory may be untrusted, and must not influence the command.
    command.current_dir("/").in_own_group();
    let child = command.spawn().map_err(|error| failed(format!("which cannot be started: {error}")))?;
    printed(child, PATIENCE).map_err(failed)
}

/// Returns what a program prints that leads a group of its own. It and all that it has started in that group end with this.
fn printed(mut child: Child, patience: Duration) -> Result<Zeroizing<Vec<u8>>, String> {
    let pid = Pid::from_child(&child);
    let output = child.stdout.take();
    let reader = output.map(|output| std::thread::spawn(move || bounded(output, MAX)));
    let began = Instant::now();
    // `NOWAIT` keeps the zombie, so that its process id cannot be reused before its group is killed.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let is_over = || matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)));
    // What it started in the background may hold its output open for ever.
    let is_read = || reader.as_ref().is_none_or(std::thread::JoinHandle::is_finished);
    let mut has_ended = is_over();
    while !(has_ended && is_read()) && began.elapsed() < patience {
        std::thread::sleep(STEP);
        has_ended = has_ended || is_over();
    }
    let is_read = is_read();
    kill_process_group(pid, Signal::KILL).ok();
    let status = child.wait().map_err(|error| format!("which cannot be waited for: {error}"))?;
    if !has_ended {
        return Err(format!("which did not end within {} s", patience.as_secs()));
    }
    if !status.success() {
        return Err(format!("which failed ({status})"));
    }
    let Some(reader) = reader.filter(|_| is_read) else { return Err("whose output is too long".to_owned()) };
    match reader.join() {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(format!("whose output cannot be read: {error}")),
        Err(_) => Err("whose output cannot be read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn of(source: &str) -> Result<String, String> {
        let binding = SecretBinding::read(&format!("T={source}@a.example")).unwrap();
        let read = read(&binding).map_err(|error| format!("{error}; {}", error.fix))?;
        Ok(String::from_utf8(read.to_vec()).unwrap())
    }

    #[test]
    fn files_belong_to_this_user_or_root() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let put = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            of(&format!("file:{}", path.display()))
        };
        assert_eq!(put("s3cret-value\n", 0o600).as_deref(), Ok("s3cret-value"));
        assert!(put("s3cret-value\n", 0o640).unwrap_err().contains("chmod 600"));
        for (text, why) in
            [("", "is empty"), ("\n", "is empty"), ("short", "shorter"), ("two\nlines", "line break")]
        {
            let error = put(text, 0o600).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
        assert!(put(&"x".repeat(MAX + 1), 0o600).unwrap_err().contains("longer"));
        // A user who may write to a parent directory can replace the file, whatever its own mode.
        assert!(put("s3cret-value\n", 0o600).is_ok());
        let read = || of(&format!("file:{}", path.display()));
        for (mode, is_safe) in [(0o777, false), (0o770, false), (0o1777, true), (0o755, true), (0o700, true)]
        {
            std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
            let why = read().err().unwrap_or_default();
            assert_eq!((why.is_empty(), why.contains("chmod go-w")), (is_safe, !is_safe), "{mode:o}: {why}");
        }
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(of(&format!("file:{}", link.display())).is_err());
        assert!(of(&format!("file:{}", folder.path().display())).unwrap_err().contains("not a regular file"));
    }

    #[test]
    fn a_member_of_a_login_is_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("login.json");
        let put = |text: &str, member: &str| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
            of(&format!("json:{}#{member}", path.display()))
        };
        let login =
            r#"{"oauth": {"accessToken": "s3cret-value", "expiresAt": 1, "scopes": ["a"]}, "key": null}"#;
        assert_eq!(put(login, "oauth.accessToken").as_deref(), Ok("s3cret-value"));
        for (text, member, why) in [
            (login, "oauth.refreshToken", "not a string"),
            (login, "oauth", "not a string"),
            (login, "oauth.scopes", "not a string"),
            (login, "key", "not a string"),
            (login, "key.x", "not a string"),
            ("{", "key", "not valid JSON"),
            (r#"{"key": "short"}"#, "key", "shorter"),
            (r#"{"key": "two\nlines-of-it"}"#, "key", "line break"),
        ] {
            let error = put(text, member).unwrap_err();
            assert!(error.contains(why) && !error.contains("s3cret"), "{text} {member}: {error}");
        }
        let many = format!("{{\"key\": \"{}\"}}", "x".repeat(MAX_JSON));
        assert!(put(&many, "key").unwrap_err().contains("longer"));
    }

    #[test]
    fn commands_run_without_a_shell() {
        assert_eq!(of("cmd:echo s3cret $HOME;x").as_deref(), Ok("s3cret $HOME;x"));
        assert!(of("cmd:false").unwrap_err().contains("failed"));
        assert!(of("cmd:no-such-program-here").unwrap_err().contains("search path"));
        assert!(of("cmd:./own").unwrap_err().contains("search path"));
        assert!(of("cmd:true").unwrap_err().contains("is empty"));
        // The current directory may be untrusted.
        assert!(of("cmd:pwd").unwrap_err().contains("shorter"), "it prints only `/`");
        assert!(of("env:STOCKADE_NO_SUCH_VARIABLE").unwrap_err().contains("not set"));
    }

    #[test]
    fn a_command_that_takes_too_long_ends_with_all_that_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let alive = |name: &str| {
            let pid = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        for (script, why) in [
            ("sleep 300 & echo $! > child; wait", "did not end"),
            ("sleep 300 & echo $! > child; echo s3cret-value", "too long"),
        ] {
            let mut command = helper_command(Path::new("/bin/sh"));
            command.args(["-c", script]).stdout(Stdio::piped()).in_own_group().current_dir(folder.path());
            let error = printed(command.spawn().unwrap(), Duration::from_millis(800)).unwrap_err();
            assert!(error.contains(why), "{script}: {error}");
            let began = Instant::now();
            while alive("child") && began.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(STEP);
            }
            assert!(!alive("child"), "{script}");
        }
    }
}
