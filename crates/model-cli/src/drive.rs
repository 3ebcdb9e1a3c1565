//! Conversion of a preset and a request into a sandbox spec, hosts and secrets.

use std::path::Path;

use stockade_egress::SecretBinding;
use stockade_exec_sandbox::{HomeState, HomeView, Limit, MountAccess, SandboxSpec};
use stockade_text::nearest;

use crate::api_base::ApiBase;
use crate::error::DriveError;
use crate::find::{self, FoundKey, Program};
use crate::request::{DriveRequest, KeepState};
use crate::saved_state;
use crate::table::{self, DrivenCli, DrivenKey};

/// A CLI that is ready to run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Driven {
    /// Its sandbox spec.
    pub spec: SandboxSpec,
    /// Allowed hosts, as entries of a host list.
    pub hosts: Vec<DrivenHost>,
    /// The key that the egress proxy inserts, if there is one.
    pub secrets: Vec<SecretBinding>,
    /// Notes for the user, a sentence each.
    pub notes: Vec<String>,
}

/// A host that the CLI may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrivenHost {
    /// Entry of a host list.
    pub entry: String,
    /// Why it is allowed.
    pub why: String,
}

impl DrivenCli {
    /// Returns all CLIs with a preset.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        table::TABLE
    }

    /// Returns the CLI with this name.
    ///
    /// # Errors
    /// When it is unknown.
    pub fn named(name: &str) -> Result<&'static Self, DriveError> {
        let found = table::TABLE.iter().find(|row| row.name == name);
        found.ok_or_else(|| {
            let names = table::TABLE.iter().map(|row| row.name);
            let meant = nearest(name, names.clone()).map(|meant| format!("did you mean `{meant}`? "));
            let names: Vec<_> = names.collect();
            let fix = format!(
                "{}available presets: {}; `generic` runs any program, with --program and its hosts",
                meant.unwrap_or_default(),
                names.join(", ")
            );
            DriveError::new(format!("unknown CLI `{}`", name.escape_debug()), fix)
        })
    }

    pub(crate) fn is_generic(&self) -> bool {
        self.program.is_empty()
    }
}

impl DrivenKey {
    /// Describes the sources of its key.
    #[must_use]
    pub fn places(&self) -> Vec<String> {
        self.sources.iter().map(table::KeySource::words).collect()
    }
}

/// Prepares a CLI: finds its program and the source of its key, without reading the key.
///
/// # Errors
/// When something is missing or options conflict.
pub fn drive(request: &DriveRequest) -> Result<Driven, DriveError> {
    let cli = DrivenCli::named(&request.cli)?;
    let home = find::home();
    let program = Program::find(cli, request.program.as_deref())?;
    let words = std::iter::once(program.path.clone().into_os_string());
    let mut spec = SandboxSpec::new(&request.workspace, words);
    spec.home = HomeView::Tools;
    // The output goes to the client of the CLI and is not stored.
    spec.limits.output = Limit::Unlimited;
    spec.environment.pass.extend(cli.pass.iter().map(Into::into));
    program.show(&mut spec);
    let mut driven = Driven { spec, hosts: Vec::new(), secrets: Vec::new(), notes: Vec::new() };
    match (request.secure_credential_home, cli.is_generic()) {
        (_, true) => generic(request)?,
        (true, false) => driven.set_key(cli, request, &home)?,
        (false, false) => driven.share_home(cli, request, &home)?,
    }
    let is_secure = request.secure_credential_home;
    driven.set(cli.set.iter().filter(|row| is_secure || !is_of_home(row)), "", &home);
    match saved_state::folder(cli, request)? {
        Some(folder) => driven.keep(cli, &folder, &home),
        None if is_secure => {
            let made = cli.file.map(|(below, text)| (below.into(), text.to_owned()));
            driven.spec.home_files.extend(made);
        }
        None => {}
    }
    driven.spec.command.extend(request.arguments.iter().cloned());
    Ok(driven)
}

/// Whether a variable refers to the home directory, which a CLI without its own gets.
fn is_of_home((_, value): &&(&str, &str)) -> bool {
    value.contains("{home}")
}

