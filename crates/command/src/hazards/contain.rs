//! Containers and clouds: options that give a container access to the machine, and changes of remote systems.

use super::Floor::{Ask, Deny, Sandbox};
use super::command::Command;
use super::shape::Shape;
use super::target::Target;
use stockade_shell::Arg;

const ENGINES: &[&str] = &["docker", "podman", "nerdctl"];

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // T1611: a process with the root directory or the engine's socket of the machine is root on it.
        id: "container-host",
        floor: Deny,
        programs: ENGINES,
        fires: |command| starts_container(command) && opens_host(command),
        reason: "gives a container the privileges or the files of the machine, and so gives them to the command",
        fix: "mount only the workspace, and remove --privileged and host namespaces",
        matches: &[
            "docker run --privileged x",
            "docker run -v /:/host x",
            "docker run --priv x",
            "docker run -it --rm -v /etc:/e x",
            "docker run --pid=host x",
            "docker run --mount type=bind,source=/,target=/h x",
            "docker run -v /var/run/docker.sock:/s x",
            "docker run --cap-add SYS_ADMIN x",
            "podman run -v ~:/h x",
            "docker run --net host --pid host x",
            "docker run --security-opt seccomp=unconfined x",
            "docker run --device /dev/sda x",
            "docker exec --privileged c sh",
        ],
        clean: &[
            "docker run x",
            "docker run -v $PWD:/w x",
            "docker run -v vol:/data x",
            "docker ps",
            "docker run --rm -v ./src:/src x",
            "echo docker run --privileged",
        ],
    },
    Shape {
        // The image's programs are not the machine's, so their names say nothing about what they do.
        id: "container-run",
        floor: Sandbox,
        programs: ENGINES,
        fires: |command| starts_container(command) && !opens_host(command),
        reason: "runs an image, whose programs cannot be checked",
        fix: "use an image digest, and mount only the required directories",
        matches: &["docker run x", "docker run -it ubuntu bash", "docker exec c ls", "docker compose up"],
        clean: &["docker ps", "docker logs container", "docker images"],
    },
    Shape {
        // Volumes contain databases, which exist nowhere else.
        id: "container-destroy",
        floor: Ask,
        programs: ENGINES,
        fires: |command| {
            command.says(&["prune"])
                || command.is_sub(&["rmi", "volume", "system", "network", "context", "swarm", "plugin"])
                    && command.says(&["rm", "remove", "use", "init", "join", "install", "create"])
                    && !command.is_sub(&["network"])
                || command.is_sub(&["rm", "rmi", "kill"]) && command.has("-f --force -v --volumes")
                || command.is_sub(&["compose"]) && command.says(&["down"]) && command.has("-v --volumes")
                || command.has("-H --host") && !starts_container(command)
        },
        reason: "removes containers, images or volumes with their data, or talks to another engine",
        fix: "name the container to remove",
        matches: &[
            "docker system prune -af",
            "docker volume rm x",
            "docker rm -f x",
            "docker compose down -v",
            "docker -H tcp://h ps",
        ],
        clean: &["docker rm x", "docker volume ls", "docker compose down", "docker ps"],
    },
    Shape {
        // The effect is on shared systems, where no sandbox of this machine limits it.
        id: "cluster-change",
        floor: Ask,
        programs: &[
            "kubectl",
            "oc",
            "helm",
            "terraform",
            "tofu",
            "pulumi",
            "ansible",
            "ansible-playbook",
            "aws",
            "gcloud",
            "az",
            "flyctl",
            "heroku",
            "vercel",
            "netlify",
            "wrangler",
            "serverless",
            "cdk",
        ],
        fires: changes_cloud,
        reason: "changes systems outside this machine",
        fix: "show the plan first (`plan`, `diff`, `--dry-run`), and ask the user to apply it",
        matches: &[
            "kubectl delete ns x",
            "kubectl apply -f x",
            "terraform destroy -auto-approve",
            "terraform apply",
            "helm uninstall x",
            "aws s3 rm s3://b --recursive",
            "aws ec2 terminate-instances --instance-ids i",
            "pulumi up",
        ],
        clean: &[
            "kubectl get pods",
            "terraform plan",
            "helm list",
            "aws s3 ls",
            "gcloud config list",
            "kubectl apply --dry-run=client -f x",
            "kubectl rollout status deploy/x",
        ],
    },
];

fn starts_container(command: &Command<'_, '_>) -> bool {
    let deep = |words: &[&str]| command.operand(1).is_some_and(|word| words.contains(&word));
    command.is_sub(&["run", "create", "exec", "build", "buildx"])
        || command.is_sub(&["container"]) && deep(&["run", "create", "exec"])
        || command.is_sub(&["compose"]) && (deep(&["up", "run", "exec", "start"]))
}

