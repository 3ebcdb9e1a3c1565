//! Turns a preset and a request into what a CLI may see and reach.

use std::path::Path;

use stockade_egress::SecretBinding;
use stockade_exec_sandbox::{HomeState, HomeView, Limit, MountAccess, SandboxSpec};
use stockade_text::nearest;

use crate::api_base::ApiBase;
use crate::error::DriveError;
use crate::find::{self, FoundKey, Program};
use crate::kept;
use crate::request::{DriveRequest, KeepState};
use crate::table::{self, DrivenCli, DrivenKey};

/// A CLI, ready to be run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Driven {
    /// What it sees.
    pub spec: SandboxSpec,
    /// The hosts that it reaches, as entries of a list of hosts.
    pub hosts: Vec<DrivenHost>,
    /// The key that the broker puts in, if one does.
    pub secrets: Vec<SecretBinding>,
    /// What whoever starts it may want to know, a sentence each.
    pub notes: Vec<String>,
}

/// A host that a CLI reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrivenHost {
    /// As it stands in a list of hosts.
    pub entry: String,
    /// Why.
    pub why: String,
}

impl DrivenCli {
    /// Returns all that have a preset.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        table::TABLE
    }

    /// Returns the one of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<&'static Self, DriveError> {
        let found = table::TABLE.iter().find(|row| row.name == name);
        found.ok_or_else(|| {
            let names = table::TABLE.iter().map(|row| row.name);
            let meant = nearest(name, names.clone()).map(|meant| format!("did you mean `{meant}`? "));
            let names: Vec<_> = names.collect();
            let fix = format!(
                "{}there is a preset for {}; `generic` drives any program, with --program and its hosts",
                meant.unwrap_or_default(),
                names.join(", ")
            );
            DriveError::new(format!("`{}` is no CLI that is known", name.escape_debug()), fix)
        })
    }

    pub(crate) fn is_generic(&self) -> bool {
        self.program.is_empty()
    }
}

impl DrivenKey {
    /// Returns where it is looked for, in words.
    #[must_use]
    pub fn places(&self) -> Vec<String> {
        self.sources.iter().map(table::KeySource::words).collect()
    }
}

/// Makes ready to run a CLI: looks for it and for its key, and takes that from nowhere yet.
///
/// # Errors
/// When something is missing, or does not go together.
pub fn drive(request: &DriveRequest) -> Result<Driven, DriveError> {
    let cli = DrivenCli::named(&request.cli)?;
    let home = find::home();
    let program = Program::find(cli, request.program.as_deref())?;
    let words = std::iter::once(program.path.clone().into_os_string());
    let mut spec = SandboxSpec::new(&request.workspace, words);
    spec.home = HomeView::Tools;
    // Its output goes to its client and is not kept.
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
    match kept::folder(cli, request)? {
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

/// Whether a variable names something at home, which is made for a CLI that does not see its own.
fn is_of_home((_, value): &&(&str, &str)) -> bool {
    value.contains("{home}")
}

/// What means nothing for a program that no preset is for.
fn generic(request: &DriveRequest) -> Result<(), DriveError> {
    let rows = [
        (request.api_base.is_some(), "--api-base", "name its host with --allow-host"),
        (request.key.is_some(), "--key", "name it with --secret, and so the host that it goes to"),
        (!request.secure_credential_home, "--secure-credential-home false", "leave it out"),
        (request.keep != KeepState::No, "--keep-state", "give it a folder for its state with --rw"),
    ];
    match rows.into_iter().find(|row| row.0) {
        None => Ok(()),
        Some((_, option, fix)) => {
            Err(DriveError::new(format!("{option} means nothing for `generic`, which has no preset"), fix))
        }
    }
}

impl Driven {
    /// Lends the CLI its key, and lets it reach the host that this goes to.
    fn set_key(
        &mut self,
        cli: &'static DrivenCli,
        request: &DriveRequest,
        home: &Path,
    ) -> Result<(), DriveError> {
        let FoundKey { key, source, shown } = find::key(cli, request.key.as_deref(), home)?;
        let base = request.api_base.clone().unwrap_or_else(|| ApiBase::of(key.host));
        let path = if base.path.is_empty() { String::new() } else { format!("{}/**", base.path) };
        // A model may be told what its tools see, such as their variables: that is of no use to anybody.
        let binding =
            format!("{}={source}@{}{path} in header:{} mentioned", key.variable, base.host, key.header);
        let binding =
            SecretBinding::read(&binding).map_err(|error| DriveError::new(error.to_string(), error.fix))?;
        self.secrets.push(binding);
        let why = match request.api_base {
            Some(_) => format!("the model of {}, at the address that was named", cli.title),
            None => format!("the model of {}", cli.title),
        };
        self.hosts.push(DrivenHost { entry: base.host.clone(), why });
        self.set(key.set.iter(), &base.url, home);
        let words = key.words.iter().map(|word| word.replace("{base}", &base.url).into());
        self.spec.command.extend(words);
        self.notes.push(format!("its key is taken from {shown}, and stays outside"));
        Ok(())
    }

    /// Lets the CLI use its own home and login, as `secureCredentialHome: false` has always meant.
    fn share_home(&mut self, cli: &DrivenCli, request: &DriveRequest, home: &Path) -> Result<(), DriveError> {
        let rows = [
            (request.key.is_some(), "--key", "the CLI uses its own login; leave one of them out"),
            (
                request.keep != KeepState::No,
                "--keep-state",
                "its state is that of its own home; leave it out",
            ),
            (
                request.api_base.is_some(),
                "--api-base",
                "the CLI says itself where its API is; use --allow-host",
            ),
        ];
        if let Some((_, option, fix)) = rows.into_iter().find(|row| row.0) {
            return Err(DriveError::new(
                format!("{option} means nothing with --secure-credential-home false"),
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
            "the CLI and all that it starts see {} with its login, and may change what you run there later",
            shown.join(", ")
        ));
        Ok(())
    }

    /// Shows the CLI what it kept.
    fn keep(&mut self, cli: &DrivenCli, folder: &Path, home: &Path) {
        let state = cli.state.iter().map(|below| HomeState {
            source: folder.join(kept::name_of(below)),
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
