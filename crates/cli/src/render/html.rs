//! HTML pages: single files without scripts that load nothing, and show untrusted text escaped.
//!
//! Two measures protect against hostile text: [`text`] escapes every character with a meaning in HTML, and the content security
//! policy of the page forbids scripts, external images, forms and other styles.

pub(crate) mod bars;
pub(crate) mod timeline;

use stockade_text::escape_markup;

use stockade_text::escape;

/// Style sheet of every page, for light and dark mode, desktops and phones.
const STYLE: &str = include_str!("html/page.css");

/// Digest of [`STYLE`], the only style sheet that the policy allows.
const STYLE_DIGEST: &str = "sha256-BGQEYfBuNkEdzotItDZpKMB0pBBdh+39KZ9C6Mu4gOE=";

/// Escapes a text: invisible and bidi characters become visible, characters of HTML become references.
pub(crate) fn text(text: &str) -> String {
    escape_markup(&escape(text)).replace('\'', "&#39;")
}

/// Returns the start of a page.
pub(crate) fn head(title: &str) -> String {
    let policy = policy_of_style();
    head_with(
        title,
        &format!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; form-action 'none'\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n"
        ),
    )
}

/// Returns the start of a page that is served, with its policies in the header of the response, and that loads this address again
/// after some seconds.
#[cfg(target_os = "linux")]
pub(crate) fn live_head(title: &str, seconds: u32, address: &str) -> String {
    head_with(title, &format!("<meta http-equiv=\"refresh\" content=\"{seconds};url={}\">\n", text(address)))
}

/// Returns the content security policy of a page, without the addresses of its forms.
pub(crate) fn policy_of_style() -> String {
    format!("default-src 'none'; style-src '{STYLE_DIGEST}'; base-uri 'none'")
}

fn head_with(title: &str, more: &str) -> String {
    let title = text(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{more}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )
}

/// The end of a page.
pub(crate) const END: &str = "</body>\n</html>\n";

/// One of the numbers at the top of a page.
pub(crate) struct Number {
    /// Its tone.
    pub(crate) tone: Tone,
    pub(crate) value: u64,
    pub(crate) noun: &'static str,
}

/// How to judge something. Each tone has a color and is also written out in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Bad,
    Doubtful,
    Good,
    Plain,
}

impl Tone {
    /// Returns the CSS class.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Doubtful => "doubtful",
            Self::Good => "good",
            Self::Plain => "plain",
        }
    }
}

/// Formats numbers in a row.
pub(crate) fn numbers(numbers: &[Number]) -> String {
    let shown = numbers.iter().map(|Number { tone, value, noun }| {
        // A count of zero is neutral.
        let tone = if *value == 0 { Tone::Plain } else { *tone };
        format!("<li class=\"{}\"><b>{value}</b> {}</li>\n", tone.class(), text(noun))
    });
    format!("<ul class=\"numbers\">\n{}</ul>\n", shown.collect::<String>())
}

/// Formats a section with its heading; empty if it has no content.
pub(crate) fn section(heading: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section>\n<h2>{}</h2>\n{body}</section>\n", text(heading))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_content_security_policy_allows_the_style_of_the_page() {
        assert_eq!(STYLE_DIGEST, format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(STYLE))));
        assert!(!STYLE.contains("</"), "it would end the style element");
    }

    proptest! {
        #[test]
        fn no_text_is_markup(hostile in ".*") {
            let shown = text(&hostile);
            prop_assert!(!shown.contains(['<', '>', '"', '\'']));
            let read = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
            prop_assert_eq!(read.replace("&amp;", "&"), escape(&hostile));
        }
    }
}
