//! Shell lines that harnesses run as hooks, and the plugin for harnesses that load one.
//!
//! A harness without an answer that it understands uses the tool. So the line refuses by itself if this program is missing, was
//! killed, failed, or printed an invalid answer.

use stockade_guard::command::shell::{quote, quote_argv};
use stockade_guard::config::chosen_config_file;

use super::answer::{HookOutput, NOTHING, REFUSED, deny};
use super::{Answers, Harness, Moment, results};

/// What a line prints if this program did not answer, by which `doctor` recognizes it.
pub(crate) const BROKEN: &str = "stockade could not decide, so this is refused: its program is missing or has failed; run `stockade doctor` to find the cause";

/// Returns the line for a moment, which runs `program`.
pub(crate) fn line(harness: &Harness, moment: Moment, program: &str) -> String {
    let file = chosen_config_file().map(|file| file.to_string_lossy().into_owned());
    let config = file.as_deref().map(|file| ["--config", file]).into_iter().flatten();
    let words: Vec<&str> = [program, "hook", "--harness", harness.name].into_iter().chain(config).collect();
    let asks = |more: &[&str]| quote_argv(words.iter().chain(more).copied());
    let otherwise = match moment {
        Moment::Start => return asks(&[]),
        Moment::Before => deny(harness, BROKEN),
        Moment::After => results::unseen(harness, "its program is missing or has failed"),
    };
    let asks = asks(&[if moment == Moment::After { "--after" } else { "--before" }, "--said"]);
    match otherwise {
        said if said == HookOutput::nothing() => asks,
        HookOutput { code: 0, stdout, .. } => {
            let no = quote(stdout.trim_end());
            format!(
                "o=$({asks}) && case $o in \"{{\"*\"}}\") printf '%s\\n' \"$o\";; {NOTHING}) ;; *) false;; esac || \
                 printf '%s\\n' {no}"
            )
        }
        HookOutput { code, stderr, .. } => {
            let no = quote(stderr.trim_end());
            format!(
                "o=$({asks}); case $o in {NOTHING}) ;; {REFUSED}) exit {code};; *) printf '%s\\n' {no} >&2; exit \
                 {code};; esac"
            )
        }
    }
}

/// Returns the line for a moment as an earlier version wrote it, without the moment.
pub(crate) fn older(line: &str) -> String {
    line.replacen(" --before --said", " --said", 1)
}

/// Header of every file that this program writes.
pub(crate) const MARK: &str = "Written by `stockade install";

/// Returns an executable that is named like its event.
pub(crate) fn script(harness: &Harness, program: &str) -> String {
    let line = line(harness, Moment::Before, program);
    format!("#!/bin/sh\n# {MARK} {0}`; `stockade uninstall {0}` removes it.\n{line}\n", harness.name)
}

/// Returns the plugin for harnesses that load a module.
pub(crate) fn plugin(harness: &Harness, text: &str, program: &str) -> String {
    debug_assert_eq!(harness.answers, Answers::Plugin);
    let program = serde_json::Value::from(program).to_string();
    text.replace("NAME", harness.name).replace("PROGRAM_PATH", &program)
}
