//! A cluster as a backend, for commands of every entry point.

#![expect(
    clippy::disallowed_methods,
    reason = "hands on what commands print, and listens whether something is fed to them"
)]

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::KubernetesError;
use super::asked::cannot;
use super::client::ClusterClient;
use super::kubeconfig::ClusterAccess;
use super::name::{NAME, RunName};
use super::objects::{ClusterHost, RunObjects};
use super::options;
use super::run::ClusterEnd;
use super::settings::{ClusterSettings, ClusterWorkspace};
use super::upload::Upload;
use stockade_exec_sandbox::BackendName;
use stockade_exec_sandbox::Denial;
use stockade_exec_sandbox::Plan;
use stockade_exec_sandbox::Refusal;
use stockade_exec_sandbox::SandboxSpec;
use stockade_exec_sandbox::backends::protocol::{is_orphaned, owner_label};
use stockade_exec_sandbox::backends::{Backend, BackendRun, Probed};
use stockade_exec_sandbox::host::HostFacts;
use stockade_exec_sandbox::provider::{Offer, Sees};
use stockade_exec_sandbox::run::AddedCommand;
use stockade_exec_sandbox::{End, Outcome};
use stockade_exec_sandbox::{RunError, run_added};

/// Runs commands in the cluster of a kubeconfig. It is taken where it is named, `kubernetes`, and nowhere else.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct KubernetesBackend {}

/// What is known before anything is asked.
struct Prepared {
    settings: ClusterSettings,
    access: ClusterAccess,
    upload: Option<Upload>,
}

impl Prepared {
    fn read(spec: &SandboxSpec, facts: &HostFacts) -> Result<Self, Refusal> {
        let (settings, context) = options::read(&spec.backend_options)?;
        if is_in(&spec.workspace) {
            let fix = "move it to a directory that commands cannot write".to_owned();
            return Err(cannot(
                "KUBECONFIG is a file in the workspace, where a command could have written it",
                fix,
            ));
        }
        let access = ClusterAccess::find(context.as_deref(), &facts.home).map_err(|error| {
            let fix = format!("{} ({error})", error.fix());
            cannot("cannot use the kubeconfig", fix)
        })?;
        Ok(Self { settings, access, upload: None })
    }

    /// The same, with the files of the workspace where they travel.
    fn with_files(mut self, spec: &SandboxSpec) -> Result<Self, RunError> {
        if self.settings.workspace == ClusterWorkspace::Upload {
            let upload = Upload::read(spec).map_err(|error| {
                cannot("the files of the workspace cannot be uploaded", error.to_string())
            })?;
            self.upload = Some(upload);
        }
        Ok(self)
    }

    fn objects(&self, name: RunName, spec: &SandboxSpec, facts: &HostFacts) -> Result<RunObjects, Refusal> {
        let host = ClusterHost {
            variables: &facts.environment,
            user: (facts.user, facts.group),
            upload: self.upload.as_ref(),
        };
        RunObjects::plan(name, spec, &self.settings, &self.access, &host)
    }
}

