//! Code for interpreters: a way to pass it, parts that do nothing, and parts that do harm.

/// A language: the commands that take code, harmless parts, and harmful ones.
struct Language {
    /// `@` is replaced by the quoted code, and `%` by the code between the lines of a here-document.
    ways: &'static [&'static str],
    harmless: &'static [&'static str],
    harmful: &'static [&'static str],
}

const LANGUAGES: &[Language] = &[
    Language {
        ways: &[
            "python3 -c @",
            "python3 -I -c @",
            "python3 -Sc @",
            "python3 <<'E'%E",
            "python3 - <<'E'%E",
            "cat <<'E' | python3%E",
            "printf %s @ | python3 -",
            "python3 <<< @",
            "env python3 -c @",
            "python3 -mtimeit -n 1 -r 1 -s pass @",
            "python3 -W ignore -c @",
        ],
        harmless: &[
            "import sys",
            "import json",
            "import os",
            "x = 1",
            "print(x)",
            "print('a')",
            "y = [1, 2]",
            "if x:\n    print(x)",
            "s = f'{x}'",
        ],
        harmful: &[
            "import os; os.system('/evil/run')",
            "print(open('.env').read())",
            "open('/outside/new', 'w').write('x')",
            "print(__import__('os').environ)",
            "print(f'{open(\".env\").read()}')",
            "[print(l) for l in open('/home/me/.netrc')]",
            "print(open(chr(46) + 'env').read())",
            "import sitecustomize",
            "from pathlib import *; Path('/outside/new').touch()",
            "exec('import os; os.remove(\"f\")')",
            "print('{0.__class__}'.format(1), *open('.e' 'nv'))",
            "sys = 1; import x",
        ],
    },
    Language {
        ways: &[
            "node -e @",
            "node -p @",
            "node --eval=@",
            "node <<'E'%E",
            "printf %s @ | node -",
            "node -pe @",
        ],
        harmless: &["console.log(1)", "let x = 1", "JSON.stringify({a: 1})", "[1].map(x => x)", "1 + 1"],
        harmful: &[
            "require('child_process').execSync('/evil/run')",
            "console.log(require('fs').readFileSync('.env', 'utf8'))",
            "process.binding('fs')",
            "console.log(process.env)",
            "console.log(`${require('fs').readFileSync('.env')}`)",
            "import('fs').then(f => f.writeFileSync('/outside/new', ''))",
            "console.log(this.constructor.constructor('return process')().env)",
        ],
    },
    Language {
        ways: &[
            "perl -e @",
            "perl -E @",
            "perl -ne @ f",
            "perl -lane @ f",
            "perl -pe @ f",
            "perl <<'E'%E",
            "perl -we @",
        ],
        harmless: &["print 1", "my $x = 1", "print $_", "s/a/b/", "use strict"],
        harmful: &[
            "system '/evil/run'",
            "print `cat .env`",
            "open F, '.env'; print <F>",
            "print %ENV",
            "print \"@{[`/evil/run`]}\"",
            "s/o/qx(\\/evil\\/run)/e",
            "unlink 'f'",
            "@ARGV = '.env'; print <>",
            "use lib '.'; use x",
        ],
    },
];

/// Returns a command with code: one to four parts, of which any may do harm. `below` returns a number below another.
pub(super) fn text(mut below: impl FnMut(usize) -> usize) -> String {
    let Some(language) = LANGUAGES.get(below(LANGUAGES.len())) else { return String::new() };
    let mut pick = |list: &[&'static str]| list.get(below(list.len())).copied().unwrap_or_default();
    let parts: Vec<&str> =
        (0..1 + pick(&["", "x", "xx", "xxx"]).len())
            .map(|_| {
                if pick(&["", "", "x"]).is_empty() { pick(language.harmless) } else { pick(language.harmful) }
            })
            .collect();
    let between = if language.ways.iter().any(|way| way.starts_with("python3")) { "\n" } else { ";\n" };
    let code = parts.join(between);
    pick(language.ways).replace('@', &super::texts::quoted(&code)).replace('%', &format!("\n{code}\n"))
}
