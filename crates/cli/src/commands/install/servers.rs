//! `stockade install --mcp`: the servers of the Model Context Protocol in the settings of a harness.

use stockade_text::{escape, escape_path};

use super::{difference, print};
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_harness::Harness;
use stockade_harness::mcp_servers::{ListedServer, Wrapped, servers, servers_file, unwrap, wrap};
use stockade_harness::registration::{self, SettingsChange, SettingsFolders, SettingsScope};

/// Puts `stockade mcp wrap` in front of each server, and says what is to be done by hand.
pub(super) fn install(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    program: &str,
    is_dry: bool,
) -> Result<Exit, Failure> {
    let change =
        registration::servers(harness, places, scope, |file, text| wrap(file, text, harness.name, program))?;
    let mut said = changed(&change, is_dry, "no server that is not wrapped already")?;
    said.push_str(&left(harness, &change)?);
    if !change.is_none() && !is_dry {
        said.push_str(&format!(
            "a server runs in the sandbox now: without a network, but for the hosts of `--allow-host`, and of the disk the folder of the project. Put \
             what it needs before the `--` of its arguments (stockade mcp wrap --help). Its tools are refused until \
             `agents.{}.toolPolicy.allow` names them: mcp__NAME__*\n",
            harness.name
        ));
    }
    print(&said, Exit::Clean)
}

/// Takes that away again.
pub(super) fn uninstall(
    harness: &Harness,
    places: &SettingsFolders,
    scope: SettingsScope,
    is_dry: bool,
) -> Result<Exit, Failure> {
    let change = registration::servers(harness, places, scope, unwrap)?;
    print(&changed(&change, is_dry, "no server that is wrapped")?, Exit::Clean)
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

/// The servers that nothing was put in front of.
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
                "`{name}` is behind an address, and stays as it is: `stockade mcp wrap --name NAME --url URL` in its place looks at it\n"
            )),
            Wrapped::Cannot(why) => said.push_str(&format!("`{name}` stays as it is: {why}\n")),
        }
    }
    Ok(said)
}
