//! The properties of extraction on random pages, JSON and noise.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof, proptest};

use crate::extraction;

/// Pieces of pages and JSON, so that random texts are not all noise.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&str] = &[
        "<p>",
        "</p>",
        "<b hidden>",
        "</b>",
        "<table>",
        "<td>",
        "</td>",
        "<svg>",
        "<foreignObject>",
        "<select>",
        "</select>",
        "<style>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<li>",
        "<ul>",
        "</ul>",
        "<a href=x>",
        "<template>",
        "</template>",
        "<button>",
        "<form>",
        "</form>",
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "1",
        "-0.5e3",
        "true",
        "null",
        "\\u00e9",
        "\\ud83d\\udc4d",
        "\\",
        "a",
        " ",
        "\n",
        "\r\n",
        "é",
        "👩\u{200d}👧",
        "e\u{301}",
        "<math>",
        "<mi>",
        "<h1>",
        "</h2>",
        "<br/>",
        "<textarea>",
        "</textarea>",
        "<div style='",
        "'>",
        "&lt;",
        "<frameset>",
        "<body>",
        "</body>",
        "</html>",
        "<noframes>",
        "<plaintext>",
        "<caption>",
        "<option>",
        "<object>",
        "</object>",
    ];
    let piece = prop_oneof![
        4 => (0..PIECES.len()).prop_map(|n| PIECES.get(n).map_or_else(Vec::new, |piece| piece.as_bytes().to_vec())),
        1 => vec(any::<u8>(), 0..4),
    ];
    (any::<u8>(), vec(piece, 0..120)).prop_map(|(first, pieces)| {
        let mut bytes = vec![first];
        bytes.extend(pieces.concat());
        bytes
    })
}

proptest! {
    #[test]
    fn extraction_holds(data in pieces()) {
        extraction::extraction(&data);
    }

    #[test]
    fn extraction_holds_for_noise(data in vec(any::<u8>(), 0..600)) {
        extraction::extraction(&data);
    }

    #[test]
    fn hidden_text_stays_hidden(data in pieces()) {
        extraction::hidden_text(&data);
    }
}