impl Backend for KubernetesBackend {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "Kubernetes Job in the cluster of your kubeconfig, from --image; never auto-selected"
    }

    fn offer(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal> {
        let objects = Prepared::read(spec, facts)?.objects(trial()?, spec, facts)?;
        let name = BackendName::new(NAME)
            .ok_or_else(|| cannot("missing name of the run", "choose another backend"))?;
        Ok(Offer::added(name, Sees::Copy, objects.enforcement))
    }

    /// Asks the cluster whether it would take such a run, by its schemas, its rules and what this user may do. Nothing is run.
    fn probe(&self, spec: &SandboxSpec) -> Probed {
        let facts = stockade_exec_sandbox::probe(spec);
        let planned = || -> Result<RunObjects, Probed> {
            let refused = |refusal: Refusal| Probed::Not { why: refusal.rule.to_string(), fix: refusal.fix };
            let prepared = Prepared::read(spec, &facts).map_err(refused)?;
            let objects = prepared.objects(trial().map_err(refused)?, spec, &facts).map_err(refused)?;
            let taken = ClusterClient::new(&prepared.access).and_then(|client| client.would_take(&objects));
            let failed =
                |error: KubernetesError| Probed::Not { why: error.to_string(), fix: error.fix().to_owned() };
            taken.map(|()| objects).map_err(failed)
        };
        planned().map_or_else(|not| not, |objects| Probed::Works(objects.enforcement))
    }

    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
        let prepared = Prepared::read(job.spec, &job.facts)?.with_files(job.spec)?;
        let random = |source| RunError::Setup { doing: "naming the run".to_owned(), source };
        let name = RunName::unguessed().map_err(random)?;
        let mut objects = prepared.objects(name, job.spec, &job.facts)?;
        objects.is_waited_for_by(&owner_label().map_err(random)?);
        let client = ClusterClient::new(&prepared.access).map_err(|error| failed(&error))?;
        // Leftovers of killed programs are removed now, while the cluster answers.
        client
            .remove_orphans(&objects.namespace, objects.workload, is_orphaned)
            .map_err(|error| failed(&error))?;
        let ended: Arc<Mutex<Option<ClusterEnd>>> = Arc::default();
        let told = Arc::clone(&ended);
        let mut outcome = run_added(&job.plan, job.streams, job.control, move |command| {
            let end = carry_out(&client, &objects, command)?;
            let how = end.end;
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
            Ok(how)
        })?;
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if ended.is_some_and(|end| end.memory_ran_out && end.end != End::OutOfMemory) {
            outcome.denials.push(Denial::Memory);
        }
        Ok((job.plan, outcome))
    }

    fn cleanup(&self, spec: &SandboxSpec) -> usize {
        if is_in(&spec.workspace) {
            return 0;
        }
        let home = std::env::var_os("HOME").unwrap_or_default();
        let removed = ClusterAccess::find(None, home.as_ref()).and_then(|access| {
            let settings = ClusterSettings::default();
            ClusterClient::new(&access)?.remove_orphans(&access.namespace, settings.workload, is_orphaned)
        });
        removed.unwrap_or_default()
    }
}

/// Whether `KUBECONFIG` leads into a folder. What a command wrote there would say which server is sent which file as a token.
fn is_in(folder: &Path) -> bool {
    let named = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    std::env::split_paths(&named)
        .filter_map(|path| fs::canonicalize(path).ok())
        .any(|path| path.starts_with(&folder))
}

/// A name for what is planned and not made.
fn trial() -> Result<RunName, Refusal> {
    RunName::new("planned").map_err(|_| cannot("missing name of the run", "choose another backend"))
}

fn failed(error: &KubernetesError) -> RunError {
    let source = io::Error::other(format!("{error}; {}", error.fix()));
    RunError::Setup { doing: "running it in the cluster".to_owned(), source }
}

fn carry_out(
    client: &ClusterClient,
    objects: &RunObjects,
    command: AddedCommand,
) -> Result<ClusterEnd, RunError> {
    let AddedCommand { stdin, stdout, stderr, stop } = command;
    let is_fed = listen(File::from(stdin));
    let fed = Arc::clone(&is_fed);
    let told = stop.clone();
    let is_over = move || told.is_cancelled() || fed.load(Ordering::SeqCst);
    // A reader that is gone misses nothing, and one that is slow does not keep the run from its end.
    let mut print = |bytes: &[u8]| drop(stop.write_unless(&stdout, bytes));
    let end = client.run(objects).to_the_end(is_over, &mut print).map_err(|error| failed(&error))?;
    if is_fed.load(Ordering::SeqCst) {
        let fix = "put the input into a file in the workspace, or choose another backend";
        return Err(
            cannot("a command in a cluster has no standard input, and the input is not empty", fix).into()
        );
    }
    if end.lost_output {
        let line = "part of the command's output could not be read from its node\n";
        File::from(stderr).write_all(line.as_bytes()).ok();
    }
    Ok(end)
}

/// Listens whether something is fed to the command. What is only open and never written to is nothing.
fn listen(mut stdin: File) -> Arc<AtomicBool> {
    let is_fed = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&is_fed);
    std::thread::spawn(move || {
        if stdin.read(&mut [0]).is_ok_and(|count| count > 0) {
            heard.store(true, Ordering::SeqCst);
        }
    });
    is_fed
}
