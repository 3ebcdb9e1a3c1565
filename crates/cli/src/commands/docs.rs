//! `stockade docs`: the pages of the book, in the terminal.

mod pages;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

use pages::PAGES;

const EXAMPLES: &str = "\
Examples:
  stockade docs                      list all pages
  stockade docs allow                print a page
  stockade docs EAI_AGAIN            find an error message
  stockade docs corporate proxy      find pages with these words";

const MORE: &str = "\
Exit codes:
  0  done
  1  no page has these words

A word is the name of a page, or is looked up in titles, headings and texts, in this order. Pages are Markdown.";

/// Show the documentation in the terminal
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct DocsArgs {
    /// Name of a page, or words to find
    #[arg(value_name = "WORD")]
    words: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &DocsArgs) -> Result<Exit, Failure> {
    let (printed, exit) = match args.words.as_slice() {
        [] => (contents(), Exit::Clean),
        words => answer(words),
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

/// A part of a page that begins with a heading, up to the next one.
#[derive(Clone, Copy)]
struct Section {
    page: &'static str,
    heading: &'static str,
    text: &'static str,
}

fn contents() -> String {
    let mut list = String::new();
    for (name, text) in PAGES {
        writeln!(list, "{name:<26}{}", title(text)).ok();
    }
    list.push_str("\nRun 'stockade docs NAME' for a page.\n");
    list
}

fn answer(words: &[String]) -> (String, Exit) {
    let named = PAGES.iter().find(|(name, _)| match words {
        [word] => name == word || name.rsplit('/').next() == Some(word),
        _ => false,
    });
    if let Some((_, text)) = named {
        return (shown(text), Exit::Clean);
    }
    let mut found = headed(words);
    if let Some(first) = found.first().filter(|first| found.iter().all(|one| one.page == first.page)) {
        return (shown(first.text), Exit::Clean);
    }
    if found.is_empty() {
        found = sections().filter(|section| has_all(section.text, words)).collect();
    }
    if let [one] = found.as_slice() {
        return (shown(one.text), Exit::Clean);
    }
    if found.is_empty() {
        let told = format!("no page has: {}\n\nRun 'stockade docs' for all pages.\n", words.join(" "));
        return (told, Exit::Found);
    }
    let mut list = String::new();
    for section in &found {
        writeln!(list, "{:<26}{}", section.page, section.heading).ok();
    }
    (format!("{list}\nRun 'stockade docs NAME' for a page.\n"), Exit::Clean)
}

/// Returns the pages with the words in their titles, and the sections with the words in their headings and the titles above.
fn headed(words: &[String]) -> Vec<Section> {
    let mut found = Vec::new();
    for (page, text) in PAGES {
        let above = title(text);
        if has_all(above, words) {
            found.push(Section { page, heading: above, text });
            continue;
        }
        let below = sections().filter(|part| part.page == *page && part.text.starts_with("## "));
        found.extend(below.filter(|part| {
            has_all(&format!("{above} {}", part.heading), words)
                && words.iter().any(|word| has_all(part.heading, std::slice::from_ref(word)))
        }));
    }
    found
}

/// Returns the sections of all pages; the first one of a page has its title.
fn sections() -> impl Iterator<Item = Section> {
    PAGES.iter().flat_map(|(page, text)| {
        let starts = text.match_indices("\n## ").map(|(at, _)| at + 1);
        let ends = starts.clone().chain([text.len()]);
        let parts = [0].into_iter().chain(starts).zip(ends);
        parts.filter_map(|(start, end)| {
            let text = text.get(start..end)?;
            Some(Section { page, heading: title(text), text })
        })
    })
}

/// The heading that a text begins with.
fn title(text: &'static str) -> &'static str {
    text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
}

/// Whether each of the words begins a word of the text.
fn has_all(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    let begins = |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    words.iter().all(|word| text.match_indices(&word.to_lowercase()).any(|(at, _)| begins(at)))
}

/// Returns a text with included files named instead of included.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        match line.strip_prefix("{{#include ").and_then(|rest| rest.split([':', '}']).next()) {
            Some(file) => {
                let file = file.trim_start_matches("../");
                writeln!(shown, "The rest of this page is {file} of the repository.").ok();
            }
            None => writeln!(shown, "{line}").unwrap_or_default(),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_pages() {
        let printed = |words: &str| answer(&words.split(' ').map(str::to_owned).collect::<Vec<_>>()).0;
        for (words, begins) in [
            ("wsl", "# Windows and WSL"),
            ("how-to/wsl", "# Windows and WSL"),
            ("EAI_AGAIN", "## EAI_AGAIN"),
            ("hook not called", "## Hook not called"),
            ("git push", "# Git push"),
            ("devcontainer", "# Devcontainers and Docker"),
            ("off for one command", "## For one command"),
            ("why was it refused", "## Why was it refused?"),
            ("api key", "## Use a token or API key"),
            ("npm", "# Install packages"),
            ("zzzz", "no page has: zzzz"),
        ] {
            assert!(printed(words).starts_with(begins), "{words}: {}", printed(words));
        }
        assert!(printed("reference/config").contains("crates/config/CONFIG.md of the repository"));
    }

    /// Every section is a whole part of its page.
    #[test]
    fn no_text_is_lost_between_sections() {
        for (page, text) in PAGES {
            let parts: String = sections().filter(|part| part.page == *page).map(|part| part.text).collect();
            assert_eq!(&parts, text, "{page}");
        }
    }
}
