//! Tables of names with counts, as numbers and as bars. The numbers are readable without the graphics, for screen readers.

use std::fmt::Write as _;

use super::{Tone, section, text};

/// A name with its counts of each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// The parts of the bar, from left to right.
    pub(crate) parts: Vec<(Tone, u64)>,
}

/// Maximum rows of a table; others are only counted.
pub(crate) const MAX_BARS: usize = 20;

/// Headings of a table.
pub(crate) struct Bars<'t> {
    pub(crate) heading: &'t str,
    /// Heading of the names.
    pub(crate) names: &'t str,
    /// Headings of the counts, in order.
    pub(crate) parts: &'t [&'t str],
}

impl Bar {
    fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, part)| sum.saturating_add(*part))
    }
}

impl Bars<'_> {
    /// Formats the table, the largest rows first; empty without rows. `unnamed` is the count of names that were not stored.
    pub(crate) fn table(&self, mut rows: Vec<Bar>, unnamed: u64) -> String {
        rows.sort_by(|a, b| b.total().cmp(&a.total()).then_with(|| a.name.cmp(&b.name)));
        let Some(most) = rows.first().map(|row| row.total().max(1)) else { return String::new() };
        let mut body = String::new();
        for row in rows.iter().take(MAX_BARS) {
            body.push_str(&line(row, most));
        }
        let heads: String =
            self.parts.iter().map(|part| format!("<th scope=\"col\">{}</th>", text(part))).collect();
        let more = match (rows.len().saturating_sub(MAX_BARS), unnamed) {
            (0, 0) => String::new(),
            (rows, 0) => format!("<p class=\"lead\">and {rows} more</p>\n"),
            (rows, unnamed) => {
                format!("<p class=\"lead\">and {rows} more, and {unnamed} without a stored name</p>\n")
            }
        };
        let table = format!(
            "<table class=\"bars\">\n<thead><tr><th scope=\"col\">{}</th>{heads}<th scope=\"col\"></th></tr></thead>\n\
             <tbody>\n{body}</tbody>\n</table>\n{more}",
            text(self.names)
        );
        section(self.heading, &table)
    }
}

fn line(row: &Bar, most: u64) -> String {
    let mut counts = String::new();
    let mut drawn = String::new();
    let mut at = 0;
    for (tone, part) in &row.parts {
        // Writing to a string cannot fail.
        write!(counts, "<td class=\"count\">{part}</td>").ok();
        let width = thousandths(*part, most);
        if width > 0 {
            write!(
                drawn,
                "<rect class=\"fill-{}\" x=\"{at}\" y=\"0\" width=\"{width}\" height=\"10\"/>",
                tone.class()
            )
            .ok();
        }
        at += width;
    }
    format!(
        "<tr><th scope=\"row\" class=\"path\">{}</th>{counts}<td><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">{drawn}</svg></td></tr>\n",
        text(&row.name)
    )
}

/// Returns a part in thousandths of the whole, with a visible minimum.
pub(super) fn thousandths(part: u64, whole: u64) -> u64 {
    if part == 0 {
        return 0;
    }
    let share = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(1000).clamp(4, 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARS: Bars<'_> = Bars { heading: "Rules", names: "rule", parts: &["critical", "warnings"] };

    fn bar(name: &str, bad: u64, doubtful: u64) -> Bar {
        Bar { name: name.to_owned(), parts: vec![(Tone::Bad, bad), (Tone::Doubtful, doubtful)] }
    }

    #[test]
    fn the_longest_comes_first_and_fills_the_width() {
        let table = BARS.table(vec![bar("short", 1, 0), bar("long<", 3, 1)], 0);
        let (long, short) = (table.find("long&lt;").unwrap(), table.find("short").unwrap());
        assert!(long < short, "{table}");
        assert!(table.contains("x=\"0\" y=\"0\" width=\"750\""), "{table}");
        assert!(table.contains("x=\"750\" y=\"0\" width=\"250\""), "{table}");
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        assert_eq!(BARS.table(Vec::new(), 0), "");
        let rows: Vec<_> = (0..MAX_BARS + 3).map(|n| bar(&n.to_string(), 1, 0)).collect();
        assert!(BARS.table(rows.clone(), 0).contains("and 3 more</p>"));
        assert!(BARS.table(rows, 7).contains("and 3 more, and 7 without"));
    }

    #[test]
    fn bars_are_as_long_as_their_numbers_say() {
        for (part, whole, expected) in [
            (0, 10, 0),
            (1, 10, 100),
            (10, 10, 1000),
            (1, 1_000_000, 4),
            (u64::MAX, u64::MAX, 1000),
            (1, 0, 1000),
        ] {
            assert_eq!(thousandths(part, whole), expected, "{part} of {whole}");
        }
    }
}
