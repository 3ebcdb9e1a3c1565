//! Hosts of samples in the patterns of rules: a rule that names one was written for it, and finds no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testkit::Stop;

use super::skill::Skill;

/// Returns a line for each host of an attack that a pattern of a rule names.
pub(super) fn judge(skills: &[Skill], corpus: &Path, rules: &Path) -> Result<Vec<String>, Stop> {
    let patterns = patterns(rules)?;
    let named = hosts(skills, corpus).into_iter().filter(|host| patterns.contains(host.as_str()));
    Ok(named.map(|host| format!("a rule names the host of a sample: {host}")).collect())
}

/// Returns the hosts in the attacked lines.
fn hosts(skills: &[Skill], corpus: &Path) -> BTreeSet<String> {
    let mut hosts = BTreeSet::new();
    for skill in skills.iter().filter(|skill| skill.attacks()) {
        for (file, lines) in &skill.attack {
            let bytes = std::fs::read(corpus.join(&skill.folder).join(file)).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let attacked = text.lines().enumerate().filter(|(at, _)| lines.contains(&(at + 1)));
            hosts.extend(attacked.flat_map(|(_, line)| hosts_of(line)));
        }
    }
    hosts
}

/// Returns the hosts of the addresses in a line.
fn hosts_of(line: &str) -> impl Iterator<Item = String> {
    let is_of_host = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    let behind = line.split("://").skip(1);
    let hosts = behind.map(move |rest| rest.chars().take_while(is_of_host).collect::<String>());
    hosts.filter(|host| host.trim_matches('.').contains('.')).map(|host| host.to_ascii_lowercase())
}

/// Returns the patterns of all rules as they are written, in small letters and without backslashes.
fn patterns(rules: &Path) -> Result<String, Stop> {
    let cannot =
        |path: &Path, error: std::io::Error| Stop::failed(format!("cannot read {}: {error}", path.display()));
    let mut due: Vec<PathBuf> = vec![rules.to_owned()];
    let mut patterns = String::new();
    while let Some(path) = due.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).map_err(|error| cannot(&path, error))?;
            due.extend(entries.flatten().map(|entry| entry.path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| cannot(&path, error))?;
        for line in text.lines().filter(|line| line.trim_start().starts_with("regex:")) {
            patterns.push_str(&line.replace('\\', "").to_ascii_lowercase());
            patterns.push('\n');
        }
    }
    match patterns.is_empty() {
        true => Err(Stop::failed(format!("no pattern of a rule in {}", rules.display()))),
        false => Ok(patterns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_from_addresses() {
        let hosts: Vec<String> =
            hosts_of("curl https://A.example/x http://b.example:80, ftp://localhost").collect();
        assert_eq!(hosts, ["a.example", "b.example"]);
    }

    #[test]
    fn the_patterns_of_the_rules_are_read() {
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/scanner/src/rules");
        let patterns = patterns(&rules).unwrap();
        assert!(patterns.contains("/etc/sudoers") && !patterns.contains('\\'), "as they are written");
    }
}
