//! Colors of text output.

use clap::ValueEnum;

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Escape sequences of each kind of text. Only basic ANSI colors, which every theme defines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Styles {
    pub(crate) critical: &'static str,
    pub(crate) warn: &'static str,
    pub(crate) good: &'static str,
    pub(crate) strong: &'static str,
    pub(crate) frame: &'static str,
    pub(crate) reset: &'static str,
}

impl Styles {
    pub(crate) const PLAIN: Self =
        Self { critical: "", warn: "", good: "", strong: "", frame: "", reset: "" };

    pub(crate) const COLOURED: Self = Self {
        critical: "\u{1b}[1;31m",
        warn: "\u{1b}[1;33m",
        good: "\u{1b}[1;32m",
        strong: "\u{1b}[1m",
        frame: "\u{1b}[34m",
        reset: "\u{1b}[0m",
    };
}
