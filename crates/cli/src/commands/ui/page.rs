//! The page and the other answers of `stockade ui`.

use std::fmt::Write as _;

use stockade_guard::audit::AuditRecord;
use stockade_state::questions::{PendingQuestion, remaining};
use stockade_text::escape_path;

use super::recorded::Recorded;
use super::request::Refused;
use crate::commands::limits;
use crate::failure::Failure;
use crate::render::html::{END, Tone, live_head, policy_of_style, section, text};
use crate::render::records_html;
use crate::report::record_facts::{about, detail};

/// Seconds until the page loads again.
const RELOAD: u32 = 5;

/// The code and the phrase of a response.
pub(super) type Status = (u16, &'static str);

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    Allowed,
    Denied,
    Before,
    Expired,
    Failed,
}

/// Each notice, its name in the address of the page, its tone and its text.
const NOTICES: &[(Notice, &str, Tone, &str)] = &[
    (Notice::Allowed, "allowed", Tone::Good, "Allowed once."),
    (Notice::Denied, "denied", Tone::Good, "Denied."),
    (Notice::Before, "before", Tone::Doubtful, "That question was answered before; nothing was changed."),
    (Notice::Expired, "expired", Tone::Doubtful, "That question has expired; nothing was changed."),
    (Notice::Failed, "failed", Tone::Bad, "The answer could not be saved; run `stockade doctor`."),
];

impl Notice {
    /// Returns the notice with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        NOTICES.iter().find(|(_, one, ..)| *one == name).map(|(notice, ..)| *notice)
    }

    fn row(self) -> Option<&'static (Self, &'static str, Tone, &'static str)> {
        NOTICES.iter().find(|(notice, ..)| *notice == self)
    }
}

/// What the page shows.
pub(super) struct Shown<'s> {
    pub(super) agent: Option<&'s str>,
    pub(super) token: &'s str,
    pub(super) notice: Option<Notice>,
    /// The questions, or why they cannot be read.
    pub(super) asked: Result<Vec<PendingQuestion>, Failure>,
    pub(super) recorded: Result<&'s Recorded, Failure>,
}

/// Returns the response with the page.
pub(super) fn whole(shown: &Shown<'_>) -> String {
    let Shown { agent, token, notice, asked, recorded } = shown;
    let mut page = live_head("Agents on this machine", RELOAD, &format!("/{token}/"));
    if let Some((_, _, tone, words)) = notice.and_then(Notice::row) {
        writeln!(page, "<p class=\"{}\" role=\"status\">{}</p>", tone.class(), text(words)).ok();
    }
    page.push_str(&match asked {
        Ok(asked) => waiting(asked, *agent, token),
        Err(failure) => problem(failure),
    });
    page.push_str(&match recorded {
        Ok(Recorded { tally, newest, .. }) => {
            [records_html::outcomes(tally), decisions(newest.iter()), records_html::details(tally)].concat()
        }
        Err(failure) => problem(failure),
    });
    if let Some(spent) = limits::shown().ok().filter(|spent| !spent.is_empty()) {
        page.push_str(&section("What agents spent", &format!("<pre>{}</pre>\n", text_lines(&spent))));
    }
    page.push_str(END);
    response((200, "OK"), "", &page)
}

/// Returns a response that leads back to the page, so that loading it again sends no answer twice.
pub(super) fn moved(token: &str, notice: Notice) -> String {
    let name = notice.row().map_or("", |(_, name, ..)| name);
    response((303, "See Other"), &format!("Location: /{token}/?said={name}\r\n"), "")
}

/// Returns the response to a request that is refused.
pub(super) fn refused(refused: &Refused) -> String {
    let words = match refused {
        Refused::Token => "This address is not valid. Open the one that `stockade ui` printed last.",
        Refused::Host => "This page is only served as 127.0.0.1 or localhost.",
        Refused::Origin => "This form was not sent by the page itself.",
        Refused::Path => "There is only one page here.",
        Refused::Method => "This is not how the page is used.",
        Refused::Invalid => "This request cannot be understood.",
    };
    let page = format!("{}<p class=\"bad\">{}</p>\n{END}", crate::render::html::head("Refused"), text(words));
    response((*refused).into(), "", &page)
}

fn response((code, phrase): Status, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {code} {phrase}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: {}; form-action 'self'; frame-ancestors 'none'\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n{more}\r\n{body}",
        body.len(),
        policy_of_style()
    )
}

/// Formats the questions, each with a form for its answer.
fn waiting(asked: &[PendingQuestion], agent: Option<&str>, token: &str) -> String {
    let wanted = asked.iter().filter(|one| agent.is_none_or(|agent| one.content.agent == agent));
    let articles: String = wanted.map(|one| question(one, token)).collect();
    match articles.as_str() {
        "" => section("Waiting questions", "<p class=\"lead\">No question waits.</p>\n"),
        articles => section("Waiting questions", articles),
    }
}

fn question(question: &PendingQuestion, token: &str) -> String {
    let button = |answer: &str, label: &str| {
        format!(
            "<form method=\"post\" action=\"/{token}/answer\"><input type=\"hidden\" name=\"question\" value=\"{}\">\
             <button name=\"answer\" value=\"{answer}\">{label}</button></form>\n",
            text(&question.name)
        )
    };
    format!(
        "<article class=\"doubtful\">\n<h3>Agent {} asks, in <span class=\"path\">{}</span></h3>\n<pre>{}</pre>\n<p>{}</p>\n\
         <p class=\"lead\">for another {} seconds; the answer is for this one call</p>\n{}{}</article>\n",
        text(&question.content.agent),
        text(&escape_path(&question.content.workspace)),
        text(&question.subject),
        text(&question.reason),
        remaining(question).as_secs(),
        button("allow", "Allow once"),
        button("deny", "Deny")
    )
}

fn decisions<'r>(newest: impl Iterator<Item = &'r AuditRecord>) -> String {
    let rows: String = newest.map(row).collect();
    if rows.is_empty() {
        return section("Decisions, newest first", "<p class=\"lead\">No decision is on record.</p>\n");
    }
    let table = format!(
        "<table class=\"wide\">\n<thead><tr><th scope=\"col\">when (UTC)</th><th scope=\"col\">what</th>\
         <th scope=\"col\">decision</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    );
    section("Decisions, newest first", &table)
}

fn row(record: &AuditRecord) -> String {
    let answer = detail(record, "answer").map(|answer| format!("answer {answer}"));
    let effect = record.decision.clone().or(answer).unwrap_or_else(|| record.event.clone());
    let tone = match effect.as_str() {
        "allow" | "sandbox" => Tone::Good,
        "ask" => Tone::Doubtful,
        "deny" => Tone::Bad,
        _ => Tone::Plain,
    };
    let when = record.timestamp.get(..19).unwrap_or(&record.timestamp).replacen('T', " ", 1);
    format!(
        "<tr><th scope=\"row\">{}<br>{}</th><td><code>{}</code></td><td><b class=\"{}\">{}</b> {}</td></tr>\n",
        text(&when),
        text(record.agent.as_deref().unwrap_or_default()),
        text(&about(record).unwrap_or_default()),
        tone.class(),
        text(&effect),
        text(&detail(record, "reason").unwrap_or_default())
    )
}

fn problem(failure: &Failure) -> String {
    format!("<p class=\"bad\">{}</p>\n", text(failure.message()))
}

/// Escapes a text of several lines, which stay lines.
fn text_lines(lines: &str) -> String {
    lines.lines().map(|line| format!("{}\n", text(line))).collect()
}
