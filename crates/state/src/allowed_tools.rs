//! Tools that the user allows an agent, in the user's config file.

use std::path::PathBuf;

use stockade_files::KeptFile;
use stockade_text::{append_value, escape_path, set_value};

use crate::error::StateError;
use crate::saved_rules::{MAX_CONFIG_BYTES, SavedRules, SavedRulesError, config_with, make_folder_of};

/// The list of an agent's allowed tools.
#[derive(Debug)]
pub struct AllowedTools {
    agent: String,
    path: PathBuf,
}

impl AllowedTools {
    /// Returns the list of an agent, or of all agents for `*`.
    pub fn of_agent(agent: &str) -> Result<Self, StateError> {
        let path = SavedRules::of_agent(agent)?.path().to_owned();
        Ok(Self { agent: agent.to_owned(), path })
    }

    /// Describes the location for users.
    pub fn place(&self) -> String {
        format!("`agents.{}.toolPolicy.allow` in {}", self.agent, escape_path(&self.path))
    }

    /// Adds a tool by its name or a pattern; with `writes` false, only tries to. Returns whether it was missing.
    pub fn add(&self, tool: &str, writes: bool) -> Result<bool, SavedRulesError> {
        if !tool.chars().all(is_of_name) {
            return Err(SavedRulesError::Said(format!("{tool:?} is no name of a tool")));
        }
        let file = KeptFile::new(&self.path, MAX_CONFIG_BYTES);
        let edit = |text: Option<&str>| {
            let text = text.unwrap_or_default();
            let new = self.edited(text, tool)?;
            let is_new = new.is_some();
            Ok::<_, SavedRulesError>((Some(new.unwrap_or_else(|| text.to_owned())), is_new))
        };
        if !writes {
            return edit(file.read()?.as_deref()).map(|(_, is_new)| is_new);
        }
        make_folder_of(&self.path)?;
        file.change(edit)?
    }

    /// Returns the text of the file with the tool; nothing if it is allowed already.
    fn edited(&self, text: &str, tool: &str) -> Result<Option<String>, SavedRulesError> {
        let said = |error: &dyn std::fmt::Display| {
            SavedRulesError::Said(format!("{}: {error}", escape_path(&self.path)))
        };
        let before = self.allowed(text)?;
        if before.iter().any(|there| there == tool) {
            return Ok(None);
        }
        let keys = ["agents", &self.agent, "toolPolicy", "allow"];
        let mut new = append_value(text, &keys, &quoted(tool)).map_err(|error| said(&error))?;
        // A list of the agent's own replaces the one for all agents, whose tools it must then repeat.
        let mut wanted = before;
        wanted.push(tool.to_owned());
        if wanted.iter().any(|one| !self.allowed(&new).is_ok_and(|after| after.contains(one))) {
            let list = wanted.iter().map(|one| quoted(one)).collect::<Vec<_>>().join(", ");
            new = set_value(text, &keys, &format!("[{list}]")).map_err(|error| said(&error))?;
        }
        match self.allowed(&new)?.iter().any(|there| there == tool) {
            true => Ok(Some(new)),
            false => Err(said(&"another layer of the configuration does not allow the tool")),
        }
    }

    /// Returns the tools that all layers together allow, with this text in place of the user's file.
    fn allowed(&self, text: &str) -> Result<Vec<String>, SavedRulesError> {
        let config = config_with(&self.path, text)?;
        let agent = config.agent(&self.agent);
        let agent =
            agent.map_err(|unknown| SavedRulesError::Said(format!("{unknown}; {}", unknown.fix())))?;
        Ok(agent.tools.allow)
    }
}

/// Whether names and patterns of tools may have the character. None of them is special in a string of TOML.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.:*/".contains(c)
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}
