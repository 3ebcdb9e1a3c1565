//! Interpreters and debuggers, which read a file of the folder that they start in.

use super::{DAILY, STARTS};
use crate::name::Name;

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "python-environment",
        tool: "Python, and editors that use it",
        paths: &[
            ".venv/pyvenv.cfg",
            ".venv/bin/python",
            ".venv/bin/python3",
            "venv/pyvenv.cfg",
            "venv/bin/python",
            "venv/bin/python3",
        ],
        why: "Editors and agents run the interpreter that a virtual environment names.",
        matches: &[".venv/bin/python", "pkg/.venv/pyvenv.cfg", "VENV/bin/python3"],
        clean: &[".venv/lib/x.py", "venv.md"],
        ..STARTS
    },
    Name {
        id: "python-startup",
        tool: "Python",
        paths: &["site-packages/*.pth", "dist-packages/*.pth", "sitecustomize.py", "usercustomize.py"],
        why: "Every interpreter with this folder on its path runs it before anything else.",
        matches: &["lib/site-packages/x.pth", "sitecustomize.py"],
        clean: &["models/x.pth", "customize.py"],
        ..DAILY
    },
    Name {
        id: "debuggers",
        tool: "GDB, LLDB, pdb",
        paths: &[
            ".gdbinit",
            ".gdbearlyinit",
            ".lldbinit",
            ".pdbrc",
            ".pdbrc.py",
            ".rdbgrc",
            ".rdbgrc.rb",
            ".byebugrc",
        ],
        why: "A debugger that starts in the folder runs its commands.",
        matches: &[".gdbinit", "x/.pdbrc"],
        clean: &["gdbinit.md"],
        ..STARTS
    },
    Name {
        id: "interpreters",
        tool: "R, Ruby, GHCi, OCaml, Elixir, Octave, IPython, SQLite, Guile, Erlang, Julia",
        paths: &[
            ".Rprofile",
            ".Renviron",
            ".irbrc",
            ".pryrc",
            ".ghci",
            ".ocamlinit",
            ".iex.exs",
            ".octaverc",
            ".ipython",
            ".sqliterc",
            ".guile",
            ".erlang",
            ".erlang.crypt",
            ".scalarc",
            ".juliarc.jl",
        ],
        why: "An interpreter that starts in the folder runs it before it takes input.",
        matches: &[".Rprofile", "x/.irbrc", ".ghci"],
        clean: &["Rprofile.md", ".ghcid"],
        ..STARTS
    },
];
