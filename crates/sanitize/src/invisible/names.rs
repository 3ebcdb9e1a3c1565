//! The list of invisible characters with their names for reports.

/// First, last, name: every character that is removed unless its neighbours give it a meaning, in code point order.
/// It contains Unicode's Default_Ignorable_Code_Point, the control characters except tab and the line ends, and
/// characters without a glyph that Unicode does not count as ignorable.
#[rustfmt::skip]
const INVISIBLE: &[(u32, u32, &str)] = &[
    (0x0000,  0x0008,  "control character"),
    (0x000B,  0x000C,  "control character"),
    (0x000E,  0x001A,  "control character"),
    (0x001B,  0x001B,  "escape"),
    (0x001C,  0x001F,  "control character"),
    (0x007F,  0x009F,  "control character"),
    (0x00AD,  0x00AD,  "soft hyphen"),
    (0x034F,  0x034F,  "combining grapheme joiner"),
    (0x061C,  0x061C,  "arabic letter mark"),
    (0x115F,  0x1160,  "hangul filler"),
    (0x17B4,  0x17B5,  "khmer inherent vowel"),
    (0x180B,  0x180D,  "mongolian variation selector"),
    (0x180E,  0x180E,  "mongolian vowel separator"),
    (0x180F,  0x180F,  "mongolian variation selector"),
    (0x200B,  0x200B,  "zero-width space"),
    (0x200C,  0x200C,  "zero-width non-joiner"),
    (0x200D,  0x200D,  "zero-width joiner"),
    (0x200E,  0x200E,  "left-to-right mark"),
    (0x200F,  0x200F,  "right-to-left mark"),
    (0x202A,  0x202E,  "bidi control"),
    (0x2060,  0x2060,  "word joiner"),
    (0x2061,  0x2064,  "invisible operator"),
    (0x2065,  0x2065,  "ignorable"),
    (0x2066,  0x2069,  "bidi control"),
    (0x206A,  0x206F,  "deprecated format character"),
    (0x2800,  0x2800,  "blank braille pattern"),
    (0x3164,  0x3164,  "hangul filler"),
    (0xFDD0,  0xFDEF,  "noncharacter"),
    (0xFE00,  0xFE0F,  "variation selector"),
    (0xFEFF,  0xFEFF,  "byte order mark"),
    (0xFFA0,  0xFFA0,  "hangul filler"),
    (0xFFF0,  0xFFF8,  "ignorable"),
    (0xFFF9,  0xFFFB,  "interlinear annotation"),
    (0xFFFC,  0xFFFC,  "object replacement character"),
    (0x13441, 0x13442, "blank hieroglyph"),
    (0x16FE4, 0x16FE4, "khitan filler"),
    (0x1BCA0, 0x1BCA3, "shorthand format control"),
    (0x1D159, 0x1D159, "musical null notehead"),
    (0x1D173, 0x1D17A, "musical format control"),
    (0xE0000, 0xE007F, "tag block"),
    (0xE0080, 0xE00FF, "ignorable"),
    (0xE0100, 0xE01EF, "variation selector"),
    (0xE01F0, 0xE0FFF, "ignorable"),
];

/// Returns the name of an invisible character, `None` for a visible one.
pub(crate) fn invisible_name(c: char) -> Option<&'static str> {
    let code = u32::from(c);
    // The last two code points of each plane are noncharacters.
    if code & 0xFFFE == 0xFFFE {
        return Some("noncharacter");
    }
    let after = INVISIBLE.partition_point(|&(first, ..)| first <= code);
    let &(_, last, name) = INVISIBLE.get(after.checked_sub(1)?)?;
    (code <= last).then_some(name)
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};
    use unicode_normalization::UnicodeNormalization;
    use unicode_normalization::char::canonical_combining_class;

    use super::{INVISIBLE, invisible_name};

    #[test]
    fn rows_are_in_order_and_do_not_overlap() {
        assert!(INVISIBLE.iter().all(|(first, last, _)| first <= last));
        assert!(INVISIBLE.is_sorted_by(|(_, last, _), (next, ..)| last < next));
    }

    #[test]
    fn every_default_ignorable_code_point_is_listed() {
        let hir = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else { panic!("not a class") };
        let listed = class.ranges().iter().flat_map(|range| range.start()..=range.end());
        let missing: Vec<char> = listed.filter(|&c| invisible_name(c).is_none()).collect();
        assert_eq!(missing, []);
    }

    #[test]
    fn every_control_character_but_tab_and_line_ends_is_listed() {
        for c in ('\0'..='\u{FFFF}').filter(|c| c.is_control()) {
            assert_eq!(invisible_name(c).is_none(), matches!(c, '\t' | '\n' | '\r'), "{c:?}");
        }
    }

    // Steps 2 and 3 can share a walk because an invisible character never moves or joins its neighbours.
    #[test]
    fn invisible_characters_are_starters_that_only_become_invisible_ones() {
        for c in ('\0'..=char::MAX).filter(|&c| invisible_name(c).is_some()) {
            assert_eq!(canonical_combining_class(c), 0, "{c:?}");
            assert!(c.to_string().nfkc().all(|part| invisible_name(part).is_some()), "{c:?}");
        }
    }

    #[test]
    fn no_visible_character_becomes_an_invisible_one() {
        for c in ('\0'..=char::MAX).filter(|&c| invisible_name(c).is_none()) {
            assert!(c.to_string().nfkc().all(|part| invisible_name(part).is_none()), "{c:?}");
        }
    }
}
