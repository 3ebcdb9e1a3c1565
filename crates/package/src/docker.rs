//! How Docker runs a package.

use std::path::PathBuf;

use thiserror::Error;

use super::field::bytes_of;
use super::manifest::ContainerManifest;
use stockade_exec_sandbox::backends::{ContainerRequest, ENGINE_PROXIES};

/// What a caller decides about a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerOptions {
    /// The image, by its digest: `sha256:…` or `NAME@sha256:…`. By default `iscl-skill-NAME:latest`, whatever that is
    /// by then.
    pub image: Option<String>,
    /// A unix socket of the API, the only way out. Without it the container reaches nothing.
    pub api_socket: Option<PathBuf>,
    /// A word that tells this run from others of the package at the same time: letters, digits and hyphens.
    pub run: Option<String>,
    /// What runs the container in the place of what the engine takes by itself, such as `runsc`.
    pub runtime: Option<String>,
}

/// How to run a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerArgs {
    /// The arguments of `docker`, each a word of its own: nothing in them is for a shell.
    pub docker: Vec<String>,
    /// The arguments of `docker` that end the run. Killing the client leaves the container running.
    pub kill: Vec<String>,
    /// When to kill it.
    pub timeout_ms: u64,
    /// What these arguments alone do not give.
    pub not_enforced: Vec<NotEnforced>,
}

/// Something that the manifest or the package calls for, and arguments of `docker` cannot give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NotEnforced {
    /// That nothing else is started (`allowSpawn: false`).
    Spawn,
    /// That the image holds the files of the package.
    Image,
    /// A memory limit below what Docker accepts.
    Memory,
}

/// An option cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContainerOptionsError {
    /// The image is not named by its digest.
    #[error(
        "the image must be a digest, `sha256:` or `NAME@sha256:` and 64 hexadecimal digits: `docker image inspect \
         --format '{{{{.Id}}}}' IMAGE`"
    )]
    Image,
    /// The path of the socket is relative, no text, or would be read as two by Docker.
    #[error("the socket must be an absolute path without commas, quotes and control characters")]
    Socket,
    /// The run has a name that cannot be part of a container's.
    #[error("the name of a run has 1 to 32 lower-case letters, digits and hyphens")]
    Run,
    /// The runtime has an invalid name.
    #[error("the name of a runtime has up to 64 letters, digits and `-._`")]
    Runtime,
}

/// Docker refuses to start a container with less.
pub(super) const LEAST_MEMORY_MB: u64 = 6;

/// Where the socket is found inside.
const SOCKET: &str = "/run/iscl.sock";

/// Options of every container. An entry of one word is a flag, the others have a value.
const ALWAYS: &[&[&str]] = &[
    // Nothing is left behind, and no unchecked image is fetched.
    &["--rm"],
    &["--pull", "never"],
    &["--network", "none"],
    &["--read-only"],
    // Docker gives it the mode of the image's own /tmp, which only its owner may be let write to.
    &["--tmpfs", "/tmp:rw,noexec,nosuid,nodev,size=64m,nr_inodes=65536,uid=65534,gid=65534"],
    // Without shared memory, /tmp is the only place to write.
    &["--ipc", "none"],
    &["--cpus", "0.5"],
    &["--pids-limit", "64"],
    &["--ulimit", "core=0"],
    &["--ulimit", "nofile=1024"],
    &["--cap-drop", "ALL"],
    // No profile is named: another one would take the place of Docker's own, which closes more.
    &["--security-opt", "no-new-privileges"],
    // The overflow uid: an image may ask to run as root.
    &["--user", "65534:65534"],
    // What it prints goes to the caller alone, and fills no disk.
    &["--log-driver", "none"],
    &["--env", "HOME=/tmp"],
];

