//! `stockade install --mcp`: wraps the MCP servers in the settings of a harness.

use stockade_guard::command::shell::quote_argv;
use stockade_text::{escape, escape_path};

use super::server_trials::Trial;
use super::{difference, print};
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_harness::Harness;
use stockade_harness::mcp_servers::{
    ListedServer, ServerProgram, Wrapped, servers, servers_file, unwrap, wrap,
};
use stockade_harness::registration::{self, SettingsChange, SettingsFolders, SettingsScope};

/// Wraps each server in `stockade mcp wrap`, and lists the manual steps. With `tries`, a server that does not answer in the sandbox
/// is not changed.
pub(super) fn install(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    program: &str,
    (is_dry, tries): (bool, bool),
) -> Result<Exit, Failure> {
    let trial = Trial { program, agent: harness.name, project: &places.project, home: &places.home };
    let mut said = String::new();
    let mut options = |server: &ServerProgram| {
        if !tries {
            return Some(Vec::new());
        }
        let name = escape(&server.name);
        match trial.options(server) {
            Ok(options) => {
                said.push_str(&format!("`{name}` answers in the sandbox{}\n", with(&options)));
                Some(options)
            }
            Err(why) => {
                said.push_str(&format!("`{name}` was not changed: {why}\n"));
                None
            }
        }
    };
    let change = registration::servers(harness, places, scope, |file, text| {
        wrap(file, text, harness.name, program, &mut options)
    })?;
    said.push_str(&changed(&change, is_dry, "no server to wrap")?);
    said.push_str(&left(harness, &change)?);
    if !change.is_none() && !is_dry {
        said.push_str(&format!(
            "Servers now run in the sandbox: without network access, except to the hosts of `--allow-host`, and with only the project's directory. \
             Put further options before the `--` of their arguments (stockade mcp wrap --help). Their tools are refused until \
             `agents.{}.toolPolicy.allow` lists them: mcp__NAME__*\n",
            harness.name
        ));
    }
    print(&said, Exit::Clean)
}

/// Describes the options of a server.
fn with(options: &[String]) -> String {
    if options.is_empty() {
        String::new()
    } else {
        format!(" with {}", escape(&quote_argv(options.iter().map(String::as_str))))
    }
}

/// Unwraps the servers.
pub(super) fn uninstall(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    is_dry: bool,
) -> Result<Exit, Failure> {
    let change = registration::servers(harness, places, scope, unwrap)?;
    print(&changed(&change, is_dry, "no wrapped server")?, Exit::Clean)
}

fn changed(change: &SettingsChange, is_dry: bool, nothing: &str) -> Result<String, Failure> {
    let path = escape_path(&change.path);
    if change.is_none() {
        return Ok(format!("{path} has {nothing}\n"));
    }
    if is_dry {
        return Ok(difference(&path, change));
    }
    registration::apply_servers(change)?;
    Ok(format!("changed {path}\n"))
}

/// Returns notes on servers that could not be wrapped.
fn left(harness: &Harness, change: &SettingsChange) -> Result<String, Failure> {
    let (Some(file), Some(text)) = (servers_file(harness), change.after.as_deref()) else {
        return Ok(String::new());
    };
    if text.trim().is_empty() {
        return Ok(String::new());
    }
    let mut said = String::new();
    for ListedServer { name, wrapped, .. } in servers(file, text).map_err(Failure::usage)? {
        let name = escape(&name);
        match wrapped {
            Wrapped::Yes | Wrapped::No => {}
            Wrapped::Address => said.push_str(&format!(
                "`{name}` is a remote server and was not changed; to check it, replace it by `stockade mcp wrap --name NAME --url URL`\n"
            )),
            Wrapped::Cannot(why) => said.push_str(&format!("`{name}` was not changed: {why}\n")),
        }
    }
    Ok(said)
}
