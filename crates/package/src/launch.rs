//! What a sandbox is asked for that runs a package: the same request that any command is run by, with the bounds of the manifest.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use stockade_exec_sandbox::backends::{ContainerPurpose, ContainerRequest, Engine};
use stockade_exec_sandbox::{
    Limit, MountAccess, Network, Processors, Property, ResourceLimits, SandboxSpec, Spawn,
};

use super::docker::{ContainerOptions, ContainerOptionsError, LEAST_MEMORY_MB, NotEnforced, image};
use super::manifest::ContainerManifest;

/// What a package may print; what goes beyond is dropped.
const MAX_OUTPUT: u64 = 10 << 20;
/// What fits into its `/tmp`.
const MAX_TEMPORARY: u64 = 64 << 20;
const MAX_PROCESSES: u64 = 64;
const MAX_OPEN_FILES: u64 = 1024;

/// What is always bounded, so that an engine which cannot bound it makes no container.
const BOUNDED: [Property; 3] = [Property::TotalMemory, Property::ProcessCount, Property::Processors];

/// A package that is ready to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageRun {
    /// What the sandbox is asked for.
    pub spec: SandboxSpec,
    /// What the manifest says and the sandbox does not hold.
    pub not_enforced: Vec<NotEnforced>,
}

impl ContainerManifest {
    /// Returns what a sandbox is asked for that runs the package. `files` is a folder with its files as they were checked: they
    /// are mounted read-only, and the command starts there. Without a `command`, the image's entry point starts.
    ///
    /// # Errors
    /// An option cannot be used.
    pub fn package_run(
        &self,
        engine: Engine,
        files: &Path,
        command: &[OsString],
        options: &ContainerOptions,
    ) -> Result<PackageRun, ContainerOptionsError> {
        let (image, is_pinned) = image(&self.name, options.image.as_deref())?;
        let memory_mb = self.sandbox.memory_mb.max(LEAST_MEMORY_MB);
        let mut spec = SandboxSpec::new(files, command);
        spec.workspace_access = MountAccess::ReadOnly;
        spec.backend = engine.backend();
        spec.container = ContainerRequest {
            image: Some(image),
            runtime: options.runtime.clone(),
            purpose: ContainerPurpose::Package,
        };
        spec.limits = self.limits(memory_mb);
        spec.require.extend(BOUNDED);
        if !self.sandbox.allow_spawn {
            spec.spawn = Spawn::Threads;
            spec.require.insert(Property::NoSpawn);
        }
        let mut set = |name: &str, value: OsString| spec.environment.set.push((name.into(), value));
        set("HOME", "/tmp".into());
        set("TMPDIR", "/tmp".into());
        set("LANG", "C.UTF-8".into());
        set("ISCL_SKILL_NAME", self.name.clone().into());
        if let Some(socket) = &options.api_socket {
            let path = socket.to_str().filter(|path| path.starts_with('/'));
            set("ISCL_API_URL", format!("unix://{}", path.ok_or(ContainerOptionsError::Socket)?).into());
            spec.network = Network::Broker { socket: socket.clone() };
        }
        let rows =
            [(!is_pinned, NotEnforced::Image), (memory_mb > self.sandbox.memory_mb, NotEnforced::Memory)];
        let not_enforced = rows.into_iter().filter_map(|(holds, what)| holds.then_some(what)).collect();
        Ok(PackageRun { spec, not_enforced })
    }

