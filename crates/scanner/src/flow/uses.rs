//! Uses of a file or a secret: sent away, or merely used, named or read from.

use super::sources::{PICKS, SHOWS_WHO_ASKS, specific_words};
use super::{Inflow, Inflows};

/// How far before a secret its use is searched.
const REACH: usize = 120;

fn before(text: &str, at: usize, reach: usize) -> &str {
    text.get(text.floor_char_boundary(at.saturating_sub(reach))..at).unwrap_or_default()
}

/// Returns a line without a trailing comment.
pub(super) fn without_comment(line: &str) -> &str {
    let ends = ["  #", " # ", " // "].iter().filter_map(|mark| line.find(mark)).min();
    ends.and_then(|end| line.get(..end)).unwrap_or(line)
}

/// Whether a secret belongs to a host, judging by the name of its variable: by the registered domain label, not by a
/// subdomain.
pub(super) fn is_for(secret: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let mut labels = host.trim_end_matches('.').rsplit('.');
    let last = labels.next().unwrap_or_default();
    let second = labels.next().unwrap_or(last);
    let is_of_country =
        last.len() == 2 && matches!(second, "co" | "com" | "org" | "net" | "gov" | "ac" | "edu");
    let label = labels.next().filter(|_| is_of_country).unwrap_or(second);
    let is_label = |word: &str| word == label || ALSO_CALLED.contains(&(word, label));
    let joined: String = specific_words(secret).collect();
    specific_words(secret).any(|word| is_label(&word)) || is_label(&joined)
}

/// Words in variable names, and the domain label of their host.
const ALSO_CALLED: &[(&str, &str)] = &[
    ("aws", "amazonaws"),
    ("discord", "discordapp"),
    ("facebook", "fb"),
    ("gemini", "googleapis"),
    ("gh", "github"),
    ("github", "githubusercontent"),
    ("google", "googleapis"),
    ("hf", "huggingface"),
    ("npm", "npmjs"),
    ("twitter", "x"),
];

/// Whether a secret is in a place that authenticates a request, as opposed to its payload.
pub(super) fn shows_who_asks(text: &str, at: usize) -> bool {
    let line = before(text, at, REACH);
    let line = line.rsplit(['\n', ',']).next().unwrap_or_default();
    let body = [" -d", " -F", " --data", " --form"].iter().filter_map(|option| line.rfind(option)).max();
    SHOWS_WHO_ASKS.is_match(body.and_then(|body| line.get(body..)).unwrap_or(line))
}

