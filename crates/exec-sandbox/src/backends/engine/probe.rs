//! Asks an engine what it has, by running its client.

#![expect(clippy::disallowed_methods, reason = "looks for engines and their sockets, and asks them")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::time::Duration;

use stockade_handoff::find_program;

use super::Client;
use crate::container_request::{ContainerRequest, Engine, EngineFacts, EngineLack, is_image};

/// Timeout for a query to an engine's client.
const PATIENCE: Duration = Duration::from_secs(20);

/// Facts that an engine reports about itself, independent of the image.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) client: Client,
    filters: bool,
    bounds_memory: bool,
    bounds_processes: bool,
    bounds_processors: bool,
    is_rootless: bool,
    runtimes: Vec<String>,
}

/// Returns what an engine has for a request.
pub(crate) fn look(engine: Engine, request: &ContainerRequest) -> Result<EngineFacts, EngineLack> {
    let image = request.image.as_deref().ok_or(EngineLack::Unnamed)?;
    if !is_image(image) {
        return Err(EngineLack::OddImage);
    }
    // No engine is asked for what is no name.
    if request.runtime.as_deref().is_some_and(|runtime| !ContainerRequest::is_runtime(runtime)) {
        return Err(EngineLack::Runtime);
    }
    let host = ask(engine)?;
    if request.runtime.as_deref().is_some_and(|runtime| !host.has_runtime(runtime)) {
        return Err(EngineLack::Runtime);
    }
    host.with(image)
}

/// Asks an engine about itself.
pub(crate) fn ask(engine: Engine) -> Result<Host, EngineLack> {
    let program = find_program(engine.name()).ok_or(EngineLack::Program)?;
    let client = Client::new(engine, &program);
    if engine == Engine::Docker && is_elsewhere() {
        return Err(EngineLack::Remote);
    }
    match engine {
        Engine::Docker => docker(client),
        Engine::Podman => podman(client),
    }
}

/// Whether the variables lead to another machine.
fn is_elsewhere() -> bool {
    std::env::var("DOCKER_HOST").is_ok_and(|host| !host.is_empty() && !host.starts_with("unix://"))
}

fn docker(client: Client) -> Result<Host, EngineLack> {
    const FORMAT: &str = "{{.MemoryLimit}} {{.PidsLimit}} {{.CPUCfsQuota}}\n{{range .SecurityOptions}}{{.}} {{end}}\n{{range $name, $how := .Runtimes}}{{$name}} {{end}}";
    let said = said(&client, &["info", "--format", FORMAT])?;
    let mut lines = said.lines();
    let mut next = || lines.next().unwrap_or_default();
    let (limits, security, runtimes) = (next(), next(), next());
    let mut limits = limits.split(' ').map(|word| word == "true");
    let mut holds = || limits.next().unwrap_or_default();
    let (bounds_memory, bounds_processes, bounds_processors) = (holds(), holds(), holds());
    let has = |name: &str| security.split(' ').any(|option| option.starts_with(name));
    if has("name=userns") || has("name=rootless") {
        return Err(EngineLack::MapsUsers);
    }
    let filters = has("name=seccomp") && !security.contains("profile=unconfined");
    let runtimes = runtimes.split_whitespace().map(str::to_owned).collect();
    Ok(Host {
        client,
        filters,
        bounds_memory,
        bounds_processes,
        bounds_processors,
        is_rootless: false,
        runtimes,
    })
}

fn podman(client: Client) -> Result<Host, EngineLack> {
    const FORMAT: &str = "{{.Host.Security.Rootless}} {{.Host.Security.SECCOMPEnabled}} {{.Host.ServiceIsRemote}} {{.Host.CgroupsVersion}}\n{{range .Host.CgroupControllers}}{{.}} {{end}}";
    let said = said(&client, &["info", "--format", FORMAT])?;
    let mut lines = said.lines();
    let mut next = || lines.next().unwrap_or_default();
    let (words, controllers) = (next(), next());
    let mut words = words.split(' ');
    let mut word = || words.next().unwrap_or_default();
    let (rootless, filters, remote, version) = (word() == "true", word() == "true", word() == "true", word());
    if remote {
        return Err(EngineLack::Remote);
    }
    // With the first version, a user may make no group.
    let may = !rootless || version == "v2";
    let has = |name: &str| may && controllers.split_whitespace().any(|one| one == name);
    Ok(Host {
        filters,
        bounds_memory: has("memory"),
        bounds_processes: has("pids"),
        bounds_processors: has("cpu"),
        is_rootless: rootless,
        runtimes: Vec::new(),
        client,
    })
}

