//! Facts of a text: reads it once for each kind.

use stockade_text::PositionCursor;

use crate::decoded::each_decoded;
use crate::deobfuscate::invisible;
use crate::facts::{self, FactPlace, Facts, HiddenFact, HiddenKind};
use crate::regions::{RegionMap, Syntax};

/// Returns the facts of a text: what it claims, runs, downloads, removes and hides. Decides nothing.
///
/// Time is linear in the text, and each list has at most [`Facts::MAX_LISTED`] rows.
///
/// ```
/// use stockade_scanner::{Syntax, facts_of};
///
/// let text = "```sh\ncurl -o /tmp/i https://x.example/i\n```\n\nThen:\n\n```sh\nbash /tmp/i\n```\n";
/// let facts = facts_of(text, Syntax::Markdown);
/// let download = &facts.downloads[0];
/// assert_eq!((download.addresses[0].as_str(), download.place.line), ("https://x.example/i", 2));
/// assert_eq!(download.run_by.as_ref().unwrap().line, 8);
/// ```
#[must_use]
pub fn facts_of(text: &str, syntax: Syntax) -> Facts {
    let mut regions = RegionMap::new(text, syntax);
    let downloading = regions.in_shell(true);
    let mut programs = regions.in_shell(false);
    if let Some(whole) = programs.first().filter(|program| program.is_listed).cloned() {
        // A file of another language lists commands if it is no program itself; else its strings are passed to shells.
        let called: Vec<_> =
            facts::quoted(text).filter(|(_, is_called)| *is_called).map(|(program, _)| program).collect();
        programs = if called.is_empty() { vec![whole] } else { called };
    }
    let facts::Listed { commands, removals, packages } = facts::listed(text, &programs);
    let mut hidden = facts::hidden(text);
    each_decoded(text, |found| hidden.push(HiddenFact::new(HiddenKind::Encoded, &found.text, found.span)));
    hidden.extend(invisible(text).into_iter().map(|span| {
        let shown = text.get(span.clone()).unwrap_or_default();
        HiddenFact::new(HiddenKind::Invisible, shown, span)
    }));
    let mut facts = Facts {
        claims: facts::claims(text),
        commands,
        downloads: facts::downloads(text, &downloading),
        packages,
        removals,
        hidden,
        truncated: false,
    };
    facts.place(text);
    facts
}

impl Facts {
    /// Sorts the facts by place, limits their number, and gives each its line.
    fn place(&mut self, text: &str) {
        let Self { claims, commands, downloads, packages, removals, hidden, truncated } = self;
        *truncated |= sort(claims, text, |fact| &mut fact.place);
        *truncated |= sort(commands, text, |fact| &mut fact.place);
        *truncated |= sort(downloads, text, |fact| &mut fact.place);
        *truncated |= sort(packages, text, |fact| &mut fact.place);
        *truncated |= sort(removals, text, |fact| &mut fact.place);
        *truncated |= sort(hidden, text, |fact| &mut fact.place);
        let mut runs: Vec<&mut FactPlace> =
            downloads.iter_mut().filter_map(|fact| fact.run_by.as_mut()).collect();
        runs.sort_by_key(|place| place.byte_offset);
        number(runs.into_iter(), text);
    }
}

/// Sorts facts of one kind and numbers their lines. Returns whether some were dropped.
fn sort<F>(facts: &mut Vec<F>, text: &str, place: impl Fn(&mut F) -> &mut FactPlace) -> bool {
    let mut keyed: Vec<(usize, F)> =
        std::mem::take(facts).into_iter().map(|mut fact| (place(&mut fact).byte_offset, fact)).collect();
    keyed.sort_by_key(|(start, _)| *start);
    let is_cut = keyed.len() > Facts::MAX_LISTED;
    facts.extend(keyed.into_iter().map(|(_, fact)| fact).take(Facts::MAX_LISTED));
    number(facts.iter_mut().map(place), text);
    is_cut
}

/// Gives places, which are in order, their lines.
fn number<'p>(places: impl Iterator<Item = &'p mut FactPlace>, text: &str) {
    let mut cursor = PositionCursor::new(text);
    for place in places {
        place.line = cursor.advance(place.byte_offset).line;
    }
}
