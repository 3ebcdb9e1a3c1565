//! Conversion of command-line arguments into a sandbox spec.
#![expect(clippy::disallowed_methods, reason = "reads the current directory, and resolves symlinks in paths")]

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use stockade_files::real_path;
use stockade_guard::exec::{
    Environment, Explain, Limit, Network, OnUnavailable, SandboxBackend, SandboxSpec, Spawn,
};

use super::{ExecArgs, Reach};
use crate::args::Format;

/// Returns the sandbox spec, or an error if a path cannot be resolved.
pub(super) fn spec_from_args(args: &ExecArgs) -> io::Result<SandboxSpec> {
    let here = std::env::current_dir();
    let mut patch = args.spec.clone();
    let workspace = match &patch.workspace {
        Some(workspace) => real(workspace)?,
        None => here.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?.clone(),
    };
    let mut spec = SandboxSpec::new(workspace, args.command.iter().cloned());
    patch.read_only_paths = existing("--ro", &patch.read_only_paths)?;
    patch.shared_paths = existing("--rw", &patch.shared_paths)?;
    spec.cwd = here.ok().filter(|here| here.starts_with(&spec.workspace));
    spec.network = network(args)?;
    (spec.home, spec.on_unavailable) = (args.home, args.on_unavailable);
    spec.backend_options = args.backend_option.iter().cloned().collect();
    spec.spawn = if args.no_spawn { Spawn::Threads } else { Spawn::Free };
    spec.explain = if args.explain { Explain::Asked } else { Explain::Ends };
    spec.require_by_name.extend(args.require.iter().copied());
    variables(&args.env, &mut spec.environment);
    // Relayed output takes no memory, but a document holds all of it.
    if args.format == Format::Text {
        spec.limits.output = Limit::Unlimited;
    }
    patch.env_names_paths = env_files(&patch.env_names_paths, &spec, &patch.shared_paths)?;
    patch.apply(&mut spec).map_err(io::Error::other)?;
    // A backend that was typed is not replaced by a run without a sandbox, not even one that is never for this user.
    if spec.backend != SandboxBackend::Auto {
        spec.on_unavailable = OnUnavailable::Refuse;
    }
    Ok(spec)
}

/// Resolves symlinks: in a path that the user typed, they are trusted.
fn real(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path).map(|path| real_path(&path).unwrap_or(path))
}

/// Resolves paths that must exist: a missing one is most likely mistyped.
pub(in crate::commands) fn existing(option: &str, paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let real = |path: &PathBuf| {
        let found = std::path::absolute(path).and_then(|path| real_path(&path));
        found.map_err(|error| io::Error::new(error.kind(), format!("{option} {}: {error}", path.display())))
    };
    paths.iter().map(real).collect()
}

/// Resolves the paths of environment files, which must be where the command sees them.
fn env_files(paths: &[PathBuf], spec: &SandboxSpec, shared: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let paths = existing("--env-names", paths)?;
    let is_seen = |path: &&PathBuf| {
        std::iter::once(&spec.workspace).chain(shared).any(|around| path.starts_with(around))
    };
    match paths.iter().find(|path| !is_seen(path)) {
        Some(path) => {
            Err(io::Error::other(format!("--env-names {} is not in the workspace", path.display())))
        }
        None => Ok(paths),
    }
}

/// Returns the network mode. clap requires --broker with --network broker.
fn network(args: &ExecArgs) -> io::Result<Network> {
    Ok(match (args.network, &args.broker) {
        (Reach::Broker, Some(socket)) => Network::Broker { socket: real(socket)? },
        (Reach::Open, _) => Network::Open,
        // Replaced by the egress proxy in `hosts::egress`.
        (Reach::None | Reach::Broker | Reach::Observe, _) => Network::None,
    })
}

/// Adds variables to pass or to set.
pub(in crate::commands) fn variables(typed: &[OsString], environment: &mut Environment) {
    for variable in typed {
        match split(variable) {
            Some((name, value)) => environment.set.push((name, value)),
            None => environment.pass.push(variable.clone()),
        }
    }
}

/// Splits NAME=VALUE, which may contain any bytes.
fn split(variable: &OsString) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let bytes = variable.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let (name, value) = bytes.split_at_checked(at)?;
    let value = value.strip_prefix(b"=")?;
    Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
}
