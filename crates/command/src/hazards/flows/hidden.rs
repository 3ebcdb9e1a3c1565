//! Programs in substitutions that use the network, so that their output becomes a part of a command.

use super::table::HIDDEN_FETCH;
use crate::hazards::command::Command;
use crate::hazards::{Hazard, network};
use stockade_shell::{Actions, Arg, Run, Span};

/// Programs that query other machines, besides those that download and upload.
const ASKERS: &[&str] =
    &["dig", "drill", "host", "nslookup", "ping", "ping6", "whois", "finger", "ssh-keyscan"];

/// Finds programs in substitutions that use the network.
pub(super) fn find(actions: &Actions<'_>, found: &mut Vec<Hazard>) {
    if actions.substitutions.is_empty() {
        return;
    }
    let outermost = outermost(actions.substitutions.iter().map(|one| one.span).collect());
    let hidden = actions.runs.iter().filter(|run| is_within(&outermost, run.span) && reaches_network(run));
    found.extend(hidden.map(|run| HIDDEN_FETCH.at(run.span)));
}

/// Returns the outermost spans, in order, so that a program can be looked up by binary search, however deeply substitutions are
/// nested.
fn outermost(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    spans.retain(|span| {
        let is_outer = span.end > end;
        end = end.max(span.end);
        is_outer
    });
    spans
}

fn is_within(outermost: &[Span], span: Span) -> bool {
    let after = outermost.partition_point(|outer| outer.start <= span.start);
    after.checked_sub(1).and_then(|at| outermost.get(at)).is_some_and(|outer| span.end <= outer.end)
}

fn reaches_network(run: &Run<'_>) -> bool {
    let Some(command) = Command::of(run) else { return false };
    let name = command.name;
    let may = network::FETCHERS.contains(name) || network::SENDERS.contains(name) || ASKERS.contains(&name);
    may && !tells_of_itself(&command) && !stays_here(&command)
}

/// Whether it only prints help or a version: `curl --version`.
fn tells_of_itself(command: &Command<'_, '_>) -> bool {
    let mut words = command.words();
    let first = words.next().and_then(Arg::known);
    words.next().is_none() && matches!(first, Some("--version" | "--help" | "-V" | "version" | "help"))
}

/// Whether it reaches no other machine: it copies or hashes a local file, or connects to this machine.
fn stays_here(command: &Command<'_, '_>) -> bool {
    let is_certain = command.words().all(|word| word.known().is_some()) && !command.run.open_ended;
    match command.name {
        "openssl" => command.operand(0).is_some_and(|word| !matches!(word, "s_client" | "s_time" | "ocsp")),
        "rsync" => is_certain && command.known().all(|word| !word.contains(':')),
        "curl" | "wget" | "http" | "https" | "xh" => {
            let mut urls = command.operands().filter_map(Arg::known).peekable();
            // An option may name another host, or a file with options.
            let leads_elsewhere = command.has(
                "-x --proxy --preproxy --socks5 --socks4 --socks4a --socks5-hostname --connect-to --resolve -K --config \
                 -L --location --location-trusted --url -i --input-file -e --execute --interface --unix-socket",
            );
            is_certain && !leads_elsewhere && urls.peek().is_some() && urls.all(is_this_machine)
        }
        _ => false,
    }
}

/// Whether a URL refers to this machine, without resolving names.
fn is_this_machine(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).unwrap_or(url);
    // User information precedes an `@`, and braces expand to several hosts.
    if rest.contains(['@', '{', '[', '\\']) {
        return false;
    }
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    matches!(host, "localhost" | "127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_found_in_the_outermost_alone() {
        let span = |start, end| Span::new(start, end);
        let outer = outermost(vec![span(12, 15), span(3, 5), span(0, 10), span(12, 20), span(1, 9)]);
        assert_eq!(outer, [span(0, 10), span(12, 20)]);
        for (inner, is) in
            [(span(3, 4), true), (span(10, 12), false), (span(9, 13), false), (span(19, 20), true)]
        {
            assert_eq!(is_within(&outer, inner), is, "{inner:?}");
        }
    }
}