impl ContainerManifest {
    /// Returns the arguments of `docker` that run the package as its manifest says, and as little else as possible.
    ///
    /// They are a plan: nothing was asked of Docker, and the signature was not looked at.
    ///
    /// # Errors
    /// An option cannot be used.
    pub fn docker_args(&self, options: &ContainerOptions) -> Result<ContainerArgs, ContainerOptionsError> {
        let name = container_name(&self.name, options.run.as_deref())?;
        let (image, pinned) = image(&self.name, options.image.as_deref())?;
        let memory_mb = self.sandbox.memory_mb.max(LEAST_MEMORY_MB);
        let mut docker: Vec<String> = vec!["run".into()];
        if let Some(runtime) = &options.runtime {
            if !ContainerRequest::is_runtime(runtime) {
                return Err(ContainerOptionsError::Runtime);
            }
            docker.extend(["--runtime".to_owned(), runtime.clone()]);
        }
        let mut push = |option: &str, value: String| docker.extend([option.to_owned(), value]);
        push("--name", name.clone());
        push("--memory", format!("{memory_mb}m"));
        // Without this, as much again may be swapped.
        push("--memory-swap", format!("{memory_mb}m"));
        if let Some(socket) = &options.api_socket {
            push("--mount", socket_mount(socket)?);
            push("--env", format!("ISCL_API_URL=unix://{SOCKET}"));
        } else {
            // By its name alone: an address may hold a password, and arguments are read by every user.
            push("--env", "ISCL_API_URL".into());
        }
        push("--env", format!("ISCL_SKILL_NAME={}", self.name));
        for proxy in ENGINE_PROXIES.iter().flat_map(|name| [(*name).to_owned(), name.to_ascii_lowercase()]) {
            push("--env", format!("{proxy}="));
        }
        docker.extend(ALWAYS.iter().copied().flatten().map(|&word| word.to_owned()));
        docker.push(image);
        let not_enforced = [
            (!self.sandbox.allow_spawn, NotEnforced::Spawn),
            (!pinned, NotEnforced::Image),
            (memory_mb > self.sandbox.memory_mb, NotEnforced::Memory),
        ];
        Ok(ContainerArgs {
            docker,
            kill: ["kill", "--signal", "KILL", &name].map(str::to_owned).into(),
            timeout_ms: self.sandbox.timeout_ms,
            not_enforced: not_enforced
                .into_iter()
                .filter_map(|(holds, what)| holds.then_some(what))
                .collect(),
        })
    }
}

impl NotEnforced {
    /// Returns a stable name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spawn => "allowSpawn",
            Self::Image => "image",
            Self::Memory => "memoryMb",
        }
    }

    /// Returns what is missing, and what gives it.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Spawn => {
                "the package may not start programs, which arguments of Docker cannot enforce, because a seccomp \
                 profile that denies execve also stops its first program; use `stockade container run`, which \
                 enforces it; with these arguments, the limit is 64 processes"
            }
            Self::Image => {
                "the image is named by a tag, which can move to another image: build it from the checked files, and \
                 use its digest"
            }
            Self::Memory => "the container gets 6 MB of memory, which is the minimum of Docker",
        }
    }
}

fn container_name(skill: &str, run: Option<&str>) -> Result<String, ContainerOptionsError> {
    let Some(run) = run else { return Ok(format!("iscl-skill-{skill}")) };
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=32).contains(&run.len()) && run.bytes().all(letter);
    fits.then(|| format!("iscl-skill-{skill}.{run}")).ok_or(ContainerOptionsError::Run)
}

/// The image, and whether it is always the same.
pub(super) fn image(skill: &str, named: Option<&str>) -> Result<(String, bool), ContainerOptionsError> {
    let Some(named) = named else { return Ok((format!("iscl-skill-{skill}:latest"), false)) };
    let (repository, digest) = match named.rsplit_once('@') {
        Some((repository, digest)) => (Some(repository), digest),
        None => (None, named),
    };
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._/:".contains(&byte);
    let fits = |repository: &str| {
        repository.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && repository.len() <= 255
            && repository.bytes().all(letter)
    };
    let is_digest = digest.strip_prefix("sha256:").and_then(bytes_of::<32>).is_some();
    if !is_digest || !repository.is_none_or(fits) {
        return Err(ContainerOptionsError::Image);
    }
    Ok((named.to_owned(), true))
}

