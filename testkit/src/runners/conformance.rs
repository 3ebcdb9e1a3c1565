//! `cargo xtask conformance FOLDER`: the test vectors in `FOLDER/vectors`, one score a file.
//!
//! A crate with vectors has an `examples/conformance.rs`, as the target `CRATE-conformance`. It takes the folder,
//! prints a line `NAME PASSED/TOTAL` for each file that it knows, explains failures on standard error, and exits with
//! 1 if a required case failed. An optional case lowers the score without failing.

use std::collections::BTreeMap;
use std::path::Path;

use testkit::{Crate, Echo, Program, Stop, Table, Workspace, no_more};

/// The scores of one crate.
struct Scores {
    crate_name: String,
    /// Passed and total, by file.
    files: BTreeMap<String, (usize, usize)>,
    required_cases_pass: bool,
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let Some((folder, rest)) = arguments.split_first() else {
        return Err(Stop::usage(
            "which folder? usage: cargo xtask conformance FOLDER (it holds vectors/*.json)",
        ));
    };
    no_more(rest, "conformance FOLDER")?;
    let vectors = vectors(Path::new(folder))?;
    let folder = Path::new(folder)
        .canonicalize()
        .map_err(|error| Stop::failed(format!("cannot open {folder}: {error}")))?;

    build(workspace)?;
    let runners = workspace.crates.iter().filter_map(|one| Some((one, runner(one)?)));
    let scores: Vec<Scores> = runners
        .map(|(one, runner)| run_crate(one, &workspace.example(&runner).arg(&folder)))
        .collect::<Result<_, _>>()?;
    print!("{}", table(&scores, &vectors));
    println!("\n{}", summary(&scores));
    if scores.iter().all(|scores| scores.required_cases_pass) { Ok(()) } else { Err(Stop::reported()) }
}

/// The names of the vector files, without `.json`.
fn vectors(folder: &Path) -> Result<Vec<String>, Stop> {
    let place = folder.join("vectors");
    let entries = std::fs::read_dir(&place).map_err(|error| {
        Stop::failed(format!("there are no test vectors in {}: {error}", place.display()))
    })?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// The name of the example that runs the vectors of a crate, if it has one.
fn runner(one: &Crate) -> Option<String> {
    let name = format!("{}-conformance", one.short());
    one.targets_of("example").any(|target| target == name).then_some(name)
}

fn build(workspace: &Workspace) -> Result<(), Stop> {
    let build = workspace.build_examples();
    match build.run(Echo::Live) {
        Ok(output) if output.success => Ok(()),
        Ok(_) => Err(Stop::reported()),
        Err(error) => Err(Stop::failed(format!("cannot run `{build}`: {error}"))),
    }
}

fn run_crate(one: &Crate, program: &Program) -> Result<Scores, Stop> {
    println!("$ {program}");
    let output =
        program.run(Echo::Live).map_err(|error| Stop::failed(format!("cannot run `{program}`: {error}")))?;
    let files: BTreeMap<_, _> = output.text.lines().filter_map(score).collect();
    // No line at all means that it never got to the vectors.
    let required_cases_pass = output.success && !files.is_empty();
    Ok(Scores { crate_name: one.short().to_owned(), files, required_cases_pass })
}

/// Reads `NAME PASSED/TOTAL`, where the name may be a path or end in `.json`.
fn score(line: &str) -> Option<(String, (usize, usize))> {
    let mut words = line.split_whitespace();
    let (name, score) = (words.next()?, words.next()?);
    let (passed, total) = score.split_once('/')?;
    let name = name.rsplit('/').next()?;
    let name = name.strip_suffix(".json").unwrap_or(name).trim_end_matches(':');
    let score = (passed.parse().ok()?, total.parse().ok()?);
    words.next().is_none().then(|| (name.to_owned(), score))
}

fn table(scores: &[Scores], vectors: &[String]) -> Table {
    let mut table = Table::new(&["\nvectors", "score", "by"]);
    for name in vectors {
        let by = scores.iter().filter_map(|scores| Some((scores, scores.files.get(name)?)));
        let rows: Vec<_> = by
            .map(|(scores, (passed, total))| {
                let short =
                    if passed < total { format!("  {} missed", total - passed) } else { String::new() };
                [name.clone(), format!("{passed}/{total}"), format!("{}{short}", scores.crate_name)]
            })
            .collect();
        if rows.is_empty() {
            table.row([name.clone(), "-".to_owned(), "not yet covered".to_owned()]);
        }
        rows.into_iter().for_each(|row| table.row(row));
    }
    table
}

fn summary(scores: &[Scores]) -> String {
    let all = || scores.iter().flat_map(|scores| scores.files.values());
    let (passed, total): (usize, usize) =
        (all().map(|score| score.0).sum(), all().map(|score| score.1).sum());
    let failing: Vec<&str> = scores
        .iter()
        .filter(|scores| !scores.required_cases_pass)
        .map(|scores| scores.crate_name.as_str())
        .collect();
    let verdict = match failing.as_slice() {
        [] => "every required case passes".to_owned(),
        names => format!("a required case FAILED in: {}", names.join(", ")),
    };
    format!("{passed} of {total} cases; {verdict}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_lines() {
        let want = |name: &str, score| Some((name.to_owned(), score));
        assert_eq!(score("comis-scanner  41/41"), want("comis-scanner", (41, 41)));
        assert_eq!(score("vectors/comis-scanner.json 3/41"), want("comis-scanner", (3, 41)));
        for line in ["", "comis-scanner", "comis-scanner 41", "a b 1/2", "x 1/2 y", "x a/b"] {
            assert_eq!(score(line), None, "{line}");
        }
    }

    fn scores(files: &[(&str, usize, usize)], required_cases_pass: bool) -> Scores {
        let files = files.iter().map(|&(name, passed, total)| (name.to_owned(), (passed, total))).collect();
        Scores { crate_name: "scanner".to_owned(), files, required_cases_pass }
    }

    #[test]
    fn the_table_shows_uncovered_files() {
        let vectors = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let table = table(&[scores(&[("a", 1, 1), ("b", 1, 3)], true)], &vectors).to_string();
        let lines: Vec<Vec<&str>> =
            table.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["a", "1/1", "scanner"]);
        assert_eq!(lines[1], ["b", "1/3", "scanner", "2", "missed"]);
        assert_eq!(lines[2], ["c", "-", "not", "yet", "covered"]);
    }

    #[test]
    fn the_summary_names_who_failed() {
        assert_eq!(summary(&[scores(&[("a", 1, 3)], true)]), "1 of 3 cases; every required case passes");
        assert_eq!(summary(&[scores(&[], false)]), "0 of 0 cases; a required case FAILED in: scanner");
    }

    #[test]
    fn a_missing_folder_is_said_plainly() {
        let stop = vectors(Path::new("no-such-folder")).unwrap_err();
        assert!(stop.message().starts_with("there are no test vectors in no-such-folder/vectors: "));
    }
}
