//! Properties of any bytes. Fuzz targets and ordinary tests both run these.

use stockade_eval::{Data, EvalLimits, EvalOptions, condition, eval, eval_async, interpolate};

/// Little of everything, so that each run is quick.
fn options() -> EvalOptions<'static> {
    let limits =
        EvalLimits { max_steps: 20_000, max_bytes: 1 << 20, max_output: 10_000, ..EvalLimits::default() };
    EvalOptions { limits, now_ms: Some(1_700_000_000_000.0), seed: Some(7), ..EvalOptions::default() }
}

fn vars() -> [(&'static str, Data); 4] {
    [
        ("a", Data::from(1)),
        ("s", Data::from("aé😀b, a")),
        ("xs", Data::from(vec![3, 1, 2])),
        ("o", Data::from([("a", Data::from([("b", Data::from("c"))])), ("1", Data::Null)])),
    ]
}

/// Any source: it terminates, is deterministic, stays within its limits, and names nothing that does not exist.
pub(crate) fn source(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let vars = vars();
    let value = eval(source, &vars, &options());
    match &value {
        Ok(value) => {
            assert!(size_of_data(value) <= 10_000, "{source}");
            assert!(is_clean(value), "{source}");
        }
        Err(error) => {
            assert!(error.message.chars().count() <= 600, "{source}: {}", error.message.len());
            assert!(
                error.span.is_none_or(|span| span.start <= span.end && span.end <= source.len()),
                "{source}"
            );
        }
    }
    assert_eq!(text(&value), text(&eval(source, &vars, &options())), "{source}");
    let holds = condition(source, &vars, &options());
    assert!(!holds || value.as_ref().map_or_else(|error| error.kind.is_limit(), |_| true), "{source}");
    if let (Ok(value), Ok(waited)) = (&value, eval_async(source, &vars, &options())) {
        assert_eq!(value.to_string(), waited.to_string(), "{source}");
    }
}

fn text(value: &Result<Data, stockade_eval::EvalError>) -> String {
    match value {
        Ok(value) => value.to_string(),
        Err(error) => format!("{:?} {}", error.kind, error.message),
    }
}

/// Any template: text outside of markers is unchanged, and no result is parsed again.
pub(crate) fn template(data: &[u8]) {
    let Ok(template) = std::str::from_utf8(data) else { return };
    let Ok(text) = interpolate(template, &vars(), &options()) else { return };
    if !template.contains("{{") {
        assert_eq!(text, template);
    }
    let escaped = [("x", Data::from(template))];
    // The last private characters of Unicode are refused.
    let is_taken = !template.chars().any(|c| c >= '\u{10f800}');
    if template.len() < 10_000 && is_taken {
        assert_eq!(interpolate("<{{x}}>", &escaped, &options()).unwrap(), format!("<{template}>"));
    }
}

/// Any regular expression, and any text: it is refused or answers, in time.
pub(crate) fn regex(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, text) = text.split_once('\n').unwrap_or((text, "aé😀b, a"));
    let vars = [("p", Data::from(pattern)), ("t", Data::from(text))];
    // Counted in code units: without the flag `u` a match may end within a character.
    let source = "const r = new RegExp(p, 'g');
        [t.replace(r, '').length + (t.match(r) ?? []).join('').length, t.length, t.split(r).length]";
    let Ok(Data::Array(all)) = eval(source, &vars, &options()) else { return };
    assert_eq!(all[0], all[1], "/{pattern}/ on {text:?}");
}

/// Any JSON: a round trip through `JSON.parse` and `JSON.stringify` preserves it.
pub(crate) fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let vars = [("t", Data::from(text))];
    let Ok(once) = eval("JSON.stringify(JSON.parse(t))", &vars, &options()) else { return };
    // JavaScript treats a number beyond the range as infinite, and a lone surrogate as itself.
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&without_halves(text)) {
        assert!(error.to_string().contains("out of range"), "{text:?}: {error}");
        return;
    }
    if serde_json::from_str::<serde_json::Value>(text).is_err() {
        return;
    }
    let vars = [("t", once.clone())];
    assert_eq!(eval("JSON.stringify(JSON.parse(t))", &vars, &options()), Ok(once.clone()), "{text:?}");
    let Ok(value) = eval("JSON.parse(t)", &vars, &options()) else { return };
    assert_eq!(Data::Text(value.to_string()), once, "{text:?}");
}

/// Writes another character for each escape of half of one: `\u0001` for `\ud801`.
fn without_halves(text: &str) -> String {
    let halves = ["d", "D"].into_iter().flat_map(|d| "89abcdefABCDEF".chars().map(move |next| (d, next)));
    halves.fold(text.to_owned(), |text, (d, next)| text.replace(&format!("\\u{d}{next}"), "\\u00"))
}

fn size_of_data(data: &Data) -> usize {
    match data {
        Data::Text(text) => text.len(),
        Data::Array(items) => items.iter().map(size_of_data).sum(),
        Data::Object(fields) => fields.iter().map(|(key, value)| key.len() + size_of_data(value)).sum(),
        _ => 0,
    }
}

fn is_clean(data: &Data) -> bool {
    match data {
        Data::Array(items) => items.iter().all(is_clean),
        Data::Object(fields) => fields.iter().all(|(key, value)| {
            !["__proto__", "constructor", "prototype"].contains(&key.as_str()) && is_clean(value)
        }),
        _ => true,
    }
}
