//! Runs the vectors `iscl-isolation.json` in `FOLDER/vectors`: what packages in containers of a real Docker are held to, through the
//! command `stockade`, and prints their score.
//!
//! The rows and what is tried for each are those of the test of the command.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command that reads vectors and reports to a person"
)]

#[cfg(target_os = "linux")]
#[expect(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "it is a test, and panics where something is not as it should be"
)]
#[path = "../tests/cli/containers/common.rs"]
mod containers;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: conformance FOLDER");
        return std::process::ExitCode::from(2);
    };
    match score(std::path::Path::new(&folder)) {
        Ok((passed, total)) => {
            println!("iscl-isolation  {passed}/{total}");
            std::process::ExitCode::from(u8::from(passed != total))
        }
        Err(why) => {
            eprintln!("iscl-isolation: {why}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn score(folder: &std::path::Path) -> Result<(usize, usize), String> {
    let path = folder.join("vectors/iscl-isolation.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // Beside the folder of the examples.
    let stockade = own.ancestors().nth(2).map(|folder| folder.join("stockade")).unwrap_or_default();
    let docker = containers::daemon::Docker::try_to_start()?;
    let tried = containers::isolation::tried(&docker, &stockade);
    let outcome = |row: &serde_json::Value| -> Result<(), String> {
        let id = row.get("id").and_then(serde_json::Value::as_str);
        let number = id.and_then(|id| id.strip_prefix("ii-")?.parse::<u32>().ok());
        let tried = number.and_then(|number| tried.get(&number)).cloned();
        tried.unwrap_or_else(|| Err("nothing tries this row".to_owned()))
    };
    let mut passed = 0;
    for row in &rows {
        match outcome(row) {
            Ok(()) => passed += 1,
            Err(why) => eprintln!("iscl-isolation: {row}: {why}"),
        }
    }
    Ok((passed, rows.len()))
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("packages run in containers on Linux alone");
}
