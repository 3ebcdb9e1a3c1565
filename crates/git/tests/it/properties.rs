//! Properties of every input, however hostile. The fuzz targets call these functions; ordinary tests replay the seeds
//! and random bytes through them.

use stockade_git::{ObjectId, git_settings as parse_settings, indexed_files, read_settings, submodule_paths};

/// Settings are bounded, and each has a section and a name that git would accept.
pub(crate) fn git_settings(data: &[u8]) {
    let Ok(settings) = parse_settings(data) else {
        // What precedes the error is read all the same, and nothing behind it.
        if let Ok(text) = std::str::from_utf8(data) {
            let read: Vec<_> = read_settings(text).collect();
            assert!(read.last().is_some_and(Result::is_err) && read.iter().rev().skip(1).all(Result::is_ok));
        }
        return;
    };
    assert!(settings.len() <= data.len());
    for setting in &settings {
        let (section, name) = (setting.section(), setting.name());
        let parts = [Some(section), setting.subsection(), Some(name)];
        assert_eq!(parts.into_iter().flatten().collect::<Vec<_>>().join("."), setting.key);
        assert!(name.starts_with(|letter: char| letter.is_ascii_lowercase()), "{setting:?}");
        assert!(!section.contains(|letter: char| letter.is_ascii_uppercase()), "{setting:?}");
    }
    let size = |one: &stockade_git::GitSetting| one.value.as_ref().map_or(0, String::len);
    assert!(settings.iter().map(size).sum::<usize>() <= data.len());
    // A comment and an empty line at the end change nothing, unless the last value continues there.
    if !data.ends_with(b"\\") {
        let more = [data, b"\n# x\n\n"].concat();
        assert_eq!(parse_settings(&more).as_ref(), Ok(&settings));
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
