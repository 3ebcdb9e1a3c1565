//! Programs that run agents and have no hook that can stop a tool. Installing in them is refused with what does protect.

/// A program without a hook that can stop a tool.
#[derive(Debug)]
pub struct Unhooked {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// The version that was tried or read.
    pub tried: &'static str,
    /// Why no hook can be installed.
    pub why: &'static str,
    /// The program to run in the sandbox.
    pub program: &'static str,
}

/// Programs without a hook that can stop a tool.
pub const UNHOOKED: &[Unhooked] = &[
    Unhooked {
        name: "aider",
        title: "Aider",
        tried: "0.86.2",
        why: "it has no hooks: it edits files itself, and runs commands after its own question",
        program: "aider",
    },
    Unhooked {
        name: "continue",
        title: "Continue",
        tried: "1.5.47",
        why: "its CLI reads hooks from its settings, and calls none of them before a tool is used",
        program: "cn",
    },
];

impl Unhooked {
    /// Returns the program with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        UNHOOKED.iter().find(|unhooked| unhooked.name == name)
    }

    /// Returns the command that runs it in the sandbox, for which the user puts in the host of the model.
    pub fn instead(&self) -> String {
        format!("stockade exec --allow-host HOST_OF_THE_MODEL -- {}", self.program)
    }
}
