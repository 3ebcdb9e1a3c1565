//! Properties of any bytes. Fuzz targets and ordinary tests both run these.

use stockade_names::{Root, fold, hits, treatment};

const ROOTS: [Root; 4] = [Root::Folder, Root::Home, Root::Repository, Root::Machine];

/// Any path: case changes nothing, a parent directory makes nothing milder, and neither does repeating the path below
/// itself.
pub(crate) fn lookup(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let path: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
    for root in ROOTS {
        let plain = treatment(root, &path);
        for hit in hits(root, &path) {
            assert!(hit.length <= path.len() && hit.length > 0, "{text}");
            assert!(plain.covers(hit.name.treatment()), "{text}: {}", hit.name.id);
        }
        let loud: Vec<String> = path.iter().map(|name| name.to_ascii_uppercase()).collect();
        assert_eq!(treatment(root, &loud), plain, "{text}");
        let folded: Vec<_> = path.iter().map(|name| fold(name)).collect();
        assert_eq!(treatment(root, &folded), plain, "{text}");
    }
    let alone = treatment(Root::Folder, &path);
    for around in ["x", ".git", "src/a/b", "node_modules"] {
        let deeper: Vec<&str> = around.split('/').chain(path.iter().copied()).collect();
        assert!(treatment(Root::Folder, &deeper).covers(alone), "{around}/{text}");
    }
    for root in [Root::Home, Root::Repository, Root::Machine] {
        assert!(treatment(root, &path).covers(alone), "{root:?} {text}");
    }
}
