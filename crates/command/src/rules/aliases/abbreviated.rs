//! Programs that accept abbreviated subcommands.

/// How a program resolves an abbreviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginnings {
    /// The abbreviation must be unambiguous, as for npm and Mercurial.
    OfOne,
    /// The first word of the list with this prefix is used, as for iproute2.
    OfFirst,
    /// Abbreviations are not accepted.
    Whole,
}

/// Returns the words, each with all its forms: its aliases in `words`, and every abbreviation that resolves to it. With
/// `has_humps`, a word with a dash also has the form `installTest`.
pub(super) fn spelled(words: &[Vec<String>], beginnings: Beginnings, has_humps: bool) -> Vec<Vec<String>> {
    let all: Vec<(usize, &str)> = words
        .iter()
        .enumerate()
        .flat_map(|(number, names)| names.iter().map(move |name| (number, name.as_str())))
        .collect();
    let meant = |beginning: &str| -> Option<usize> {
        if let Some((number, _)) = all.iter().find(|(_, name)| *name == beginning) {
            return Some(*number);
        }
        let mut found = all.iter().filter(|(_, name)| name.starts_with(beginning)).map(|(number, _)| *number);
        let first = found.next()?;
        match beginnings {
            Beginnings::OfOne => found.next().is_none().then_some(first),
            Beginnings::OfFirst => Some(first),
            Beginnings::Whole => None,
        }
    };
    let mut spelled: Vec<Vec<String>> = words.to_vec();
    for (number, name) in &all {
        let ends = name.char_indices().map(|(at, _)| at).skip(1);
        let begun = ends.filter_map(|end| name.get(..end)).filter(|begun| meant(begun) == Some(*number));
        let written: Vec<String> = begun.map(str::to_owned).collect();
        let Some(own) = spelled.get_mut(*number) else { continue };
        own.extend(written.into_iter().filter(|one| !one.ends_with('-')));
        if has_humps {
            let humps: Vec<String> = own.iter().filter_map(|name| with_humps(name)).collect();
            own.extend(humps);
        }
        let mut seen = std::collections::HashSet::new();
        own.retain(|one| seen.insert(one.clone()));
    }
    spelled
}

/// Returns `installTest` for `install-test`.
fn with_humps(name: &str) -> Option<String> {
    let (first, rest) = name.split_once('-')?;
    let rest = rest.split('-').map(|part| {
        let mut letters = part.chars();
        letters
            .next()
            .map(|letter| letter.to_ascii_uppercase())
            .into_iter()
            .chain(letters)
            .collect::<String>()
    });
    Some(std::iter::once(first.to_owned()).chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, beginnings: Beginnings) -> Vec<String> {
        let words: Vec<Vec<String>> =
            text.split(' ').map(|word| word.split('|').map(str::to_owned).collect()).collect();
        spelled(&words, beginnings, true).into_iter().map(|names| names.join("|")).collect()
    }

    #[test]
    fn a_beginning_means_one_word_or_the_first() {
        assert_eq!(of("route rule", Beginnings::OfOne), ["route|ro|rou|rout", "rule|ru|rul"]);
        assert_eq!(of("route rule", Beginnings::OfFirst), ["route|r|ro|rou|rout", "rule|ru|rul"]);
        assert_eq!(of("run|rum", Beginnings::OfFirst), ["run|rum|r|ru"]);
        assert_eq!(
            of("a-b ab", Beginnings::OfOne),
            ["a-b|aB", "ab"],
            "what is written for two words is written for none"
        );
    }
}
