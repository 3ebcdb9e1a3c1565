//! The dialect of regular expressions for all patterns of rules.

use regex_automata::util::syntax;

/// Returns the dialect: bytes and ASCII classes instead of Unicode, `^` and `$` at line ends.
pub(crate) fn dialect() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false).multi_line(true)
}
