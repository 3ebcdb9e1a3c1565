//! `stockade install --mcp`: wraps the MCP servers in the settings of a harness.

use stockade_text::{escape, escape_path};

use super::{difference, print};
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_harness::Harness;
use stockade_harness::mcp_servers::{ListedServer, Wrapped, servers, servers_file, unwrap, wrap};
use stockade_harness::registration::{self, SettingsChange, SettingsFolders, SettingsScope};

/// Wraps each server in `stockade mcp wrap`, and lists the manual steps.
pub(super) fn install(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    program: &str,
    is_dry: bool,
) -> Result<Exit, Failure> {
    let change =
        registration::servers(harness, places, scope, |file, text| wrap(file, text, harness.name, program))?;
    let mut said = changed(&change, is_dry, "no unwrapped server")?;
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
