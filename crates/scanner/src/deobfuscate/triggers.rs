//! Patterns that the prefilter matches on behalf of the deobfuscated view.

use super::obfuscation::Obfuscation::{self, Comments, Letters, Markup, Quoting};

/// Byte patterns without which the deobfuscated view cannot differ in a relevant way, in the syntax of rules.
///
/// They are selective on purpose: most real skills contain some non-ASCII text, and nearly all contain quotes and
/// backslashes.
pub(crate) const TRIGGERS: &[(Obfuscation, &str)] = &[
    // Full-width and mathematical letters.
    (Letters, r"\xEF\xBC[\xA1-\xBA]|\xEF\xBD[\x81-\x9A]|\xF0\x9D[\x90-\x9F]"),
    // Other forms of letters, digits and signs; signs that are common in honest texts count only between visible
    // ASCII.
    (Letters, r"{letter-form}|{digit-form}|{sign-form}|(?:^|[!-~])[ \t]*{common-sign-form}\s*[!-~]"),
    // Look-alike letters of Greek, Cyrillic, Armenian and the phonetic alphabet beside an ASCII letter or digit.
    (
        Letters,
        r"\w{idle}{0,2}(?:[\xC9\xCA\xCE-\xD6]|\xC4\xB1)|(?:[\xC9\xCA\xCE-\xD6][\x80-\xBF]|\xC4\xB1){idle}{0,2}\w",
    ),
    // Words of look-alikes alone require letters that do not occur in ordinary Russian, Greek or Armenian text.
    (
        Letters,
        r"(?:\xD1\x95|\xD2\xBB|\xD4[\x81\x9B\x9D]){idle}{0,2}[\xD0-\xD6]|[\xD0-\xD6][\x80-\xBF]{idle}{0,2}(?:\xD1\x95|\xD2\xBB|\xD4[\x81\x9B\x9D])",
    ),
    // Invisible characters beside visible ASCII. Variation selectors behind anything else, or behind a digit of a
    // keycap, belong to emoji, unless a letter follows.
    (Letters, r"[!-~]\s*(?:{invisible}|\xEF\xBB\xBF)"),
    (Letters, r"(?:{invisible}|[ \t]\xEF\xBB\xBF)\s*[!-~]"),
    (
        Letters,
        r"[\t-\x22$-)+-/:-~]\xEF\xB8[\x80-\x8F]|[0-9#*]\xEF\xB8(?:[\x80-\x8E]|\x8F[^\xE2])|\xEF\xB8[\x80-\x8F][A-Za-z]",
    ),
    // The same between letters of other alphabets in which the rules have words.
    (
        Letters,
        r"(?:[\xD0-\xDF][\x80-\xBF]|[\xE0\xE1\xE3-\xED][\x80-\xBF][\x80-\xBF])(?:{invisible}|\xEF\xBB\xBF|\xEF\xB8[\x80-\x8F])",
    ),
    // Spaces other than the ASCII space, separated from visible ASCII only by such spaces.
    (Letters, r"[!-~][ \t]*{other-space}|[|\\]\s*{other-space}"),
    (Letters, r"{other-space}[ \t]*[!-~]"),
    // Comments behind visible ASCII on the line, or where a command continues.
    (Comments, r"[!-~][ \t]*<!--|[|\\]\s*<!--"),
    // Quotations of several lines.
    (Markup, r"(?:^|\n) {0,3}>[^\n]*\n {0,3}>"),
    // The box of a task before a fence.
    (Markup, r"\[[ xX]\][ \t]*(?:```|~~~)"),
    // Underscores before the first of several emphasised words, or before what begins a command.
    (Markup, r"(?:^|[\s(\[*>|:])__?_?[0-9A-Za-z/~.$`<\[(\{][^\n]*?_"),
    // No-op quoting inside a word of `quoting::WORDS`, at its first position.
    (
        Quoting,
        r"\b(?:b{idle}a|ba{idle}s|bas{idle}[eh]|base{idle}6|base6{idle}4|c{idle}u|cu{idle}r|cur{idle}l|w{idle}g|wg{idle}e|wge{idle}t|e{idle}[vn]|ev{idle}a|eva{idle}l|en{idle}v|s{idle}[ho]|so{idle}c|soc{idle}a|soca{idle}t|[zkd]{idle}[sa]|[zk]s{idle}h|da{idle}s|das{idle}h|p{idle}[yehr]|pr{idle}i|pri{idle}n|prin{idle}t|print{idle}e|printe{idle}n|printen{idle}v|t{idle}c|tc{idle}p|u{idle}d|ud{idle}p|py{idle}t|pyt{idle}h|pyth{idle}o|pytho{idle}n|python{idle}3|pe{idle}r|per{idle}l|ph{idle}p|r{idle}u|ru{idle}b|rub{idle}y|n{idle}[co]|nc{idle}a|nca{idle}t|no{idle}d|nod{idle}e|i{idle}[ew]|ie{idle}x|iw{idle}r|x{idle}m|xm{idle}r|xmr{idle}i|xmri{idle}g)",
    ),
    // The same with repeated quotes in one position.
    (
        Quoting,
        r"\b(?:b{idle}{2,}a|ba{idle}{2,}s|bas{idle}{2,}[eh]|base{idle}{2,}6|base6{idle}{2,}4|c{idle}{2,}u|cu{idle}{2,}r|cur{idle}{2,}l|w{idle}{2,}g|wg{idle}{2,}e|wge{idle}{2,}t|e{idle}{2,}[vn]|ev{idle}{2,}a|eva{idle}{2,}l|en{idle}{2,}v|s{idle}{2,}[ho]|so{idle}{2,}c|soc{idle}{2,}a|soca{idle}{2,}t|[zkd]{idle}{2,}[sa]|[zk]s{idle}{2,}h|da{idle}{2,}s|das{idle}{2,}h|p{idle}{2,}[yehr]|pr{idle}{2,}i|pri{idle}{2,}n|prin{idle}{2,}t|print{idle}{2,}e|printe{idle}{2,}n|printen{idle}{2,}v|t{idle}{2,}c|tc{idle}{2,}p|u{idle}{2,}d|ud{idle}{2,}p|py{idle}{2,}t|pyt{idle}{2,}h|pyth{idle}{2,}o|pytho{idle}{2,}n|python{idle}{2,}3|pe{idle}{2,}r|per{idle}{2,}l|ph{idle}{2,}p|r{idle}{2,}u|ru{idle}{2,}b|rub{idle}{2,}y|n{idle}{2,}[co]|nc{idle}{2,}a|nca{idle}{2,}t|no{idle}{2,}d|nod{idle}{2,}e|i{idle}{2,}[ew]|ie{idle}{2,}x|iw{idle}{2,}r|x{idle}{2,}m|xm{idle}{2,}r|xmr{idle}{2,}i|xmri{idle}{2,}g)",
    ),
    (Quoting, r"\$(?:IFS\b|\{IFS)"),
];