fn opens_host(command: &Command<'_, '_>) -> bool {
    let is_host = |arg: &Arg<'_>| arg.known() == Some("host");
    // `--volumes-from`: the other container may mount the root of the machine, which this text does not show.
    command.has("--privileged --volumes-from")
        || command.values("--pid --ipc --uts --userns --cgroupns").any(is_host)
        // capabilities(7): each of these is a known container escape: mounts, memory of other processes, kernel modules, file
        // handles, raw devices, or the host network.
        || command.texts("--cap-add").any(|value| {
            matches!(
                value.to_ascii_uppercase().trim_start_matches("CAP_"),
                "ALL"
                    | "SYS_ADMIN"
                    | "SYS_PTRACE"
                    | "SYS_MODULE"
                    | "DAC_READ_SEARCH"
                    | "SYS_RAWIO"
                    | "NET_ADMIN"
                    | "BPF"
            )
        })
        // Seccomp, AppArmor and SELinux keep root in a container from being root outside of it.
        || command.texts("--security-opt").any(|value| {
            value.contains("unconfined") || value.contains("label=disable") || value.contains("label:disable")
        })
        || command
            .texts("--device")
            .any(|value| value.starts_with("/dev/") && !value.starts_with("/dev/null"))
        || command.values("-v --volume").any(|value| mounts_host(&source(value, ':')))
        || command.texts("--mount").any(|value| {
            let sources = value
                .split(',')
                .filter_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
            sources.into_iter().any(|source| mounts_host(&Target::spelled(source)))
        })
}

/// Returns the part before the first separator, as a path.
fn source(value: &Arg<'_>, separator: char) -> Target {
    let text = match value {
        Arg::Known(text) => text,
        Arg::Unknown { spelling, .. } => spelling,
    };
    Target::spelled(text.split(separator).next().unwrap_or_default())
}

/// Whether a directory of the machine exceeds the workspace: the root, a system directory or the engine's socket.
fn mounts_host(target: &Target) -> bool {
    // The engine resolves the path, so a directory that contains `/etc` is as bad as `/etc`.
    target.is_everything()
        || target.fits_any(&[
            "/etc/**",
            "/var/run/**",
            "/run/**",
            "/root/**",
            "/boot/**",
            "/proc/**",
            "/sys/**",
            "/var/lib/**",
            "**/docker.sock",
            "**/.ssh/**",
            "**/.ssh",
            "**/.aws",
            "**/.kube",
        ])
}

fn changes_cloud(command: &Command<'_, '_>) -> bool {
    if command.has("--dry-run --dryrun --check --help --version") {
        return false;
    }
    let sub =
        |words: &[&str]| command.operands().take(3).filter_map(Arg::known).any(|word| words.contains(&word));
    match command.name {
        // `rollout status` only waits for a change that was made before.
        "kubectl" | "oc" if sub(&["rollout"]) && sub(&["status", "history"]) => false,
        "kubectl" | "oc" => sub(&[
            "delete",
            "apply",
            "create",
            "replace",
            "patch",
            "edit",
            "scale",
            "drain",
            "cordon",
            "taint",
            "rollout",
            "set",
            "annotate",
            "label",
            "cp",
            "proxy",
            "port-forward",
            "run",
            "expose",
            "adm",
        ]),
        "helm" => sub(&["install", "upgrade", "uninstall", "delete", "rollback", "push", "plugin"]),
        "terraform" | "tofu" => {
            sub(&["apply", "destroy", "import", "taint", "untaint", "state", "force-unlock"])
                && !sub(&["list", "show"])
        }
        "pulumi" => sub(&["up", "update", "destroy", "import", "cancel", "refresh"]),
        // Ansible runs modules on all hosts of its inventory, with the rights that it has there.
        "ansible" | "ansible-playbook" => command.operands().next().is_some(),
        "aws" | "gcloud" | "az" => command.operands().filter_map(Arg::known).take(5).any(|word| {
            [
                "rm",
                "rb",
                "mb",
                "mv",
                "delete",
                "terminate",
                "create",
                "put",
                "update",
                "attach",
                "detach",
                "start",
                "stop",
                "reboot",
                "deploy",
                "remove",
                "add-iam",
                "run-instances",
                "set-iam",
                "revoke",
                "authorize",
                "modify",
                "purge",
            ]
            .iter()
            // Subcommands have their verb first: `terminate-instances`, `delete-bucket`.
            .any(|verb| word == *verb || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with('-')))
        }),
        _ => sub(&[
            "deploy",
            "destroy",
            "delete",
            "remove",
            "publish",
            "apps:destroy",
            "config:set",
            "secrets",
            "--prod",
        ]),
    }
}
