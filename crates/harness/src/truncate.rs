//! Truncation of a structured result to the limit of its profile: the longest texts are cut, as little as necessary.

use serde_json::Value;
use stockade_guard::output::{ProfileOverride, SourceProfile, extract};

use super::shape::texts;

/// Truncates the texts of a result to a total limit; `None` if they fit.
pub(super) fn cut(result: &Value, limits: &SourceProfile) -> Result<Option<Value>, String> {
    let texts = texts(result)?;
    let chars: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    // Texts are truncated at line ends.
    let between = texts.len().saturating_sub(1);
    let bytes = texts.iter().map(|text| text.len()).sum::<usize>() + between;
    let most = match bytes > limits.max_response_bytes() {
        true => limits.max_chars().min(limits.max_response_bytes() / 4),
        false => limits.max_chars(),
    };
    if chars.iter().sum::<usize>() + between <= most {
        return Ok(None);
    }
    let each = share(chars, most.saturating_sub(between));
    let wish = ProfileOverride { max_chars: u64::try_from(each).ok(), ..ProfileOverride::default() };
    Ok(Some(shortened(result, each, &limits.with(&wish))))
}

/// Returns the maximum length of each text for a total of `most`. Shorter texts leave their share to longer ones.
fn share(mut lengths: Vec<usize>, most: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, mut others) = (most, lengths.len());
    for length in lengths {
        let share = left / others.max(1);
        if length > share {
            return share;
        }
        (left, others) = (left - length, others - 1);
    }
    most
}

fn shortened(value: &Value, each: usize, limits: &SourceProfile) -> Value {
    match value {
        Value::String(text) if text.chars().nth(each).is_some() => {
            Value::String(extract(text.as_bytes(), limits, None).text)
        }
        Value::Array(items) => items.iter().map(|item| shortened(item, each, limits)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), shortened(value, each, limits))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stockade_guard::output::resolve_source;

    #[test]
    fn what_is_shorter_leaves_its_rest_to_others() {
        for (lengths, most, wanted) in [
            (vec![10, 10], 20, 20),
            (vec![10, 100], 50, 40),
            (vec![100, 100, 2], 50, 24),
            (vec![7], 5, 5),
            (vec![], 5, 5),
        ] {
            assert_eq!(share(lengths.clone(), most), wanted, "{lengths:?}");
        }
    }

    #[test]
    fn all_texts_together_fit_and_the_short_ones_stay() {
        let limits = resolve_source("bash", &ProfileOverride::default());
        let most = limits.max_chars();
        let whole = json!({"stdout": "x".repeat(most - 2), "stderr": "e"});
        assert_eq!(cut(&whole, &limits).unwrap(), None);
        for result in [
            json!({"stdout": "line\n".repeat(most), "stderr": "e"}),
            json!({"stdout": "o\n".repeat(most), "stderr": "e\n".repeat(most), "more": ["m".repeat(most), 1]}),
            json!({"stdout": "\u{1f600}\n".repeat(most), "stderr": "e"}),
        ] {
            let fits = cut(&result, &limits).unwrap().unwrap();
            let texts = texts(&fits).unwrap();
            let chars: usize = texts.iter().map(|text| text.chars().count() + 1).sum();
            assert!(chars <= most + 1 && chars > most / 2, "{chars}");
            assert!(result["stderr"] != "e" || fits["stderr"] == "e");
            assert_eq!(cut(&fits, &limits).unwrap(), None);
        }
    }
}