fn said(client: &Client, words: &[&str]) -> Result<String, EngineLack> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let answer = client.ask(&words, &[], PATIENCE).map_err(|_| EngineLack::Daemon)?;
    answer.well().map_err(|_| EngineLack::Daemon)
}

/// What a user may have of processes at most, and not more than Podman may set anywhere.
fn most_processes() -> u64 {
    const MAX_PROCESSES: u64 = 32768;
    rustix::process::getrlimit(rustix::process::Resource::Nproc)
        .maximum
        .unwrap_or(MAX_PROCESSES)
        .min(MAX_PROCESSES)
}

/// Where Podman's first process of a container is installed.
const INITS: &[&str] =
    &["/usr/libexec/podman/catatonit", "/usr/local/libexec/podman/catatonit", "/usr/lib/podman/catatonit"];

/// Whether Podman has a first process to give: it makes no container otherwise.
fn has_init() -> bool {
    INITS.iter().any(|path| Path::new(path).exists())
}

impl Host {
    pub(crate) fn has_runtime(&self, runtime: &str) -> bool {
        ContainerRequest::is_runtime(runtime)
            && match self.client.engine() {
                Engine::Docker => self.runtimes.iter().any(|one| one == runtime),
                // It takes what it is told, and looks for it where programs are.
                Engine::Podman => find_program(runtime).is_some(),
            }
    }

    /// Looks at an image.
    fn with(self, image: &str) -> Result<EngineFacts, EngineLack> {
        // A word of a command may have lines of its own.
        const FORMAT: &str = "{{println .ID}}{{range .Config.Env}}variable {{println .}}{{end}}{{range $path, $_ := .Config.Volumes}}volume {{println $path}}{{end}}{{range .Config.Entrypoint}}word {{printf \"%x\" . | println}}{{end}}{{range .Config.Cmd}}word {{printf \"%x\" . | println}}{{end}}";
        let words = ["image", "inspect", "--format", FORMAT, image].map(OsString::from);
        let answer = self.client.ask(&words, &[], PATIENCE).map_err(|_| EngineLack::Daemon)?;
        let said = answer.well().map_err(|_| EngineLack::Image)?;
        let (id, rest) = said.split_once('\n').ok_or(EngineLack::Image)?;
        let path = rest.lines().find_map(|line| line.strip_prefix("variable PATH="));
        let volumes = rest.lines().filter_map(|line| line.strip_prefix("volume "));
        let volumes: Vec<String> = volumes.filter(|path| path.starts_with('/')).map(str::to_owned).collect();
        let is_plain = |path: &String| !path.contains([':', ',']) && !path.chars().any(char::is_control);
        if !id.trim_start_matches("sha256:").bytes().all(|byte| byte.is_ascii_hexdigit())
            || !volumes.iter().all(is_plain)
        {
            return Err(EngineLack::OddImage);
        }
        Ok(EngineFacts {
            client: self.client.program().to_path_buf(),
            image_id: id.to_owned(),
            path: path.map(str::to_owned),
            command: rest.lines().filter_map(|line| line.strip_prefix("word ")).filter_map(word).collect(),
            volumes,
            filters: self.filters,
            bounds_memory: self.bounds_memory,
            bounds_processes: self.bounds_processes,
            bounds_processors: self.bounds_processors,
            most_processes: most_processes(),
            has_init: self.client.engine() == Engine::Docker || has_init(),
            is_rootless: self.is_rootless,
        })
    }
}

/// A word of a command that is written by the numbers of its bytes.
fn word(digits: &str) -> Option<OsString> {
    let byte = |digits: &[u8]| match digits {
        [digit] => stockade_text::hex_digit(*digit),
        [high, low] => stockade_text::hex_byte(*high, *low),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    bytes.map(OsString::from_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_image_are_read_byte_by_byte() {
        for (digits, wanted) in [
            ("", Some("")),
            ("7368", Some("sh")),
            ("6563686f20610a62", Some("echo a\nb")),
            ("7", Some("\u{7}")),
            ("zz", None),
        ] {
            assert_eq!(word(digits), wanted.map(OsString::from), "{digits}");
        }
    }
}
