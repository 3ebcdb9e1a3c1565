//! Conditions under which git includes another settings file: `[includeIf "gitdir:~/work/"]`.

use std::path::Path;

use stockade_names::fits;

/// Returns whether the condition of an `includeIf` section applies to a repository, given its `.git` directory, the home and the directory
/// of the settings file. Conditions on anything but the location, such as the branch, do not apply.
#[must_use]
pub fn include_applies(condition: &str, repository: &Path, home: &Path, beside: &Path) -> bool {
    let (pattern, is_any_case) = match condition.split_once(':') {
        Some(("gitdir", pattern)) => (pattern, false),
        Some(("gitdir/i", pattern)) => (pattern, true),
        _ => return false,
    };
    let whole = whole(pattern, home, beside);
    let path = repository.to_string_lossy();
    match is_any_case {
        true => matches_all(&parts(&whole.to_lowercase()), &parts(&path.to_lowercase())),
        false => matches_all(&parts(&whole), &parts(&path)),
    }
}

/// Returns the absolute pattern: git-config(1), "Conditional includes".
fn whole(pattern: &str, home: &Path, beside: &Path) -> String {
    let mut whole = if let Some(below) = pattern.strip_prefix("~/") {
        format!("{}/{below}", home.display())
    } else if let Some(below) = pattern.strip_prefix("./") {
        format!("{}/{below}", beside.display())
    } else if pattern.starts_with('/') {
        pattern.to_owned()
    } else {
        format!("**/{pattern}")
    };
    if whole.ends_with('/') {
        whole.push_str("**");
    }
    whole
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Whether names match patterns, where `**` matches any number of names. Only the last `**` is extended, so the time is at most the
/// product of both lengths.
fn matches_all(patterns: &[&str], names: &[&str]) -> bool {
    let (mut pattern, mut name, mut star) = (0, 0, None);
    while let Some(next) = names.get(name) {
        match patterns.get(pattern) {
            Some(&"**") => {
                star = Some((pattern, name));
                pattern += 1;
            }
            Some(one) if fits(next, one) => (pattern, name) = (pattern + 1, name + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (pattern, name) = (at + 1, from + 1);
            }
        }
    }
    patterns.iter().skip(pattern).all(|left| *left == "**")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_apply_and_others() {
        for (condition, expected) in [
            ("gitdir:~/work/", true),
            ("gitdir:~/work/app/.git", true),
            ("gitdir:~/work/app", false),
            ("gitdir:~/other/", false),
            ("gitdir:/home/u/**", true),
            ("gitdir:/home/*/work/**", true),
            ("gitdir:app/", true),
            ("gitdir:work/", true),
            ("gitdir:wor/", false),
            ("gitdir:./work/", true),
            ("gitdir:~/WORK/", false),
            ("gitdir/i:~/WORK/", true),
            ("gitdir:**/app/.git", true),
            ("gitdir:**", true),
            ("gitdir:", true),
            ("onbranch:main", false),
            ("hasconfig:remote.*.url:https://x/**", false),
            ("", false),
        ] {
            let applies = include_applies(
                condition,
                Path::new("/home/u/work/app/.git"),
                Path::new("/home/u"),
                Path::new("/home/u"),
            );
            assert_eq!(applies, expected, "{condition}");
        }
    }
}
