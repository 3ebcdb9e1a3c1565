//! Paths among the arguments of a tool, as rules take them.
#![expect(clippy::disallowed_methods, reason = "asks where the home is, and where a workspace really is")]

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_files::real_path;

use super::call::Origin;

/// Names of arguments with a path.
pub(super) const NAMES: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "paths",
    "absolute_path",
    "notebook_path",
    "dir_path",
    "directory",
    "target_file",
    "file_paths",
    "include",
    "filename",
    "TargetFile",
    "AbsolutePath",
    "DirectoryPath",
];

/// Maximum depth of arguments, and number of paths.
const MAX_DEPTH: usize = 8;
const MAX_PATHS: usize = 256;

/// Returns every path among the arguments of a tool. A value of another type and too many paths are errors.
pub(super) fn among(input: &Value) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    collect(input, MAX_DEPTH, &mut found)?;
    if found.len() > MAX_PATHS {
        return Err(format!("it has more than {MAX_PATHS} paths"));
    }
    Ok(found)
}

fn collect(value: &Value, depth: usize, found: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            Err("its arguments are nested too deeply".to_owned())
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, depth - 1, found)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            if NAMES.contains(&name.as_str()) {
                paths(name, value, found)
            } else {
                collect(value, depth - 1, found)
            }
        }),
        _ => Ok(()),
    }
}

/// Returns one path, or a list of paths.
fn paths(name: &str, value: &Value, found: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Null => Ok(()),
        Value::String(path) => {
            found.push(path.clone());
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| paths(name, item, found)),
        _ => Err(format!("`{name}` is not a path")),
    }
}

/// Returns a path as rules take it: relative to the workspace if it is inside, and absolute otherwise.
pub(super) fn asked(origin: &Origin, path: &str) -> PathBuf {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let whole = match (path.strip_prefix('~'), env::var_os("HOME")) {
        // Harnesses expand `~` like this. `~user` counts as a path outside of the workspace.
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Path::new(&home).join(rest.trim_start_matches('/'))
        }
        (Some(_), _) => Path::new("/").join(path),
        (None, _) => origin.cwd.join(path),
    };
    from_workspace(origin, &whole)
}

/// Returns an absolute path as rules take it.
pub(super) fn from_workspace(origin: &Origin, whole: &Path) -> PathBuf {
    let real = || real_path(&origin.workspace).ok();
    let from = whole.strip_prefix(&origin.workspace).ok().map(Path::to_owned);
    let from = from.or_else(|| whole.strip_prefix(real()?).ok().map(Path::to_owned));
    match from {
        Some(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
        Some(rest) => rest,
        None => whole.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_found_wherever_they_stand() {
        let input = json!({"operations": [{"mode": "Line", "path": "a"}], "paths": ["b", "c"], "content": "path", "path": null});
        assert_eq!(among(&input).unwrap(), ["a", "b", "c"]);
        for wrong in [json!({"path": 1}), json!({"path": {"a": 1}}), json!({"path": [true]})] {
            assert!(among(&wrong).is_err(), "{wrong}");
        }
        let many: Vec<String> = (0..=MAX_PATHS).map(|n| n.to_string()).collect();
        assert!(among(&json!({"paths": many})).is_err());
        let deep = (0..20).fold(json!({"path": "x"}), |value, _| json!([value]));
        assert!(among(&deep).is_err());
    }

    #[test]
    fn a_path_is_asked_about_from_the_workspace() {
        let origin = Origin { cwd: "/w/s/sub".into(), workspace: "/w/s".into(), session: String::new() };
        let home = env::var("HOME").unwrap_or_default();
        for (path, wanted) in [
            ("/w/s/a", "a".to_owned()),
            ("b", "sub/b".to_owned()),
            ("/w/s", ".".to_owned()),
            ("/w/sub", "/w/sub".to_owned()),
            ("/w/s/../x", "../x".to_owned()),
            ("~/.ssh/id", format!("{home}/.ssh/id")),
            ("~root/x", "/~root/x".to_owned()),
            ("file:///etc/passwd", "/etc/passwd".to_owned()),
        ] {
            assert_eq!(asked(&origin, path), PathBuf::from(&wanted), "{path}");
        }
    }
}
