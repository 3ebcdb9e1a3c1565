//! When git reads settings that another file names for some repositories only: `[includeIf "gitdir:~/work/"]`.

use std::path::Path;

use stockade_names::fits;

/// Whether a condition holds for a repository. What depends on more than where that lies, such as its branch, does not.
pub(crate) fn holds(condition: &str, repository: &Path, home: &Path, beside: &Path) -> bool {
    let (pattern, is_any_case) = match condition.split_once(':') {
        Some(("gitdir", pattern)) => (pattern, false),
        Some(("gitdir/i", pattern)) => (pattern, true),
        _ => return false,
    };
    let whole = whole(pattern, home, beside);
    let path = repository.to_string_lossy();
    match is_any_case {
        true => leads(&parts(&whole.to_lowercase()), &parts(&path.to_lowercase())),
        false => leads(&parts(&whole), &parts(&path)),
    }
}

/// The pattern from the root on, see git-config(1).
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

/// Whether names fit patterns of names, where `**` stands for any number of them. Each star is stretched only as far as the
/// next one needs it, so no path is gone through twice.
fn leads(patterns: &[&str], names: &[&str]) -> bool {
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
    fn conditions_that_hold_and_that_do_not() {
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
            let holds = holds(
                condition,
                Path::new("/home/u/work/app/.git"),
                Path::new("/home/u"),
                Path::new("/home/u"),
            );
            assert_eq!(holds, expected, "{condition}");
        }
    }
}
