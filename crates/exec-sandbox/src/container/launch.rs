//! What a sandbox is asked for that runs a package: the same request that any command is run by, with the bounds of the manifest.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::docker::{ContainerOptions, ContainerOptionsError, LEAST_MEMORY_MB, NotEnforced, image};
use super::manifest::ContainerManifest;
use crate::backends::request::{ContainerPurpose, ContainerRequest, Engine};
use crate::enforcement::Property;
use crate::limits::{Limit, ResourceLimits};
use crate::spec::{MountAccess, Network, SandboxSpec, Spawn};

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
    /// Returns what a sandbox is asked for that runs the package. `files` is a folder with its files as they were checked: they are
    /// mounted read-only, and the command starts there. Without a `command`, the image says what it starts.
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
            // The engine gives a package half of it.
            processors: Limit::AtMost(1),
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

    use super::super::manifest::tests::sample;
    use super::*;
    use crate::backends::request::EngineFacts;
    use crate::host::{Entry, HostFacts};

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

    fn arguments(run: &PackageRun, engine: EngineFacts) -> Vec<String> {
        let plan = crate::plan(&run.spec, &facts(engine)).unwrap();
        let container = plan.provider.container().unwrap();
        let handed = crate::backends::args::Handed {
            name: "N",
            owner: "O",
            variables: Path::new("V"),
            launcher: (plan.spawn == Spawn::Threads).then_some(Path::new("/l")),
        };
        let words = crate::backends::args::create(&plan, container, &handed);
        let variables = String::from_utf8(crate::backends::args::variables(&plan)).unwrap();
        let told =
            variables.lines().filter(|line| !line.ends_with('=')).map(|line| format!("variable {line}"));
        words.into_iter().map(|word| word.into_string().unwrap()).chain(told).collect()
    }

    #[test]
    fn the_whole_command_line() {
        let run =
            manifest(128, false).package_run(Engine::Docker, Path::new("/srv/p"), &[], &pinned()).unwrap();
        assert_eq!(run.not_enforced, []);
        let mut engine = EngineFacts::complete(digest());
        engine.command = vec!["/bin/sh".into(), "main.sh".into()];
        engine.volumes = vec!["/data".to_owned()];
        let wanted = "create --name=N --label=stockade.owner=O --env-file=V --network=none --workdir=/srv/p --user=0:0 \
            --memory=134217728b --memory-swap=134217728b --pids-limit=64 --cpus=0.5 --ulimit=nofile=1024:1024 \
            --ipc=none --tmpfs=/data:ro,noexec,nosuid,nodev,size=4096,mode=0555 \
            --tmpfs=/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777,uid=0,gid=0,nr_inodes=13421 \
            --mount=type=bind,source=/srv/p,target=/srv/p,readonly \
            --mount=type=bind,source=/l,target=/.stockade-launcher,readonly --entrypoint=/.stockade-launcher \
            --pull=never --interactive --read-only --cap-drop=ALL --security-opt=no-new-privileges --log-driver=none \
            --no-healthcheck --restart=no --hostname=stockade --ulimit=core=0";
        let wanted = wanted.replace("0:0", "1000:0").replace("uid=0", "uid=1000");
        let mut wanted: Vec<String> = wanted.split_whitespace().map(str::to_owned).collect();
        wanted.push(digest());
        wanted.extend(["1", "/bin/sh", "/bin/sh", "main.sh"].map(str::to_owned));
        let told = ["HOME=/tmp", "ISCL_SKILL_NAME=example-transfer-skill", "LANG=C.UTF-8"];
        wanted.extend(told.map(|line| format!("variable {line}")));
        wanted.push(format!(
            "variable PATH={}",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        ));
        wanted.push("variable TMPDIR=/tmp".to_owned());
        assert_eq!(arguments(&run, engine), wanted);
    }

    #[test]
    fn what_an_engine_cannot_bound_is_refused() {
        let run =
            manifest(64, true).package_run(Engine::Docker, Path::new("/srv/p"), &["x".into()], &pinned());
        let run = run.unwrap();
        let full = || EngineFacts::complete(digest());
        assert!(crate::plan(&run.spec, &facts(full())).is_ok());
        for lacking in [
            EngineFacts { bounds_memory: false, ..full() },
            EngineFacts { bounds_processes: false, ..full() },
            EngineFacts { bounds_processors: false, ..full() },
            EngineFacts { filters: false, ..full() },
        ] {
            assert!(crate::plan(&run.spec, &facts(lacking.clone())).is_err(), "{lacking:?}");
        }
        // The image says none, and nobody else does.
        let run =
            manifest(64, true).package_run(Engine::Docker, Path::new("/srv/p"), &[], &pinned()).unwrap();
        let refusal = crate::plan(&run.spec, &facts(full())).unwrap_err();
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
