//! Container values: the request, the facts that an engine reports, and the plan made from both.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::choices::SandboxBackend;
use crate::refusal::{Refusal, SandboxRule, What};

/// The program that runs containers on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Docker: a client, and a daemon that starts the containers.
    Docker,
    /// Podman, which starts them itself.
    Podman,
}

impl Engine {
    /// Its name, which is that of its program.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// Returns the engine that is chosen by this word.
    #[must_use]
    pub const fn of(backend: SandboxBackend) -> Option<Self> {
        match backend {
            SandboxBackend::Docker => Some(Self::Docker),
            SandboxBackend::Podman => Some(Self::Podman),
            SandboxBackend::Auto
            | SandboxBackend::Native
            | SandboxBackend::Bwrap
            | SandboxBackend::Landlock
            | SandboxBackend::Added(_) => None,
        }
    }

    /// Returns the word by which it is chosen.
    #[must_use]
    pub const fn backend(self) -> SandboxBackend {
        match self {
            Self::Docker => SandboxBackend::Docker,
            Self::Podman => SandboxBackend::Podman,
        }
    }
}

/// Container options of a sandbox request, for the backends that run a container.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainerRequest {
    /// The image. It is never pulled, because the user must have reviewed it first. A digest always names the same image.
    pub image: Option<String>,
    /// The OCI runtime that replaces the engine's default, such as `runsc`.
    pub runtime: Option<String>,
    /// The kind of program that the container runs.
    pub purpose: ContainerPurpose,
}

/// The kind of program that a container runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ContainerPurpose {
    /// A command of this machine's user: it has a home directory, and gets the harmless variables of this machine.
    #[default]
    Command,
    /// An untrusted package: it can write only to `/tmp`, and gets half a CPU and no variables except `PATH` and those that the
    /// request sets.
    Package,
}

/// Facts about an engine and the requested image, as the engine reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineFacts {
    /// The engine's client program.
    pub client: PathBuf,
    /// The digest that the name of the image resolves to.
    pub image_id: String,
    /// The search path of the image.
    pub path: Option<String>,
    /// The image's default command, for requests without a program.
    pub command: Vec<OsString>,
    /// Paths that the image declares as volumes.
    pub volumes: Vec<String>,
    /// Whether it filters system calls.
    pub filters: bool,
    /// Whether it can bound memory.
    pub bounds_memory: bool,
    /// Whether it can bound the number of processes.
    pub bounds_processes: bool,
    /// Whether it can bound processors.
    pub bounds_processors: bool,
    /// How many processes one user may have at most, where the engine has to be told.
    pub most_processes: u64,
    /// Whether it has an init process for containers, which reaps orphaned processes.
    pub has_init: bool,
    /// Whether it runs as an ordinary user, who has to stay the same within.
    pub is_rootless: bool,
}

impl EngineFacts {
    /// Returns the facts of an engine without gaps, with an image of this digest.
    #[must_use]
    pub fn complete(image_id: impl Into<String>) -> Self {
        Self {
            client: "/usr/bin/docker".into(),
            image_id: image_id.into(),
            path: None,
            command: Vec::new(),
            volumes: Vec::new(),
            filters: true,
            bounds_memory: true,
            bounds_processes: true,
            bounds_processors: true,
            most_processes: 1024,
            has_init: true,
            is_rootless: false,
        }
    }
}

/// Reason why an engine cannot run a container on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EngineLack {
    /// The engine's program is not installed.
    Program,
    /// Its daemon does not answer.
    Daemon,
    /// It runs on another machine.
    Remote,
    /// It maps the user IDs of containers to other user IDs.
    MapsUsers,
    /// No image was named.
    Unnamed,
    /// The name of the image is invalid.
    OddImage,
    /// It does not have the image.
    Image,
    /// It does not have the runtime.
    Runtime,
}

/// A lack, its description and its fix. `{engine}` and `{image}` are placeholders in the fix.
type Row = (EngineLack, &'static str, &'static str);

