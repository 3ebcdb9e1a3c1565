//! Broken links in Markdown.

use super::problem::Problem;
use super::tree::{File, Tree, numbered};

/// Demonstration skills and transcripts may contain any link.
const EXEMPT: &[&str] = &["examples/skills/", "/tests/"];

/// Returns the links to files and headings that are not there.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let exempt = |file: &&File| EXEMPT.iter().any(|part| file.path.contains(part));
    let documents = tree.files.iter().filter(|file| file.path.ends_with(".md") && !exempt(file));
    documents.flat_map(|document| broken_links(tree, document)).collect()
}

fn broken_links(tree: &Tree, document: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in prose(&document.text) {
        for target in targets(text) {
            if let Some(message) = fault(tree, document, target) {
                problems.push(Problem::new(&document.path, line, message));
            }
        }
    }
    problems
}

/// The lines of a document that are not in a fenced block.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // The marks that close the block in which the line stands.
    let mut closer: Option<&str> = None;
    numbered(text).filter(move |(_, line)| {
        let marks = fence_marks(line.trim_start());
        match (closer, marks) {
            (None, Some(_)) => closer = marks,
            (Some(open), Some(close)) if close.starts_with(open) && line.trim() == close => closer = None,
            _ => return closer.is_none(),
        }
        false
    })
}

/// The backticks or tildes that a fence begins with.
fn fence_marks(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|&first| first == '`' || first == '~')?;
    let marks = line.len() - line.trim_start_matches(mark).len();
    line.get(..marks).filter(|_| marks >= 3)
}

/// The targets of the links in a line, `[text](target)`, outside code spans.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let outside_code = line.split('`').step_by(2);
    outside_code.flat_map(|text| text.split("](").skip(1).filter_map(|rest| rest.split(')').next()))
}

fn fault(tree: &Tree, document: &File, target: &str) -> Option<String> {
    let target = target.split(' ').next().unwrap_or_default();
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { document.path.clone() } else { resolve(&document.path, path) };
    if !tree.has(&path) {
        return Some(format!("the link leads to `{path}`, which is not there"));
    }
    let linked = tree.file(&path).filter(|linked| linked.path.ends_with(".md") && !heading.is_empty())?;
    let found = prose(&linked.text).any(|(_, line)| line.starts_with('#') && slug(line) == heading);
    (!found).then(|| format!("the link leads to a heading `#{heading}` of `{path}`, which is not there"))
}

/// Resolves a link against the folder of its document.
pub(super) fn resolve(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchor of a heading: lower case, blanks as hyphens, other marks left out.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|&c| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn links_that_lead_somewhere() {
        let readme = "[a](docs/b.md) [c](https://x.example/y) [d](#the-two-commands) [e](docs/) `[f](g)`\n\
                      ```\n[h](i)\n```\n~~~~text\n```sh\n[j](k)\n~~~\n~~~~\n## The *two* commands\n";
        let b = "[up](../README.md#the-two-commands)\n";
        assert_eq!(said(check, &[("README.md", readme), ("docs/b.md", b)]), [""; 0]);
    }

    #[test]
    fn links_that_do_not() {
        for (text, want) in [
            ("[a](b.md)", "README.md:1: the link leads to `b.md`, which is not there"),
            ("[a](#b)", "README.md:1: the link leads to a heading `#b` of `README.md`, which is not there"),
        ] {
            assert_eq!(said(check, &[("README.md", text)]), [want]);
        }
    }
}
