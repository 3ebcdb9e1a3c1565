//! Benchmark texts for shell parsers.

/// Commands as agents type them.
pub(crate) const TYPICAL: &[&str] = &[
    "git status",
    "ls -la",
    "cargo test 2>&1 | tail -50",
    "cd src && ls",
    "git commit -m \"fix the parser; add tests\"",
    "grep -rn 'fn main' src",
    "npm run build",
    "rm -rf build",
    "cat a.json | jq '.x' | head",
    "find . -name '*.rs' | xargs wc -l",
    "python3 -m pytest -q",
    "echo \"$HOME\"",
    "FOO=1 make test",
    "sudo apt-get update",
    "bash -lc \"npm test\"",
    "git log --oneline -5",
];

/// A script of some lines.
pub(crate) const SCRIPT: &str = "#!/bin/bash\nset -euo pipefail\nfor file in src/*.rs; do\n  if grep -q 'TODO' \"$file\"; then\n    \
    echo \"found in $(basename \"$file\")\"\n  fi\ndone\ncat > config.toml <<'EOF'\n[section]\nkey = \"value\"\nEOF\n\
    case \"$1\" in\n  start) npm start;;\n  *) echo \"usage: $0 start\" >&2; exit 1;;\nesac\n";
