//! The records of a trail as an HTML page.

use stockade_guard::audit::Verified;

use super::html::bars::{Bar, Bars};
use super::html::timeline::figure;
use super::html::{END, Number, Tone, head, numbers, section, text};
use crate::report::record_tally::{RecordTally, Refusal};
use stockade_guard::admission::scan_report::Counted;

/// Tones and names of outcomes, in the order of their counts.
const OUTCOMES: [(Tone, &str); 3] =
    [(Tone::Good, "allowed"), (Tone::Doubtful, "asked"), (Tone::Bad, "refused")];

/// Returns the page.
pub(crate) fn page(trail: &str, tally: &RecordTally, verified: &Verified) -> String {
    let mut page = head("What agents did");
    page.push_str(&format!("<p class=\"lead\">{}</p>\n{}", lead(trail, tally), intact(verified)));
    page.push_str(&outcomes(tally));
    page.push_str(&section("Decisions over time", &figure(&tally.over_time, OUTCOMES)));
    page.push_str(&details(tally));
    for (heading, names, counted) in [("Agents", "agent", &tally.agents), ("Skills", "skill", &tally.skills)]
    {
        let parts = ["allowed", "asked", "refused"];
        page.push_str(&bars(
            &Bars { heading, names, parts: &parts },
            counted,
            OUTCOMES.map(|(tone, _)| tone),
        ));
    }
    page.push_str(&bars(
        &Bars {
            heading: "Commands by backend",
            names: "backend",
            parts: &["succeeded", "failed or stopped"],
        },
        &tally.backends,
        [Tone::Good, Tone::Doubtful],
    ));
    page.push_str(END);
    page
}

/// Formats how many decisions had each outcome.
pub(crate) fn outcomes(tally: &RecordTally) -> String {
    let [allowed, asked, refused] = tally.outcomes;
    let number = |tone, value, noun| Number { tone, value, noun };
    numbers(&[
        number(Tone::Good, allowed, "allowed"),
        number(Tone::Doubtful, asked, "asked about"),
        number(Tone::Bad, refused, "refused"),
        number(Tone::Bad, tally.skills_blocked, "skills rejected"),
    ])
}

/// Formats what was refused, and which hosts were contacted.
pub(crate) fn details(tally: &RecordTally) -> String {
    let rules = bars(
        &Bars { heading: "Refusals by rule", names: "rule", parts: &["asked", "refused"] },
        &tally.rules,
        [Tone::Doubtful, Tone::Bad],
    );
    let hosts = bars(
        &Bars { heading: "Hosts contacted", names: "host", parts: &["allowed", "refused"] },
        &tally.hosts,
        [Tone::Good, Tone::Bad],
    );
    [rules, refusals(tally), hosts].concat()
}

fn lead(trail: &str, tally: &RecordTally) -> String {
    let records = if tally.records == 1 { "record" } else { "records" };
    let span = match (&tally.first, &tally.last) {
        (Some(first), Some(last)) => format!(" from {} to {} (UTC)", moment(first), moment(last)),
        _ => String::new(),
    };
    format!("{} {records}{span} in <span class=\"path\">{}</span>", tally.records, text(trail))
}

/// Formats whether the trail is intact, on which everything else depends.
fn intact(verified: &Verified) -> String {
    if verified.intact() {
        return format!(
            "<p class=\"good\">The trail is intact: all {} records were verified.</p>\n",
            verified.records
        );
    }
    let faults: String =
        verified.faults.iter().map(|fault| format!("<li>{}</li>\n", text(&fault.to_string()))).collect();
    format!(
        "<p class=\"bad\">The trail was changed, and so may be the records below.</p>\n<ul>\n{faults}</ul>\n"
    )
}

fn bars<const N: usize>(what: &Bars<'_>, counted: &Counted<N>, tones: [Tone; N]) -> String {
    let row = |(name, counts): (&String, &[u64; N])| Bar {
        name: name.clone(),
        parts: tones.iter().copied().zip(counts.iter().copied()).collect(),
    };
    what.table(counted.by_name.iter().map(row).collect(), counted.unnamed)
}

fn refusals(tally: &RecordTally) -> String {
    if tally.refused.is_empty() {
        return String::new();
    }
    let rows: String = tally.refused.iter().rev().map(refusal).collect();
    let all = tally.outcomes.iter().last().copied().unwrap_or(0) + tally.skills_blocked;
    let shown = u64::try_from(tally.refused.len()).unwrap_or(u64::MAX);
    let more = match all.saturating_sub(shown) {
        0 => String::new(),
        older => format!("<p class=\"lead\">and {older} older</p>\n"),
    };
    let table = format!(
        "<table class=\"wide\">\n<thead><tr><th scope=\"col\">when</th><th scope=\"col\">what</th><th scope=\"col\">rule and reason</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n{more}"
    );
    section("Refusals, newest first", &table)
}

fn refusal(refusal: &Refusal) -> String {
    let by = if refusal.who.is_empty() { String::new() } else { format!("<br>{}", text(&refusal.who)) };
    let to_allow = refusal.to_allow.as_ref().map(|fix| format!("<p>To allow it: {}</p>", text(fix)));
    let why =
        refusal.id.as_ref().map(|id| format!("<p class=\"lead\"><code>stockade why {}</code></p>", text(id)));
    format!(
        "<tr><th scope=\"row\">{}{by}</th><td><code>{}</code><p class=\"lead\">{}</p></td><td><b>{}</b><p>{}</p>{}{}</td></tr>\n",
        moment(&refusal.when),
        text(&refusal.about),
        text(&refusal.event),
        text(&refusal.rule),
        text(&refusal.because),
        to_allow.unwrap_or_default(),
        why.unwrap_or_default(),
    )
}

/// Formats a time to the second.
fn moment(timestamp: &str) -> String {
    text(&timestamp.get(..19).unwrap_or(timestamp).replacen('T', " ", 1))
}
