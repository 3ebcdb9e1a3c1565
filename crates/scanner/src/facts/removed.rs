//! Commands that remove the files of a home, or of the machine.

use std::ops::Range;

use stockade_names::{PERSONAL_DIRECTORIES, SYSTEM_DIRECTORIES};
use stockade_shell::Run;

use super::commands::{Program, each_actions, rest_of_line};
use super::wiring::spelled;

/// Whether a text has a removal with an option and a place outside of the working directory. Most have none.
pub(crate) fn may_remove(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"rm").any(|at| {
        let has_sign = |line: &str| {
            let is_continued = line.trim_end().ends_with('\\');
            let is_outside = || [" ~", " \"~", " /", " \"/", "HOME"].iter().any(|sign| line.contains(sign));
            is_continued || line.contains('-') && is_outside()
        };
        rest_of_line(text.get(at..).unwrap_or_default()).is_none_or(has_sign)
    })
}

/// Returns the commands that remove one of these, whatever else they remove.
pub(crate) fn removes_data(text: &str, programs: &[Program]) -> Vec<Range<usize>> {
    let has_one = |program: &&Program| may_remove(text.get(program.span.clone()).unwrap_or_default());
    let removing: Vec<Program> = programs.iter().filter(has_one).cloned().collect();
    let mut found = Vec::new();
    each_actions(text, &removing, |actions, offset| {
        let spans =
            actions.runs.iter().filter(|run| !removed_directories(run).is_empty()).map(|run| run.span);
        found.extend(spans.map(|span| offset + span.start..offset + span.end));
    });
    found.sort_by_key(|span| span.start);
    found.dedup();
    found
}

/// Returns the directories of the home and the machine that a command removes.
pub(super) fn removed_directories(run: &Run<'_>) -> Vec<String> {
    let program = run.program().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    if !["rm", "srm", "grm"].contains(&program) {
        return Vec::new();
    }
    let words = || run.argv.iter().skip(1).map(spelled);
    let is_recursive = |word: String| {
        word == "--recursive" || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
    };
    if !words().any(is_recursive) {
        return Vec::new();
    }
    words().filter(|word| is_precious(word)).collect()
}

/// Whether a word names one of the directories, or everything in it.
fn is_precious(word: &str) -> bool {
    let home = ["~", "${HOME}", "$HOME"].iter().find_map(|home| word.strip_prefix(home));
    let home = home.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let (place, names) = match home {
        Some(rest) => (rest, PERSONAL_DIRECTORIES),
        None if word.starts_with('/') => (word, SYSTEM_DIRECTORIES),
        None => return false,
    };
    let mut parts = place.split('/').filter(|part| !part.is_empty() && *part != ".");
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let is_listed = first.is_empty() || names.contains(&first) || is_everything(first);
    is_listed && third.is_none() && second.is_none_or(is_everything)
}

/// Whether a pattern matches every name, or every hidden one: `*`, `.*`, `.[!.]*`, `{*,.*}`.
fn is_everything(part: &str) -> bool {
    part.contains('*') && part.bytes().all(|byte| b"*.?[]!^{},".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(script: &str) -> bool {
        let programs = [Program { span: 0..script.len(), is_listed: false, is_string: false }];
        !removes_data(script, &programs).is_empty()
    }

    #[test]
    fn a_removed_home_is_found_whatever_is_removed_with_it() {
        for script in [
            "rm -rf ~/Documents",
            "rm -rf ~/Documents ~/Desktop",
            "rm -rf build ~/Documents x",
            "rm -rf ~/* ~/.[!.]*",
            "rm -r -f -- $HOME/",
            "rm --recursive --force ~",
            "sudo rm -fr /* 2>/dev/null",
            "rm -rf \"$HOME\"/.ssh/",
            "cd /tmp && /bin/rm -Rf ./x /etc",
            "rm -rf ~/./Pictures/*",
        ] {
            assert!(is_found(script), "{script}");
        }
        for script in [
            "rm -rf build",
            "rm -rf ~/.cache/tool",
            "rm -rf ~/.config/tool ~/.local/share/tool",
            "rm ~/Documents/notes.txt",
            "rm -rf /tmp/work /var/lib/tool",
            "rm -rf ~/Documents/tool",
            "rm -f /etc",
            "rm -rf ~user",
            "rmdir ~/Documents",
            "echo rm -rf ~/Documents",
        ] {
            assert!(!is_found(script), "{script}");
        }
    }
}