fn socket_mount(socket: &std::path::Path) -> Result<String, ContainerOptionsError> {
    let path = socket.to_str().filter(|path| path.starts_with('/')).ok_or(ContainerOptionsError::Socket)?;
    // Docker reads the value as a line of comma-separated values.
    if path.contains([',', '"', '\'']) || path.chars().any(char::is_control) {
        return Err(ContainerOptionsError::Socket);
    }
    Ok(format!("type=bind,source={path},target={SOCKET},readonly"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::manifest::tests::sample;
    use super::*;

    fn manifest(memory: u64, spawn: bool) -> ContainerManifest {
        let mut manifest = sample();
        manifest["sandbox"] = json!({ "memoryMb": memory, "timeoutMs": 10000, "allowSpawn": spawn });
        ContainerManifest::parse(&manifest.to_string(), |_| true).unwrap()
    }

    #[test]
    fn the_whole_command_line() {
        let options = ContainerOptions {
            image: Some(format!("registry.example:5000/skills/a@sha256:{}", "c".repeat(64))),
            api_socket: Some("/run/iscl/core.sock".into()),
            run: Some("7".into()),
            runtime: None,
        };
        let args = manifest(128, true).docker_args(&options).unwrap();
        let wanted = "run --name iscl-skill-example-transfer-skill.7 --memory 128m --memory-swap 128m \
            --mount type=bind,source=/run/iscl/core.sock,target=/run/iscl.sock,readonly \
            --env ISCL_API_URL=unix:///run/iscl.sock --env ISCL_SKILL_NAME=example-transfer-skill \
            --env HTTP_PROXY= --env http_proxy= --env HTTPS_PROXY= --env https_proxy= --env FTP_PROXY= --env ftp_proxy= \
            --env ALL_PROXY= --env all_proxy= --env NO_PROXY= --env no_proxy= \
            --rm --pull never --network none --read-only --tmpfs /tmp:rw,noexec,nosuid,nodev,size=64m,nr_inodes=65536,uid=65534,gid=65534 \
            --ipc none --cpus 0.5 --pids-limit 64 --ulimit core=0 --ulimit nofile=1024 --cap-drop ALL \
            --security-opt no-new-privileges --user 65534:65534 --log-driver none --env HOME=/tmp";
        let mut wanted: Vec<&str> = wanted.split_whitespace().collect();
        wanted.push(options.image.as_deref().unwrap());
        assert_eq!(args.docker, wanted);
        assert_eq!(args.kill, ["kill", "--signal", "KILL", "iscl-skill-example-transfer-skill.7"]);
        assert_eq!((args.timeout_ms, args.not_enforced), (10_000, vec![]));
    }

    #[test]
    fn what_cannot_be_held_is_said() {
        let args = manifest(4, false).docker_args(&ContainerOptions::default()).unwrap();
        assert_eq!(args.not_enforced, [NotEnforced::Spawn, NotEnforced::Image, NotEnforced::Memory]);
        assert!(args.docker.contains(&"6m".to_owned()));
        assert_eq!(args.docker.last().unwrap(), "iscl-skill-example-transfer-skill:latest");
        assert!(args.docker.windows(2).any(|two| two == ["--env", "ISCL_API_URL"]));
    }

    #[test]
    fn options_cannot_become_others() {
        let digest = format!("sha256:{}", "c".repeat(64));
        for (image, taken) in [
            (digest.clone(), true),
            (format!("a@{digest}"), true),
            ("iscl-skill-a:latest".into(), false),
            (format!("--privileged@{digest}"), false),
            (format!("a b@{digest}"), false),
            (format!("@{digest}"), false),
            (format!("{digest}0"), false),
            (digest.replace('c', "g"), false),
        ] {
            let options = ContainerOptions { image: Some(image.clone()), ..ContainerOptions::default() };
            assert_eq!(manifest(64, true).docker_args(&options).is_ok(), taken, "{image}");
        }
        for socket in ["core.sock", "/a,readonly=false", "/a\nb", "/a\"b"] {
            let options = ContainerOptions { api_socket: Some(socket.into()), ..ContainerOptions::default() };
            let error = manifest(64, true).docker_args(&options).unwrap_err();
            assert_eq!(error, ContainerOptionsError::Socket, "{socket}");
        }
        for run in ["", "a b", "A", "a/b"] {
            let options = ContainerOptions { run: Some(run.into()), ..ContainerOptions::default() };
            assert_eq!(manifest(64, true).docker_args(&options), Err(ContainerOptionsError::Run), "{run}");
        }
    }
}
