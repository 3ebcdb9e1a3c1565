//! Builtins of shells, and programs whose first operand ends the options.

use super::{Listed, builtin};

#[rustfmt::skip]
pub(super) static SHELL: [Listed; 19] = [
    // bash(1), zshbuiltins(1), dash(1). Letters that differ between shells do not take a command in any of them. The options of
    // `set` are in the crate `shell`; `echo`, `test`, `true` and similar builtins have none.
    builtin(&["jobs"], "-d -l -n -p -r -s"),
    builtin(&["dirs"], "-c -l -p -v -#"),
    builtin(&["times"], ""),
    builtin(&["pwd"], "-L -P -r -W"),
    builtin(&["type"], "-a -f -m -p -P -s -S -t -w"),
    builtin(&["hash"], "-f -l -r -t -v"),
    builtin(&["alias", "ulimit"], "-a -H -S"),
    builtin(&["umask"], "-p -S"),
    builtin(&["cd"], "-e -L -P -q -s -#"),
    builtin(&["getopts", "shift", "return", "break", "continue", "exit"], "-#"),
    builtin(&["printf"], "-v:"),
    builtin(&["read"], "-a: -d: -e -E -i: -n: -N: -p: -r -s -t: -u: -A -c -k? -l -q -z -#"),
    builtin(&["wait"], "-f -n -p:"),
    builtin(&["local", "declare", "typeset", "export", "readonly"],
        "-a -A -f -F -g -i -I -l -n -p -r -t -u -x -U -h -H -E -L -R -Z -T"),
    builtin(&["unset"], "-f -n -v"),
    builtin(&["kill"], "-l"),
    builtin(&["command"], "-v: -V:"),
    // An operand ends the options. `-W` can set any other option (POSIX).
    builtin(&["awk", "gawk", "mawk", "nawk"],
        "-F: -v: -b -c -C -h -k -M -n -N -O -P -r -s -S -t -V --field-separator= --assign= --posix --traditional --re-interval --csv \
         --characters-as-bytes --sandbox --version --help --copyright --non-decimal-data --use-lc-numeric --optimize --no-optimize --lint-old --bignum"),
    builtin(&["seq"], "-f: -s: -t: -w -# --equal-width --format= --help --separator= --version"),
];

/// Programs and builtins whose words are not options, or whose options are checked elsewhere.
#[cfg(test)]
pub(super) const WITHOUT_OPTIONS: &[&str] = &[":", "[", "echo", "expr", "false", "set", "test", "true"];
