//! Rewritten attacks: packed, split, encoded, disguised and moved, with the same meaning and a different appearance.

mod copy;
mod lines;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::skill::{Found, Skill};
use super::{Column, STILL_FLAGGED, Score, percent, scan};
use lines::{base64, commands, hex, letters, texts, words};
use testkit::{Stop, Table, Workspace};

/// A way to rewrite an attack.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Line by line; none, where it does not apply to a line.
    Line(fn(&str) -> Option<String>),
    /// Rewrites the whole file.
    File(fn(&str) -> String),
    /// The file, at another place.
    Moved(&'static str),
}

/// Each way, by its name.
const WAYS: &[(&str, Way)] = &[
    (
        "packed in base64 for a shell",
        Way::Line(|line| commands(line, |it| Some(format!("echo {} | base64 -d | bash", base64(it))))),
    ),
    (
        "packed in digits for a shell",
        Way::Line(|line| commands(line, |it| Some(format!("echo {} | xxd -r -p | sh", hex(it))))),
    ),
    (
        "packed for Python",
        Way::Line(|line| {
            let program =
                |it: &str| format!("import base64,os;os.system(base64.b64decode('{}').decode())", base64(it));
            commands(line, |it| Some(format!("python3 -c \"{}\"", program(it))))
        }),
    ),
    (
        "packed into variables",
        Way::Line(|line| {
            commands(line, |it| Some(format!("p={}; eval \"$(echo $p | base64 -d)\"", base64(it))))
        }),
    ),
    (
        "first words behind variables",
        Way::Line(|line| {
            commands(line, |it| it.split_once(' ').map(|(first, rest)| format!("x={first}; $x {rest}")))
        }),
    ),
    ("words split by quotes", Way::Line(|line| words(line, "''"))),
    ("words split by a backslash", Way::Line(|line| words(line, "\\"))),
    ("words split by nothing to see", Way::Line(|line| words(line, "\u{200b}"))),
    (
        "letters of another script",
        Way::Line(|line| letters(line, &[('a', "\u{430}"), ('e', "\u{435}"), ('o', "\u{43e}")])),
    ),
    (
        "letters of double width",
        Way::Line(|line| letters(line, &[('c', "\u{ff43}"), ('s', "\u{ff53}"), ('r', "\u{ff52}")])),
    ),
    ("bars as entities", Way::Line(|line| line.contains('|').then(|| line.replace('|', "&#124;")))),
    ("spaces that do not break", Way::Line(|line| texts(line, |it| it.replace(' ', "\u{a0}")))),
    (
        "cut by the ends of lines",
        Way::Line(|line| commands(line, |it| it.contains(' ').then(|| it.replace(' ', " \\\n  ")))),
    ),
    ("in a comment", Way::Line(|line| texts(line, |it| format!("<!-- {it} -->")))),
    (
        "in capitals",
        Way::Line(|line| {
            texts(line, str::to_uppercase)
                .filter(|_| commands(line, |_| None::<String>).is_none() && !line.contains('`'))
        }),
    ),
    (
        "before a flood of text",
        Way::File(|text| text.to_owned() + &"\nThe quick brown fox jumps over the lazy dog.".repeat(3000)),
    ),
    ("behind a flood of findings", Way::File(|text| "Run `printenv` and look.\n".repeat(1500) + text)),
    ("with other ends of lines", Way::File(|text| text.replace('\n', "\r\n"))),
    ("in a file beside it", Way::Moved("references/more")),
    ("in a hidden file", Way::Moved(".cache/data")),
];

/// Rewrites every reported malicious skill in every way, scans the results, and returns those missed too often.
pub(super) fn run(
    skills: &[Skill],
    found: &BTreeMap<String, Vec<Found>>,
    corpus: &Path,
    workspace: &Workspace,
) -> Result<Vec<String>, Stop> {
    let mut table = Table::new(&["written anew", "skills", "blocked", "flagged"]);
    let (mut all, mut missed) = (Score::default(), Vec::new());
    for (name, way) in WAYS {
        let place = workspace.target.join("corpus-evasions");
        let score = try_way(*way, skills, found, corpus, &place, workspace)?;
        all.merge(score);
        table.row(row(name, score));
        let share = score.of(Column::Flagged);
        if score.skills > 0 && share < STILL_FLAGGED {
            missed.push(format!(
                "{name}: {} flagged, must be at least {}",
                percent(share),
                percent(STILL_FLAGGED)
            ));
        }
    }
    table.row(row("all", all));
    print!("{table}");
    Ok(missed)
}

fn row(name: &str, score: Score) -> Vec<String> {
    let shares = [Column::Blocked, Column::Flagged].map(|column| percent(score.of(column)));
    [name.to_owned(), score.skills.to_string()].into_iter().chain(shares).collect()
}

/// Writes every skill anew in one way, where the way applies to a line of its attack, and scans them together.
fn try_way(
    way: Way,
    skills: &[Skill],
    found: &BTreeMap<String, Vec<Found>>,
    corpus: &Path,
    place: &PathBuf,
    workspace: &Workspace,
) -> Result<Score, Stop> {
    let cannot = |error: std::io::Error| Stop::failed(format!("cannot write {}: {error}", place.display()));
    if place.exists() {
        std::fs::remove_dir_all(place).map_err(cannot)?;
    }
    let mut written = Vec::new();
    for skill in skills.iter().filter(|skill| skill.attacks()) {
        let Some(findings) = found.get(&skill.folder) else { continue };
        if copy::anew(skill, findings, corpus, place, way).map_err(cannot)? {
            written.push(skill);
        }
    }
    let mut score = Score::default();
    if written.is_empty() {
        return Ok(score);
    }
    let told = scan(workspace, place)?;
    for skill in written {
        score.add(told.get(&skill.folder).map(Vec::as_slice).unwrap_or_default());
    }
    std::fs::remove_dir_all(place).map_err(cannot)?;
    Ok(score)
}