    fn limits(&self, memory_mb: u64) -> ResourceLimits {
        ResourceLimits {
            wall_time: Limit::AtMost(Duration::from_millis(self.sandbox.timeout_ms)),
            memory: Limit::AtMost(memory_mb << 20),
            processors: Limit::AtMost(Processors::HALF),
            processes: Limit::AtMost(MAX_PROCESSES),
            open_files: Limit::AtMost(MAX_OPEN_FILES),
            // There is no file but those in /tmp, and an error there ends no program.
            file_size: Limit::Unlimited,
            scratch: MAX_TEMPORARY,
            output: Limit::AtMost(MAX_OUTPUT),
            ..ResourceLimits::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stockade_exec_sandbox::backends::EngineFacts;
    use stockade_exec_sandbox::host::{Entry, HostFacts};
    use stockade_exec_sandbox::plan;

    use super::super::manifest::tests::sample;
    use super::*;

    fn manifest(memory: u64, spawn: bool) -> ContainerManifest {
        let mut manifest = sample();
        manifest["sandbox"] = json!({ "memoryMb": memory, "timeoutMs": 10000, "allowSpawn": spawn });
        ContainerManifest::parse(&manifest.to_string(), |_| true).unwrap()
    }

    fn digest() -> String {
        format!("sha256:{}", "c".repeat(64))
    }

    fn pinned() -> ContainerOptions {
        ContainerOptions { image: Some(digest()), ..ContainerOptions::default() }
    }

    fn facts(engine: EngineFacts) -> HostFacts {
        let environment = [("PATH", "/usr/bin"), ("USER", "me"), ("SHELL", "/bin/sh"), ("TERM", "xterm")];
        HostFacts {
            entries: [("/srv/p".into(), Entry::Folder)].into(),
            home: "/home/u".into(),
            user: 1000,
            environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
            engine: Some(Ok(engine)),
            ..HostFacts::default()
        }
    }

    /// The request as a sandbox gets it. The engine arguments for it are tested in exec-sandbox: `the_engine_arguments_match_the_expected_command_line`.
    #[test]
    fn the_whole_request() {
        let run =
            manifest(128, false).package_run(Engine::Docker, Path::new("/srv/p"), &[], &pinned()).unwrap();
        assert_eq!(run.not_enforced, []);
        let mut wanted = SandboxSpec::new("/srv/p", [""; 0]);
        wanted.workspace_access = MountAccess::ReadOnly;
        wanted.backend = Engine::Docker.backend();
        wanted.container =
            ContainerRequest { image: Some(digest()), runtime: None, purpose: ContainerPurpose::Package };
        wanted.limits = ResourceLimits {
            wall_time: Limit::AtMost(Duration::from_secs(10)),
            memory: Limit::AtMost(128 << 20),
            processors: Limit::AtMost(Processors::HALF),
            processes: Limit::AtMost(64),
            open_files: Limit::AtMost(1024),
            file_size: Limit::Unlimited,
            scratch: 64 << 20,
            output: Limit::AtMost(10 << 20),
            ..ResourceLimits::default()
        };
        wanted.require.extend([
            Property::TotalMemory,
            Property::ProcessCount,
            Property::Processors,
            Property::NoSpawn,
        ]);
        wanted.spawn = Spawn::Threads;
        let set = [
            ("HOME", "/tmp"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("ISCL_SKILL_NAME", "example-transfer-skill"),
        ];
        wanted.environment.set = set.map(|(name, value)| (name.into(), value.into())).into();
        assert_eq!(run.spec, wanted);
        assert!(
            plan(
                &run.spec,
                &facts(EngineFacts { command: vec!["/bin/sh".into()], ..EngineFacts::complete(digest()) })
            )
            .is_ok()
        );
    }

    #[test]
    fn what_an_engine_cannot_bound_is_refused() {
        let run =
            manifest(64, true).package_run(Engine::Docker, Path::new("/srv/p"), &["x".into()], &pinned());
        let run = run.unwrap();
        let full = || EngineFacts::complete(digest());
        assert!(plan(&run.spec, &facts(full())).is_ok());
        for lacking in [
            EngineFacts { bounds_memory: false, ..full() },
            EngineFacts { bounds_processes: false, ..full() },
            EngineFacts { bounds_processors: false, ..full() },
            EngineFacts { filters: false, ..full() },
        ] {
            assert!(plan(&run.spec, &facts(lacking.clone())).is_err(), "{lacking:?}");
        }
        // Neither the image nor the caller names a command.
        let run =
            manifest(64, true).package_run(Engine::Docker, Path::new("/srv/p"), &[], &pinned()).unwrap();
        let refusal = plan(&run.spec, &facts(full())).unwrap_err();
        assert!(refusal.fix.contains("name a program after `--`"), "{}", refusal.fix);
    }

    #[test]
    fn what_is_not_held_is_said_and_options_cannot_become_others() {
        let run = |options: &ContainerOptions| {
            manifest(4, false).package_run(Engine::Podman, Path::new("/srv/p"), &[], options)
        };
        let said = run(&ContainerOptions::default()).unwrap();
        assert_eq!(said.not_enforced, [NotEnforced::Image, NotEnforced::Memory]);
        assert_eq!(said.spec.limits.memory, Limit::AtMost(6 << 20));
        let odd = ContainerOptions { image: Some("a:latest".to_owned()), ..ContainerOptions::default() };
        assert_eq!(run(&odd), Err(ContainerOptionsError::Image));
        let odd = ContainerOptions { api_socket: Some("core.sock".into()), ..pinned() };
        assert_eq!(run(&odd), Err(ContainerOptionsError::Socket));
    }
}
