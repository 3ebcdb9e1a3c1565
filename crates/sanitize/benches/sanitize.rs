//! `cargo bench -p stockade-sanitize`: the speed of cleaning, compared with merely reading a text.
//!
//! `STOCKADE_CORPUS=FOLDER` measures the SKILL.md files in FOLDER instead of synthetic ones. The comparison with
//! other implementations is in `benches/peers`.
#![expect(clippy::indexing_slicing, clippy::expect_used, reason = "a bench may stop")]

mod support;

use memchr::memmem::Finder;
use stockade_sanitize::{SanitizeOptions, sanitize};

fn main() {
    let options = SanitizeOptions::default();
    let opener = Finder::new("<!--");
    for set in support::sets() {
        let floor =
            |text: &str| usize::from(opener.find(text.as_bytes()).is_some()) + usize::from(text.is_ascii());
        let mut engines = [
            support::engine("sanitize", |text| sanitize(text, &options).body.len()),
            support::engine("memmem + is_ascii", floor),
        ];
        support::compare(&set, 31, &mut engines);
    }
}