#[rustfmt::skip]
const LACKS: &[Row] = &[
    (EngineLack::Program, "the program is not installed",
        "install it (`apt-get install docker.io` or `podman`), or choose another backend"),
    (EngineLack::Daemon, "its daemon does not answer",
        "start it (`systemctl start docker`), or give this user access (`usermod -aG docker USER`); `{engine} info` \
         shows the cause"),
    (EngineLack::Remote, "it runs on another machine, which does not have this workspace",
        "use a local daemon: `export DOCKER_HOST=unix:///var/run/docker.sock`"),
    (EngineLack::MapsUsers, "it maps container users to other user IDs, so files in the workspace would belong to another user",
        "use `--backend podman`, which keeps user IDs, or a rootful daemon without `userns-remap`"),
    (EngineLack::Unnamed, "missing image",
        "use `--image NAME@sha256:…`; `{engine} images --digests` lists the images of this machine"),
    (EngineLack::OddImage, "invalid image name",
        "use lower-case letters, digits and `.-_/:@`"),
    (EngineLack::Image, "image not found; images are not pulled automatically",
        "review the image, and pull it: `{engine} pull {image}`"),
    (EngineLack::Runtime, "runtime not found",
        "install it and register it with the engine, such as gVisor: `apt-get install runsc && runsc install`"),
];

impl EngineLack {
    /// Returns a description of what is missing, for users.
    #[must_use]
    pub fn why(self) -> &'static str {
        LACKS.iter().find(|row| row.0 == self).map_or("it cannot be used", |row| row.1)
    }

    /// Returns the fix, for users.
    #[must_use]
    pub fn fix(self, engine: Engine, request: &ContainerRequest) -> String {
        let fix = LACKS.iter().find(|row| row.0 == self).map_or("choose another backend", |row| row.2);
        let image = request.image.as_deref().filter(|image| is_image(image)).unwrap_or("IMAGE");
        fix.replace("{engine}", engine.name()).replace("{image}", image)
    }

    pub(crate) fn refusal(self, engine: Engine, request: &ContainerRequest) -> Refusal {
        let fix = self.fix(engine, request);
        Refusal::new(What::Backend(engine.backend()), SandboxRule::CannotEnforce(self.why()), fix)
    }
}

/// Plan of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerPlan {
    /// The engine that runs it.
    pub engine: Engine,
    /// Facts about the engine and the image.
    pub facts: EngineFacts,
    /// The container options of the sandbox request.
    pub request: ContainerRequest,
    /// The user ID and group ID of the caller.
    pub user: (u32, u32),
}

impl ContainerPlan {
    /// Whether the image is named by its digest, and so always the same.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.request.is_pinned()
    }
}

/// Whether an image is named by its digest, and so always the same.
pub(crate) fn is_pinned(image: &str) -> bool {
    let digest = image.rsplit_once('@').map_or(image, |(_, digest)| digest);
    digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex))
}

const fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Whether this is the name of an image, and cannot be taken for an option.
pub(crate) fn is_image(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
    // A tag may have capital letters.
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:@".contains(&byte);
    begins && name.len() <= 512 && name.bytes().all(letter)
}

impl ContainerRequest {
    /// Returns whether this is the name of an image, which cannot be taken for an option.
    #[must_use]
    pub fn is_image(name: &str) -> bool {
        is_image(name)
    }

    /// Returns whether the image is named by its digest.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.image.as_deref().is_some_and(is_pinned)
    }

    /// Returns whether this is the name of a runtime.
    #[must_use]
    pub fn is_runtime(name: &str) -> bool {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        (1..=64).contains(&name.len())
            && name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && name.bytes().all(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_names_cannot_be_options_or_paths() {
        let digest = format!("sha256:{}", "c".repeat(64));
        for (name, taken) in [
            ("alpine".to_owned(), true),
            ("registry.example:5000/a/b:V1".to_owned(), true),
            (format!("a@{digest}"), true),
            (digest, true),
            (String::new(), false),
            ("--privileged".to_owned(), false),
            ("/etc".to_owned(), false),
            ("a b".to_owned(), false),
            ("a;touch x".to_owned(), false),
            ("a".repeat(513), false),
        ] {
            assert_eq!(is_image(&name), taken, "{name}");
        }
        assert!(
            ContainerRequest::is_runtime("runsc")
                && !ContainerRequest::is_runtime("-x")
                && !ContainerRequest::is_runtime("a b")
                && !ContainerRequest::is_runtime("")
        );
    }

    #[test]
    fn every_engine_lack_has_a_reason_and_a_fix() {
        let request = ContainerRequest { image: Some("a:1".to_owned()), ..ContainerRequest::default() };
        for (lack, why, _) in LACKS {
            assert_eq!(lack.why(), *why);
            for engine in [Engine::Docker, Engine::Podman] {
                let fix = lack.fix(engine, &request);
                assert!(!fix.contains('{') && !fix.is_empty(), "{fix}");
            }
        }
        assert!(EngineLack::Image.fix(Engine::Podman, &request).contains("podman pull a:1"));
        assert_eq!(
            LACKS.iter().map(|row| row.0).collect::<std::collections::BTreeSet<_>>().len(),
            LACKS.len()
        );
    }
}
