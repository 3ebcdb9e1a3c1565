//! The operator's own texts behind the reasons of refusals and questions, by rule or host.

/// Maximum length of a text in characters: it is printed behind every reason.
const MAX_TEXT: usize = 400;

/// Texts of the operator, by rule or host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalTexts(Vec<(String, String)>);

/// Splits an entry `RULE: TEXT` or `HOST: TEXT`.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (subject, text) = text.split_once(": ")?;
    let text = text.trim();
    let is_subject = |c: char| c.is_ascii_alphanumeric() || "-_.*".contains(c);
    let is_shown =
        !text.is_empty() && text.chars().count() <= MAX_TEXT && !text.chars().any(char::is_control);
    (is_shown && !subject.is_empty() && subject.chars().all(is_subject)).then_some((subject, text))
}

impl RefusalTexts {
    /// Reads entries `RULE: TEXT` and `HOST: TEXT`. Others are left out.
    #[must_use]
    pub fn read(entries: &[String]) -> Self {
        let owned = |(subject, text): (&str, &str)| (subject.to_owned(), text.to_owned());
        Self(entries.iter().filter_map(|text| entry(text)).map(owned).collect())
    }

    /// Whether a text is an entry.
    #[must_use]
    pub fn is_entry(text: &str) -> bool {
        entry(text).is_some()
    }

    /// Returns the text for a decision by a rule about a subject, which may be a host, a URL or something else. The first entry
    /// that fits counts.
    #[must_use]
    pub fn of(&self, rule: &str, subject: &str) -> Option<&str> {
        let host = host_of(subject);
        let fits = |named: &str| named == rule || host.is_some_and(|host| covers(named, host));
        self.0.iter().find(|(named, _)| fits(named)).map(|(_, text)| text.as_str())
    }

    /// Returns a reason, followed by the text for it.
    #[must_use]
    pub fn after(&self, reason: String, rule: &str, subject: &str) -> String {
        match self.of(rule, subject) {
            Some(text) => format!("{reason}; {text}"),
            None => reason,
        }
    }
}

/// Returns the host of a URL or of `HOST:PORT`; nothing for a command, which has spaces, or a path.
fn host_of(subject: &str) -> Option<&str> {
    let rest = subject.split_once("://").map_or(subject, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    (!host.is_empty() && !subject.starts_with(['/', '.', '~']) && host.chars().all(is_name)).then_some(host)
}

/// Whether an entry `example.com` or `*.example.com` includes a host.
fn covers(entry: &str, host: &str) -> bool {
    match entry.strip_prefix("*.") {
        Some(above) => {
            host.len() > above.len() + 1
                && host.to_ascii_lowercase().ends_with(&format!(".{above}").to_ascii_lowercase())
        }
        None => entry.contains('.') && entry.eq_ignore_ascii_case(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_that_fits_counts() {
        let entries =
            ["git-beyond: ask #release", "*.corp.example: use the mirror", "docs.rs: read the local copy"];
        let messages = RefusalTexts::read(&entries.map(str::to_owned));
        for (rule, subject, text) in [
            ("git-beyond", "git push origin main", Some("ask #release")),
            ("git-beyond2", "git push", None),
            ("web", "https://a.corp.example/x?y", Some("use the mirror")),
            ("web", "A.CORP.example:443", Some("use the mirror")),
            ("web", "corp.example:443", None),
            ("web", "evilcorp.example", None),
            ("web", "docs.rs", Some("read the local copy")),
            ("web", "https://docs.rs@evil.example/", None),
            ("x", "cat docs.rs", None),
        ] {
            assert_eq!(messages.of(rule, subject), text, "{rule} {subject}");
        }
        assert_eq!(messages.after("no".to_owned(), "git-beyond", ""), "no; ask #release");
        assert_eq!(messages.after("no".to_owned(), "x", ""), "no");
    }

    #[test]
    fn an_entry_names_a_rule_or_a_host() {
        for wrong in ["", "text", ": text", "rule:", "rule: ", "a b: text", "rule: a\nb", "rule: \u{1b}[2J"] {
            assert_eq!(entry(wrong), None, "{wrong:?}");
        }
        assert_eq!(entry(&format!("rule: {}", "x".repeat(MAX_TEXT + 1))), None);
        assert_eq!(
            entry("*.a.example: see http://wiki: page 2"),
            Some(("*.a.example", "see http://wiki: page 2"))
        );
    }
}
