//! A text that was read.

use crate::actions::Actions;
use crate::options::ReadOptions;
use crate::parser::{self, Admission, Parsed};
use crate::partial::{self, PartlyParsed};
use crate::read_error::ReadError;
use crate::render;
use crate::runs;
use crate::text::Origin;
use crate::tree::{Command, Simple};

/// Commands that were read from a text, and understood.
#[derive(Debug, Clone)]
pub struct Script<'t> {
    pub(crate) parsed: Parsed<'t>,
    pub(crate) options: ReadOptions,
}

impl<'t> Script<'t> {
    /// Reads the commands in `text`.
    ///
    /// # Errors
    /// When the text is not certain to be read by every shell as it is read here. It must not be run then.
    pub fn read(text: &'t str, options: &ReadOptions) -> Result<Self, ReadError> {
        let parsed = parser::parse(text, Some(text), Origin::Part(0), options, Admission::Checked)?;
        Ok(Self { parsed, options: options.clone() })
    }

    /// Parses the commands in `text` without refusing deceptive characters.
    ///
    /// The result is a reason to refuse, never to allow: a rule that denies `rm` applies to `rm` after a carriage
    /// return too.
    ///
    /// # Errors
    /// When the text is not certain to be read by every shell as it is read here.
    pub fn read_despite_appearance(text: &'t str, options: &ReadOptions) -> Result<Self, ReadError> {
        let parsed = parser::parse(text, Some(text), Origin::Part(0), options, Admission::AsTheShell)?;
        Ok(Self { parsed, options: options.clone() })
    }

    /// Reads as much of `text` as can be understood, for a text that [`Script::read`] refuses.
    #[must_use]
    pub fn read_partly(text: &'t str, options: &ReadOptions) -> PartialScript<'t> {
        let PartlyParsed { parsed, is_cut, is_whole } =
            partial::parse_partly(text, Some(text), Origin::Part(0), options);
        PartialScript { script: Self { parsed, options: options.clone() }, is_cut, is_whole }
    }

    /// Returns everything that the commands run, open and set.
    #[must_use]
    pub fn actions(&self) -> Actions<'t> {
        runs::actions(&self.parsed, &self.options)
    }

    /// Returns the same commands in one canonical spelling, if every word is certain and only lists, pipelines,
    /// groups and subshells join them.
    ///
    /// Run this instead of the original text, so that the judged text is the one that runs.
    #[must_use]
    pub fn rendered(&self) -> Option<String> {
        let text = render::list(&self.parsed.list, self.options.shell)?;
        // The result must be readable again: `$'\e'` encodes a character that is not permitted literally.
        Script::read(&text, &self.options).is_ok().then_some(text)
    }

    /// Returns the program and its arguments when the text is one plain command: no shell is needed to run it.
    #[must_use]
    pub fn argv(&self) -> Option<Vec<String>> {
        render::argv(self.only_command()?, self.options.shell)
    }

    /// Returns the number of parsing steps: linear in the length of any text.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.parsed.steps
    }

    /// Returns the simple command, when the text is only one.
    pub(crate) fn only_command(&self) -> Option<&Simple<'t>> {
        match &*self.parsed.list.items {
            [item] => match &*item.pipeline.commands {
                [Command::Simple(simple)] if item.pipeline.prefixes.is_empty() => Some(simple),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The recognised part of a text that cannot be parsed with certainty.
///
/// It is a reason to refuse and never one to allow, so it has no rendering: the meaning of the rest is unknown, and
/// text behind the first error may in truth be quoted.
///
/// ```
/// use stockade_shell::{ReadOptions, Script};
///
/// let text = "rm -rf /; echo ${x:-";
/// assert!(Script::read(text, &ReadOptions::default()).is_err());
/// let partial = Script::read_partly(text, &ReadOptions::default());
/// assert_eq!(partial.actions().runs[0].program(), Some("rm"));
/// ```
#[derive(Debug, Clone)]
pub struct PartialScript<'t> {
    script: Script<'t>,
    is_cut: bool,
    is_whole: bool,
}

impl<'t> PartialScript<'t> {
    /// Returns the actions of the recognised commands. The place of an error contains something unknown.
    #[must_use]
    pub fn actions(&self) -> Actions<'t> {
        self.script.actions()
    }

    /// Whether a limit excluded a part of the text: more commands, words, errors or levels than in any real text, or
    /// more than a megabyte.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether everything was recognised: only the last line of a here-document is missing, for which shells accept
    /// the end of the text. No other command may be appended to such a text.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns how many steps reading took.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.script.steps()
    }
}
