//! Commands that write a file which the whole machine or every login trusts.

use std::ops::Range;

use stockade_names::{LOGIN_KEY_FILES, TRUSTED_FILES};
use stockade_shell::{Actions, Run};

use super::commands::{Program, each_actions};
use super::fetchers::fetcher_of;
use super::saved::MOVERS;
use super::wiring::{MAX_BEHIND, Wiring, last_part, spelled};

/// Whether a text names one of these. Most texts do not.
pub(crate) fn may_write_trusted(text: &str) -> bool {
    let has = |sign: &str| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some();
    has("/etc/") || has("ca-certificates/") || LOGIN_KEY_FILES.iter().any(|name| has(name))
}

/// Returns the commands that write one, each up to the end of its line, where a redirection may stand.
pub(crate) fn writes_trusted(text: &str, programs: &[Program]) -> Vec<Range<usize>> {
    let has_one = |program: &&Program| may_write_trusted(text.get(program.span.clone()).unwrap_or_default());
    let writing: Vec<Program> = programs.iter().filter(has_one).cloned().collect();
    let mut found = Vec::new();
    each_actions(text, &writing, |actions, offset| {
        let wiring = Wiring::of(actions);
        for (number, run) in actions.runs.iter().enumerate() {
            if written_files(actions, &wiring, number).iter().any(|file| is_trusted(file)) {
                let end = offset + run.span.end;
                let rest = text.get(end..).unwrap_or_default();
                let line = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                found.push(offset + run.span.start..end + line);
            }
        }
    });
    found.sort_by_key(|span| span.start);
    found.dedup();
    found
}

/// Returns the files that a command writes: by redirections, as downloads, and those that its arguments name as its targets.
pub(super) fn written_files(actions: &Actions<'_>, wiring: &Wiring, number: usize) -> Vec<String> {
    let (Some(run), Some(ends)) = (actions.runs.get(number), wiring.at(number)) else { return Vec::new() };
    let mut files: Vec<String> = ends.written.iter().take(MAX_BEHIND).cloned().collect();
    files.extend(fetcher_of(run).map(|fetcher| fetcher.names(run)).unwrap_or_default());
    files.extend(targets(run).into_iter().map(|word| wiring.with_value(word)));
    files
}

/// Returns the arguments that a program writes to.
fn targets(run: &Run<'_>) -> Vec<String> {
    let program = run.program().map(last_part).unwrap_or_default();
    let words = || run.argv.iter().skip(1).map(spelled);
    let files = || words().filter(|word| !word.starts_with('-'));
    match program {
        "tee" | "truncate" | "sponge" => files().take(MAX_BEHIND).collect(),
        "sed" | "perl" if words().any(|word| word.starts_with("-i") || word.starts_with("-pi")) => {
            files().skip(1).take(MAX_BEHIND).collect()
        }
        "dd" => words().filter_map(|word| word.strip_prefix("of=").map(str::to_owned)).collect(),
        program if MOVERS.contains(&program) => files().next_back().into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether the machine or every login trusts a file.
fn is_trusted(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'']);
    let is_keys = LOGIN_KEY_FILES.contains(&last_part(path)) && path.contains(".ssh/");
    let is_listed = |below: &str| {
        TRUSTED_FILES.iter().any(|row| {
            *row == below
                || row.ends_with('/') && (below.starts_with(row) || below == row.trim_end_matches('/'))
        })
    };
    is_keys
        || path
            .strip_prefix('/')
            .is_some_and(|below| is_listed(&below.replace("/./", "/").replace("//", "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(script: &str) -> bool {
        let programs = [Program { span: 0..script.len(), is_listed: false, is_string: false }];
        !writes_trusted(script, &programs).is_empty()
    }

    #[test]
    fn every_way_to_write_each_trusted_file_is_found() {
        let machine =
            TRUSTED_FILES.iter().map(|row| format!("/{row}{}", if row.ends_with('/') { "x" } else { "" }));
        let keys =
            LOGIN_KEY_FILES.iter().flat_map(|name| [format!("~/.ssh/{name}"), format!("/root/.ssh/{name}")]);
        for file in machine.chain(keys) {
            for script in [
                format!("echo x > {file}"),
                format!("printf 'a\\nb\\n' >> \"{file}\""),
                format!("echo x | sudo tee -a {file} > /dev/null"),
                format!("sudo cp a {file}"),
                format!("mv -f a b {file}"),
                format!("sudo sed -i 's/a/b/' {file}"),
                format!("curl -o {file} https://x.example/f"),
                format!("sudo sh -c 'echo x >> {file}'"),
                format!("dd if=a of={file}"),
                format!("F={file}; echo x > $F; cat a | tee $F"),
                format!("ls; cat <<EOF > {file}\nx\nEOF"),
            ] {
                assert!(is_found(&script), "{script}");
            }
            for script in [format!("cat {file}"), format!("cp {file} backup"), format!("grep x {file} > out")]
            {
                assert!(!is_found(&script), "{script}");
            }
        }
        for script in
            ["echo x > /etc/motd", "echo x > etc/hosts", "cp a ./authorized_keys", "cp a /etc/app/hosts"]
        {
            assert!(!is_found(script), "{script}");
        }
    }
}
