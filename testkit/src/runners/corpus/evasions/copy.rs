//! A skill, copied with its attack written anew.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::super::skill::{Found, Skill};
use super::Way;

/// Copies a skill to the same place below another folder, with its attack written anew. Says whether the way applied to a line of it;
/// where it did not, nothing is left.
pub(super) fn anew(
    skill: &Skill,
    findings: &[Found],
    corpus: &Path,
    place: &Path,
    way: Way,
) -> io::Result<bool> {
    let (from, to) = (corpus.join(&skill.folder), place.join(&skill.folder));
    let attack = attack(skill, findings);
    let mut applied = false;
    for file in files(&from)? {
        let below = file.strip_prefix(&from).unwrap_or(&file).to_owned();
        let lines = attack.get(&below.to_string_lossy().into_owned());
        let bytes = std::fs::read(&file)?;
        let (below, bytes) = match (lines, String::from_utf8(bytes)) {
            (Some(lines), Ok(text)) => {
                let (target, written) = written(&below, &text, lines, way);
                applied |= target != below || written != text;
                (target, written.into_bytes())
            }
            (_, Ok(text)) => (below, text.into_bytes()),
            (_, Err(error)) => (below, error.into_bytes()),
        };
        let target = to.join(below);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(target, bytes)?;
    }
    if !applied {
        std::fs::remove_dir_all(&to)?;
    }
    Ok(applied)
}

/// The lines of the attack by file: those of the label, and where it says none, those where something was found.
fn attack(skill: &Skill, findings: &[Found]) -> BTreeMap<String, BTreeSet<usize>> {
    let mut lines: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (file, known) in &skill.attack {
        lines.entry(file.clone()).or_default().extend(known);
    }
    if lines.is_empty() {
        for found in findings {
            lines.entry(found.file.clone()).or_default().insert(found.line);
        }
    }
    lines
}

fn written(below: &Path, text: &str, lines: &BTreeSet<usize>, way: Way) -> (PathBuf, String) {
    match way {
        Way::File(rewrite) => (below.to_owned(), rewrite(text)),
        Way::Moved(place) => {
            let ending = below.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
            (PathBuf::from(place.to_owned() + &ending.unwrap_or_default()), text.to_owned())
        }
        Way::Line(rewrite) => {
            let line = |(index, line): (usize, &str)| {
                let anew = lines.contains(&(index + 1)).then(|| rewrite(line)).flatten();
                anew.unwrap_or_else(|| line.to_owned())
            };
            (below.to_owned(), text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut due = vec![folder.to_owned()];
    while let Some(folder) = due.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                due.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}