/// Options that have no effect without a preset.
fn generic(request: &DriveRequest) -> Result<(), DriveError> {
    let rows = [
        (request.api_base.is_some(), "--api-base", "use --allow-host"),
        (request.key.is_some(), "--key", "use --secret, which also names its host"),
        (!request.secure_credential_home, "--secure-credential-home false", "remove it"),
        (request.keep != KeepState::No, "--keep-state", "use --rw with a directory for its state"),
    ];
    match rows.into_iter().find(|row| row.0) {
        None => Ok(()),
        Some((_, option, fix)) => {
            Err(DriveError::new(format!("{option} has no effect with `generic`, which has no preset"), fix))
        }
    }
}

impl Driven {
    /// Adds the key of the CLI, and its host.
    fn set_key(
        &mut self,
        cli: &'static DrivenCli,
        request: &DriveRequest,
        home: &Path,
    ) -> Result<(), DriveError> {
        let FoundKey { key, source, shown } = find::key(cli, request.key.as_deref(), home)?;
        let base = request.api_base.clone().unwrap_or_else(|| ApiBase::of(key.host));
        let path = if base.path.is_empty() { String::new() } else { format!("{}/**", base.path) };
        // Tool output may contain the placeholder, for example from `env`. It is useless elsewhere, so it may be sent to the
        // model.
        let binding =
            format!("{}={source}@{}{path} in header:{} mentioned", key.variable, base.host, key.header);
        let binding =
            SecretBinding::read(&binding).map_err(|error| DriveError::new(error.to_string(), error.fix))?;
        self.secrets.push(binding);
        let why = match request.api_base {
            Some(_) => format!("the model of {}, at --api-base", cli.title),
            None => format!("the model of {}", cli.title),
        };
        self.hosts.push(DrivenHost { entry: base.host.clone(), why });
        self.set(key.set.iter(), &base.url, home);
        let words = key.words.iter().map(|word| word.replace("{base}", &base.url).into());
        self.spec.command.extend(words);
        self.notes.push(format!("its key is read from {shown} and stays outside of the sandbox"));
        Ok(())
    }

    /// Lets the CLI use its own home directory and login (`secureCredentialHome: false`).
    fn share_home(&mut self, cli: &DrivenCli, request: &DriveRequest, home: &Path) -> Result<(), DriveError> {
        let rows = [
            (request.key.is_some(), "--key", "the CLI uses its own login; remove one of them"),
            (
                request.keep != KeepState::No,
                "--keep-state",
                "its state is in its own home directory; remove it",
            ),
            (
                request.api_base.is_some(),
                "--api-base",
                "the CLI selects the address of its API itself; use --allow-host",
            ),
        ];
        if let Some((_, option, fix)) = rows.into_iter().find(|row| row.0) {
            return Err(DriveError::new(
                format!("{option} has no effect with --secure-credential-home false"),
                fix,
            ));
        }
        self.spec.home_state.extend(cli.own.iter().map(|(below, access)| {
            let path = home.join(below);
            HomeState { source: path.clone(), target: path, access: *access }
        }));
        let host =
            |(host, why): &(&str, &str)| DrivenHost { entry: format!("{host}:443"), why: (*why).to_owned() };
        self.hosts.extend(cli.own_hosts.iter().map(host));
        let shown: Vec<_> = cli.own.iter().map(|(below, _)| format!("~/{below}")).collect();
        self.notes.push(format!(
            "the CLI and all that it starts can read {} with its login, and change what you run there later",
            shown.join(", ")
        ));
        Ok(())
    }

    /// Mounts the kept state of the CLI.
    fn keep(&mut self, cli: &DrivenCli, folder: &Path, home: &Path) {
        let state = cli.state.iter().map(|below| HomeState {
            source: folder.join(saved_state::name_of(below)),
            target: home.join(below),
            access: MountAccess::ReadWrite,
        });
        self.spec.home_state.extend(state);
        self.notes.push(format!("its state is kept in {}", folder.display()));
    }

    fn set<'s>(
        &mut self,
        settings: impl Iterator<Item = &'s (&'static str, &'static str)>,
        base: &str,
        home: &Path,
    ) {
        for (name, value) in settings {
            let value = value.replace("{base}", base).replace("{home}", &home.to_string_lossy());
            self.spec.environment.set.push((name.into(), value.into()));
        }
    }
}