/// Whether a file is named by a variable that is set for one command: the command gets the name, and nothing else on
/// the line does.
pub(super) fn is_of_environment(text: &str, at: usize, word: &str) -> bool {
    let before = before(text, at, REACH).trim_end_matches(['"', '\'']);
    let sets_only =
        before.trim_start().ends_with('=') && !before.trim_start().contains([' ', '\t', '|', '(', '`']);
    let after = text.get(at + word.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
    let rest = after.trim_start_matches([' ', '\t']);
    sets_only && rest.len() < after.len() && rest.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// Whether a path follows the name of another machine, as in `scp` and `rsync`.
pub(super) fn is_elsewhere(text: &str, at: usize) -> bool {
    let host =
        before(text, at, REACH).strip_suffix(':').map(|before| before.rsplit([' ', '\t', '"', '\'']).next());
    let copies = || ["scp ", "rsync ", "sftp "].iter().any(|tool| text.contains(tool));
    host.flatten().is_some_and(|host| host.contains(['@', '.']) && !host.contains('/')) && copies()
}

/// Options, each with the commands that use the file behind it for its intended purpose.
const USED_BY: &[(&str, &[&str])] = &[
    ("-i", &["ssh", "scp", "sftp", "rsync", "ssh-copy-id", "autossh", "mosh", "sed"]),
    ("-o", &["curl", "wget", "ssh", "scp", "sftp", "openssl", "gpg", "age", "sops"]),
];

/// The same, and words that name an operation on the file, if the command is the first word of its segment: elsewhere
/// the same word is a directory, an argument or part of an address.
const USED_BY_FIRST: &[(&str, &[&str])] = &[
    ("-p", &["mkdir", "install"]),
    ("-d", &["test", "[", "[["]),
    ("-e", &["test", "[", "[["]),
    ("-f", &["test", "[", "[[", "rm", "ssh-keygen", "dotenv", "ln", "touch"]),
    ("600", &["chmod", "install"]),
    ("700", &["chmod", "install"]),
    ("400", &["chmod", "install"]),
    ("0600", &["chmod", "install"]),
    ("--exclude", &["tar", "grep", "rsync"]),
    ("--exclude-from", &["tar", "grep", "rsync"]),
];

/// Commands that use the file right behind them without printing it.
const USED_AFTER: &[&str] = &[".", "source", "test", "ls", "mkdir", "touch", "dotenv", "load_dotenv"];

/// Commands that print what they read, whatever their options.
const READERS: &[&str] = &[
    "cat", "xxd", "base64", "base32", "head", "tail", "od", "hexdump", "strings", "grep", "awk", "sort",
    "tac", "rev", "nl", "tar", "gzip", "dd", "cut",
];

/// Commands whose output is not the content of the files that their options name.
const PRINTS_OTHERS: &[&str] = &["curl", "wget", "docker", "podman", "kubectl", "helm", "rsync", "ssh"];

/// Operators that write to the file.
const WRITES: &[&str] = &[">", ">>"];

/// Options before a file that is used as intended, or written.
const USES: &[&str] = &[
    "--output",
    "--key",
    "--cert",
    "--cacert",
    "--identity",
    "--identity-file",
    "IdentityFile",
    "--env-file",
    "--exclude",
    "--exclude-from",
    "--ignore",
    "--kubeconfig",
    "--config",
    "--netrc-file",
    "--key-file",
    "--keyfile",
    "--private-key",
    "--ssh-key",
    "--cookie-jar",
    "--load-cookies",
];

/// Words that may precede the first word of a command.
const BEFORE_COMMANDS: &[&str] = &[
    "if", "then", "do", "else", "elif", "while", "until", "!", "{", "time", "sudo", "command", "builtin", "$",
];

/// Whether the text before a file shows that the file is used as intended, written, or only changed in its
/// permissions.
pub(super) fn is_only_used(text: &str, at: usize) -> bool {
    let near = before(text, at, 32).trim_end_matches(['"', '\'', '@']);
    let last = near.trim_end().rsplit([' ', '\t', '\n', '(']).next().unwrap_or_default();
    // `--option=` equals `--option `.
    let last = if last.starts_with("--") { last.trim_end_matches('=') } else { last };
    if WRITES.contains(&last) {
        return true;
    }
    let segment = before(text, at, REACH).rsplit(['|', ';', '&', '`', '(', '\n']).next().unwrap_or_default();
    let name = |word: &'_ str| {
        let word = word.rsplit(['/', '=']).next().unwrap_or_default();
        word.trim_matches(['"', '\'']).to_owned()
    };
    // An address names no command, whatever its path ends with, and behind `--` there are no options.
    let words = segment.split_whitespace().filter(|word| !word.contains("://"));
    let mut words = words.map(name).skip_while(|word| BEFORE_COMMANDS.contains(&word.as_str()));
    let first = words.clone().next().unwrap_or_default();
    let is_piped = goes_on(text, at);
    let is_for = |table: &[(&str, &[&str])], name: &str| {
        table.iter().any(|(option, commands)| *option == last && commands.contains(&name))
    };
    if segment.split_whitespace().any(|word| word == "--") {
        return false;
    }
    if is_for(USED_BY_FIRST, &first) {
        let has_mode = first != "install" || !last.ends_with("00") || segment.contains("-m");
        return has_mode && (!is_piped || last.starts_with("--"));
    }
    if READERS.contains(&first.as_str()) {
        return false;
    }
    if USED_AFTER.contains(&last) {
        return first == last && words.count() == 1 && !is_piped;
    }
    if USED_BY.iter().any(|(option, _)| *option == last) {
        return words.any(|word| is_for(USED_BY, &word));
    }
    USES.contains(&last) && (!is_piped || PRINTS_OTHERS.contains(&first.as_str()))
}

/// Whether another command reads the output of a command.
fn goes_on(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.find(['|', ';', '&', '\n', ')', '`']).and_then(|end| rest.get(end..)).unwrap_or_default();
    end.starts_with('|') && !end.starts_with("||")
}

/// Whether a program's path is part of a sentence, which no shell runs.
pub(super) fn is_said(text: &str, at: usize) -> bool {
    let follows_a_blank = before(text, at, 1).ends_with([' ', '\t']);
    follows_a_blank
        && !["system(", "popen(", "exec", "spawn", "subprocess", "run("]
            .iter()
            .any(|call| text.contains(call))
}

/// Whether a word of a program is a member access, such as `answer.key`, and not a path.
pub(super) fn is_member(text: &str, at: usize, word: &str) -> bool {
    let is_quoted = before(text, at, 1).ends_with(['"', '\'', '`', '@', '=']);
    let is_file = word.contains('/') || text.get(at..).is_some_and(|rest| rest.starts_with(['@', '~']));
    !is_quoted && !is_file
}

/// Whether a word of a shell command is a `jq` query, such as `.key`, and not a path.
pub(super) fn is_query(text: &str, at: usize, word: &str) -> bool {
    word.starts_with('.')
        && !word.contains('/')
        && !word.starts_with(".env")
        && before(text, at, REACH).rsplit(['|', '(']).next().is_some_and(|command| command.contains("jq "))
}

/// Whether a shell statement takes one value out of a file by its key, and sends nothing itself.
pub(super) fn picks_a_value(text: &str) -> bool {
    PICKS.is_match(text)
        && !["curl", "wget", "nc ", "/dev/tcp", "base64"].iter().any(|tool| text.contains(tool))
}

/// Returns the inflow of one value from a secret file.
pub(super) fn picked(flows: Inflows) -> Inflows {
    if flows.contains(Inflow::SecretFile) {
        flows.without(Inflow::SecretFile).with(Inflows::of(&[Inflow::Setting]))
    } else {
        flows
    }
}

/// Whether a file contains the settings of a project, one value of which a request may legitimately use.
pub(super) fn is_of_project(word: &str) -> bool {
    word.rsplit('/').next().is_some_and(|last| last.starts_with(".env") || last.ends_with(".json"))
}

/// Whether a path is a scratch location of programs.
pub(super) fn is_scratch(word: &str) -> bool {
    let starts = ["/tmp/", "/var/tmp/", "/dev/shm/", "./", "$TMP", "${TMP"];
    let ends =
        [".tar", ".gz", ".tgz", ".zip", ".txt", ".json", ".log", ".b64", ".enc", ".dat", ".bin", ".out"];
    let is_address = word.contains("//");
    !is_address
        && (starts.iter().any(|start| word.starts_with(start)) || ends.iter().any(|end| word.ends_with(end)))
}
