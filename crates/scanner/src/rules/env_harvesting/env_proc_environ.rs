use crate::rule::{Category, Exception, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "ENV_PROC_ENVIRON",
    category: Category::EnvHarvesting,
    severity: Severity::Warn,
    summary: "Direct read of process environment via /proc",
    remedy: "Read the one variable that is needed instead of a process's whole environment.",
    patterns: &[Pattern {
        note: "the file, of any process",
        regex: r"(?i)/proc/{1,4}(?:\./{1,2}){0,4}(?:[^\s/]{1,32}|\$\([^)\n]{1,40}\)|`[^`\n]{1,40}`)/{1,4}(?:\.{1,2}/{1,2}(?:self/{1,2})?){0,4}(?:task/{1,2}[^\s/]{1,32}/{1,2})?[\x22']?env(?:iron\b|\w{0,5}[?*])",
        regions: Regions::ANY,
        exceptions: &[Exception::After(r"^(?:_|-\w|\.\w)")],
    }],
    matches: &[
        "/proc/self/environ",
        "cat /proc/1/environ",
        "cat /proc/$$/environ",
        "strings /proc/*/environ",
        "cat /proc/${PID}/task/1/environ",
        "cat /proc/self//environ",
        "cat /proc/./self/environ",
        "cat /proc/self/../self/environ",
        "cat /proc/$(pgrep node)/environ",
        "cat /proc/self/enviro?",
        "cat /proc/self/env*",
        "cat /proc/self/'environ'",
    ],
    clean: &["/proc/self/cmdline", "/proc/environ_x", "/proc/self/status and the environment"],
};
