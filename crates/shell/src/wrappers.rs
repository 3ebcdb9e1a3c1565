//! Programs that run other programs: one row each.
//!
//! How options are written: see `spec`.

use std::sync::LazyLock;

use crate::getopt::OptionTable;
use crate::lookup::{ByName, by_name};

/// A program that runs another one.
#[derive(Debug)]
pub(crate) struct Wrapper {
    pub(crate) names: &'static [&'static str],
    /// The word after the name that makes it a wrapper, for programs with sub-commands.
    pub(crate) subcommands: &'static [&'static str],
    pub(crate) options: OptionTable,
    /// Number of words between the options and the wrapped command, besides the sub-command.
    pub(crate) operands: usize,
    pub(crate) inner: Inner,
}

/// The command that a wrapper runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inner {
    /// The words after its options, as a program with arguments.
    Argv,
    /// The same, after any number of `NAME=value`.
    Environment,
    /// The same, with more arguments that only show at run time.
    OpenEnded,
    /// The words after its options, joined and passed to a shell.
    Joined,
    /// Each word after its options, passed to a shell.
    Texts,
    /// Only commands in its options: see [`TEXT_OPTIONS`].
    Nothing,
    /// The words after `--args`.
    AfterArgs,
    /// The words after its options, joined and run on another machine or in a container.
    Elsewhere,
}

/// Returns the options of a program that runs another one, such as `sudo` or `timeout`, by its name and the word
/// after it.
#[must_use]
pub fn wrapper_options(name: &str, next: Option<&str>) -> Option<&'static OptionTable> {
    find(name, next).map(|row| &row.options)
}

/// Returns the row of a program, by its name and the word after it.
pub(crate) fn find(name: &str, next: Option<&str>) -> Option<&'static Wrapper> {
    let rows = BY_NAME.get(name)?;
    let fits = |row: &&&Wrapper| {
        row.subcommands.is_empty() || next.is_some_and(|word| row.subcommands.contains(&word))
    };
    rows.iter().find(fits).copied()
}

/// The rows of each name: nearly every command is looked up, and nearly none is found.
static BY_NAME: LazyLock<ByName<Vec<&'static Wrapper>>> =
    LazyLock::new(|| by_name(WRAPPERS.iter(), |row| row.names));

/// Returns whether the value of an option is text for a shell.
pub(crate) fn takes_text(name: &str, option: &str) -> bool {
    TEXT_OPTIONS.iter().any(|(names, options)| names.contains(&name) && options.contains(&option))
}

/// Options whose value a shell runs.
const TEXT_OPTIONS: &[(&[&str], &[&str])] = &[
    (&["su", "runuser"], &["-c", "--command", "--session-command"]),
    (&["script"], &["-c", "--command"]),
    (&["nix-shell"], &["--run", "--command"]),
    (
        &["pwsh", "powershell", "powershell.exe", "pwsh.exe"],
        &["-c", "-C", "-Command", "-command", "--command"],
    ),
    (&["nodemon"], &["-x", "--exec"]),
    (&["entr"], &["-s"]),
    (
        &[
            "xterm",
            "uxterm",
            "rxvt",
            "urxvt",
            "lxterm",
            "konsole",
            "terminator",
            "xfce4-terminal",
            "mate-terminal",
        ],
        &["-e", "-x", "--command"],
    ),
    (&["sg"], &["-c"]),
    (&["flock"], &["-c", "--command"]),
    (&["npx", "npm", "pnpm"], &["-c", "--call"]),
    (&["hyperfine"], &["-p", "--prepare", "-c", "--cleanup", "-s", "--setup", "--conclude"]),
];

const fn row(
    names: &'static [&'static str],
    options: &'static str,
    operands: usize,
    inner: Inner,
) -> Wrapper {
    Wrapper { names, subcommands: &[], options: OptionTable::new(options), operands, inner }
}

const fn sub(
    names: &'static [&'static str],
    subcommands: &'static [&'static str],
    options: &'static str,
    operands: usize,
    inner: Inner,
) -> Wrapper {
    Wrapper { names, subcommands, options: OptionTable::new(options), operands, inner }
}

use Inner::{AfterArgs, Argv, Elsewhere, Environment, Joined, Nothing, OpenEnded, Texts};

static WRAPPERS: LazyLock<Vec<Wrapper>> = LazyLock::new(|| {
    vec![
        // Words of the shell itself.
        row(&["command"], "-p -v? -V?", 0, Argv),
        // `noglob`, `nocorrect` and `-` are precommand modifiers of zsh (zshmisc(1)).
        row(&["builtin", "noglob", "nocorrect", "-", "nohup"], "--help --version", 0, Argv),
        row(&["exec"], "-c -l -a:", 0, Argv),
        // Other users.
        row(
            &["sudo"],
            "-A -B -b -C: -D: -E -e -g: -H -h: -i -K -k -l -N -n -P -p: -R: -r: -S -s -T: -t: -U: -u: -V -v --askpass \
         --background --bell --close-from= --chdir= --preserve-env=? --edit --group= --set-home --help --host= --login \
         --remove-timestamp --reset-timestamp --list --no-update --non-interactive --preserve-groups --prompt= --chroot= \
         --role= --stdin --shell --command-timeout= --type= --other-user= --user= --version --validate",
            0,
            Environment,
        ),
        row(&["doas"], "-a: -C: -L -n -s -u:", 0, Argv),
        // su(1) hands its operands to a shell as arguments; runuser(1) with `-u` runs them as a command.
        row(
            &["su"],
            "-c: -f -g: -G: -l -m -p -P -s: -w: --command= --session-command= --fast --group= --supp-group= --login \
         --preserve-environment --pty --shell= --whitelist-environment= --help --version",
            0,
            Nothing,
        ),
        row(
            &["runuser"],
            "-c: -f -g: -G: -l -m -p -P -s: -u: -w: --command= --session-command= --fast --group= --supp-group= --login \
         --preserve-environment --pty --shell= --user= --whitelist-environment=",
            0,
            Argv,
        ),
        row(&["pkexec"], "--user= --disable-internal-agent --keep-cwd --version --help", 0, Argv),
        row(&["gosu", "su-exec", "setuidgid", "setlock"], "", 1, Argv),
        row(
            &["chpst"],
            "-u: -U: -e: -/: -n: -l: -L: -m: -d: -o: -p: -f: -c: -t: -r: -v -P -0 -1 -2",
            0,
            Argv,
        ),
        row(
            &["setpriv"],
            "-d --dump --clear-groups --groups= --inh-caps= --ambient-caps= --init-groups --keep-groups --list-caps \
         --no-new-privs --rgid= --ruid= --egid= --euid= --regid= --reuid= --bounding-set= --securebits= --pdeathsig= \
         --selinux-label= --apparmor-profile= --reset-env --landlock-access= --landlock-rule= --seccomp-filter=",
            0,
            Argv,
        ),
        // Environment, time and priority.
        row(
            &["env", "genv"],
            // env(1): the value of `-S` is split into words, and these begin the command.
            "- -i -0 -u: -C: -S! -v -a: --ignore-environment --null --unset= --chdir= --split-string! --block-signal=? \
         --default-signal=? --ignore-signal=? --list-signal-handling --debug --argv0= --help --version",
            0,
            Environment,
        ),
        row(
            &["timeout", "gtimeout"],
            "-f -k: -p -s: -v --foreground --kill-after= --preserve-status --signal= --verbose --help --version",
            1,
            Argv,
        ),
        row(&["nice"], "-n: -# --adjustment= --help --version", 0, Argv),
        row(
            &["ionice"],
            "-c: -n: -t -p: -P: -u: --class= --classdata= --ignore --pid= --pgid= --uid=",
            0,
            Argv,
        ),
        row(&["setsid"], "-c -f -w --ctty --fork --wait", 0, Argv),
        row(&["stdbuf"], "-i: -o: -e: --input= --output= --error=", 0, Argv),
        row(
            &["time", "gtime"],
            "-a -f: -o: -p -v -q -l -h --append --format= --output= --portability --verbose --quiet",
            0,
            Argv,
        ),
        row(
            &["chrt"],
            "-a -b -d -f -i -m -o -r -R -v -p -T: -P: -D: --all-tasks --batch --deadline --fifo --idle --max --other --rr \
         --reset-on-fork --verbose --sched-runtime= --sched-period= --sched-deadline=",
            1,
            Argv,
        ),
        row(&["taskset"], "-a -c -p --all-tasks --cpu-list --pid", 1, Argv),
        row(
            &["numactl"],
            "-i: -m: -N: -C: -l -b -p: -P: -w: -a -s -H --interleave= --membind= --cpunodebind= --physcpubind= --localalloc \
         --balancing --preferred= --preferred-many= --all --show --hardware",
            0,
            Argv,
        ),
        row(&["caffeinate"], "-d -i -m -s -u -t: -w:", 0, Argv),
        // Namespaces, limits and sandboxes.
        row(
            &["unshare"],
            "-i -m -n -p -u -U -C -T -f -r -c -S: -G: -R: -w: --ipc=? --mount=? --net=? --pid=? --uts=? --user=? --cgroup=? \
         --time=? --fork --kill-child=? --mount-proc=? --map-user= --map-group= --map-root-user --map-current-user \
         --map-auto --map-users= --map-groups= --propagation= --setgroups= --root= --wd= --setuid= --setgid= --keep-caps \
         --monotonic= --boottime= --mount-binfmt=? --load-interp=",
            0,
            Argv,
        ),
        row(
            &["nsenter"],
            "-a -t: -m? -u? -i? -n? -p? -C? -U? -T? -S: -G: -r? -w? -W: -F -e -Z --all --target= --mount=? --uts=? --ipc=? \
         --net=? --pid=? --cgroup=? --user=? --time=? --setuid= --setgid= --root=? --wd=? --wdns= --no-fork --env \
         --preserve-credentials --keep-caps --user-parent --join-cgroup",
            0,
            Argv,
        ),
        sub(&["ip"], &["netns"], "", 2, Argv),
        row(&["chroot"], "--userspec= --groups= --skip-chdir", 1, Argv),
        row(
            &["setarch"],
            "-v -R -F -Z -L -X -B -I -S -T -3 --4gb --uname-2.6 --verbose --addr-no-randomize",
            1,
            Argv,
        ),
        row(
            &["linux32", "linux64", "i386", "i686", "x86_64"],
            "-v -R -F -Z -L -X -B -I -S -T -3 --verbose",
            0,
            Argv,
        ),
        row(&["arch"], "-x86_64 -x86_64h -arm64 -arm64e -i386 -arch: -c -e: -d: -h", 0, Argv),
        row(
            &["prlimit"],
            "-p: -o: -c? -d? -e? -f? -i? -l? -m? -n? -q? -r? -s? -t? -u? -v? -x? -y? --noheadings --raw --verbose --pid= \
         --output= --core=? --data=? --nice=? --fsize=? --sigpending=? --memlock=? --rss=? --nofile=? --msgqueue=? \
         --rtprio=? --stack=? --cpu=? --nproc=? --as=? --locks=? --rttime=?",
            0,
            Argv,
        ),
        row(
            &["systemd-run"],
            "-p: -u: -t -P -q -S -d -G -r -M: -H: -E: --user --system --scope --no-block --wait --collect --shell --pty --pipe \
         --quiet --remain-after-exit --send-sighup --same-dir --no-ask-password --host= --machine= --unit= --property= \
         --description= --slice= --slice-inherit --expand-environment= --service-type= --uid= --gid= --nice= \
         --working-directory= --setenv= --on-active= --on-boot= --on-startup= --on-unit-active= --on-unit-inactive= \
         --on-calendar= --on-clock-change --on-timezone-change --path-property= --socket-property= --timer-property= \
         --background= --json= --no-pager --root-directory= --same-root-dir --ignore-failure --job-mode=",
            0,
            Argv,
        ),
        row(&["systemd-inhibit"], "--what= --who= --why= --mode= --list --no-pager --no-legend", 0, Argv),
        row(&["firejail"], "--*", 0, Argv),
        row(
            &["proot"],
            "-r: -b: -q: -w: -k: -0 -i: -R: -S: -l -v: -H -p --rootfs= --bind= --qemu= --pwd= --cwd= --kernel-release= \
         --root-id --change-id= --link2symlink --kill-on-exit",
            0,
            Argv,
        ),
        row(&["fakeroot"], "-l: -s: -i: -u -b: --lib= --faked= --unknown-is-real --fd-base=", 0, Argv),
        row(
            &["fakechroot"],
            "-s -d: -e: -c: -b: --use-system-libs --lib= --elfloader= --environment= --config-dir= --bindir=",
            0,
            Argv,
        ),
        row(
            &["eatmydata", "torsocks", "proxychains", "proxychains4", "tsocks", "catchsegv", "winpty"],
            "-q -f: -i -u: -p:",
            0,
            Argv,
        ),
        row(&["dbus-run-session"], "--config-file= --dbus-daemon=", 0, Argv),
        row(
            &["dbus-launch"],
            "--auto-syntax --sh-syntax --csh-syntax --exit-with-session --exit-with-x11 --config-file= --autolaunch=",
            0,
            Argv,
        ),
        row(
            &["xvfb-run"],
            "-a -e: -f: -h -n: -l -p: -s: -w: --auto-servernum --error-file= --auth-file= --server-num= --listen-tcp \
         --xauth-protocol= --server-args= --wait=",
            0,
            Argv,
        ),
        row(&["ssh-agent"], "-c -s -k -D -d -a: -E: -O: -P: -t:", 0, Argv),
        // Locks, terminals and repetition.
        row(
            &["flock"],
            "-s -x -e -u -n -w: -o -E: -F -c: --shared --exclusive --unlock --nonblock --nb --timeout= --wait= --close \
         --conflict-exit-code= --no-fork --verbose --command=",
            1,
            Argv,
        ),
        row(
            &["script"],
            "-a -c: -e -f -q -t? -T: -O: -B: -I: -E: -m: -o: --append --command= --return --flush --force --quiet --timing=? \
         --log-timing= --log-out= --log-io= --log-in= --echo= --logging-format= --output-limit=",
            0,
            Nothing,
        ),
        row(&["unbuffer"], "-p", 0, Argv),
        row(
            &["watch"],
            "-b -c -C -d? -e -f -g -n: -p -q: -r -s: -t -w -x --beep --color --no-color --differences=? --errexit --follow \
         --chgexit --interval= --precise --equexit= --no-rerun --shotsdir= --no-title --no-wrap --exec",
            0,
            Joined,
        ),
        row(&["entr"], "-a -c -d -n -p -r -s: -x -z", 0, Argv),
        sub(
            &["tmux"],
            &[
                "new",
                "new-session",
                "neww",
                "new-window",
                "splitw",
                "split-window",
                "respawnp",
                "respawn-pane",
                "respawnw",
                "respawn-window",
                "popup",
                "display-popup",
                "run",
                "run-shell",
            ],
            "-A -a -b -B -C -d -D -E -f: -F: -h -I -k -K -l: -n: -N -P -s: -S: -t: -T: -v -x: -X -y: -Z -c: -e:",
            0,
            Joined,
        ),
        row(
            &["screen"],
            "-4 -6 -a -A -c: -d -D -m -e: -f -h: -i -l -ls -L -O -p: -q -Q -r -R -s: -S: -t: -T: -U -v -x -X",
            0,
            Argv,
        ),
        // Debuggers and measurement.
        row(
            &["strace", "ltrace"],
            "-A -a: -b: -C -c -D -d -E: -e: -F -f -h -I: -i -k -l: -N -n -O: -o: -P: -p: -q -r -S -s: -T -t -U: -u: -V -v -w \
         -X: -x -y -Y -Z -z --*",
            0,
            Argv,
        ),
        row(&["gdb", "cgdb"], "--*", 0, AfterArgs),
        row(&["valgrind"], "-q -v -h -d --*", 0, Argv),
        sub(
            &["perf"],
            &["stat", "record", "trace", "mem", "kvm", "lock", "sched"],
            "-a -A -B -b -C: -c: -D: -d -e: -F: -G: -g -i -I: -j: -k: -M: -m: -N -n -o: -p: -q -R -r: -S -s -t: -u: -v -W -x: \
         --*",
            0,
            Argv,
        ),
        row(
            &["hyperfine"],
            "-w: -m: -M: -r: -s: -p: -c: -S: -N -i -L: -D: -n: -u: --warmup= --min-runs= --max-runs= --runs= --setup= \
         --reference= --prepare= --conclude= --cleanup= --shell= --ignore-failure --style= --time-unit= --export-json= \
         --export-markdown= --export-csv= --show-output --output= --input= --command-name= --parameter-list=",
            0,
            Texts,
        ),
        row(
            &["rlwrap", "rtkit", "cpulimit", "trickle", "with-contenv", "catchlog"],
            "-a? -A? -b: -c -C: -d: -u: -l: -s -e:",
            0,
            Argv,
        ),
        // Lists of arguments.
        row(
            &["xargs", "gxargs"],
            "-0 -a: -d: -E: -e? -I: -i? -L: -l? -n: -o -P: -p -r -s: -t -x -J: -R: -S: --null --arg-file= --delimiter= \
         --eof=? --replace=? --max-lines=? --max-args= --open-tty --max-procs= --interactive --no-run-if-empty \
         --max-chars= --verbose --exit --process-slot-var= --show-limits",
            0,
            OpenEnded,
        ),
        // Programs that only prepare something for another one, or wait for something.
        row(&["sshpass"], "-p: -f: -d: -P: -e -v -h -V", 0, Argv),
        row(&["faketime"], "-f -m -p: -h -v --exclude-monotonic --date-prog=", 1, Argv),
        row(
            &["chronic", "ifne", "lckdo", "pexec", "retry", "nohup-run", "daemonize"],
            "-v -e -n -c: -p: -o: -a -u: -l:",
            0,
            Argv,
        ),
        row(
            &["cgexec", "aa-exec", "runcon", "choom"],
            "-g: -p: -n: -t: -u: -r: -l: -c -d -f: -i -v --sticky --profile= --namespace=",
            0,
            Argv,
        ),
        row(&["watchexec", "reflex"], "-e: -w: -i: -r -c -s: -g: -d: -n -p -v --*", 0, Argv),
        row(
            &[
                "xterm",
                "uxterm",
                "rxvt",
                "urxvt",
                "konsole",
                "lxterm",
                "terminator",
                "xfce4-terminal",
                "mate-terminal",
            ],
            "-e: -x: --command= --*",
            0,
            Nothing,
        ),
        row(&["gnome-terminal", "alacritty", "kitty", "wezterm", "foot"], "-e -T: --*", 0, Argv),
        row(&["nix-shell"], "-p -A: -I: -i: --run= --command= --pure --packages --*", 0, Nothing),
        row(&["nodemon"], "-e: -w: -i: -x: --exec= --watch= --ext= --ignore= --*", 0, Nothing),
        row(
            &["pwsh", "powershell", "powershell.exe", "pwsh.exe"],
            "-Command: -command: -c: -C: -NoProfile -NonInteractive -NoLogo -ExecutionPolicy: -File: --*",
            0,
            Nothing,
        ),
        row(&["cmd", "cmd.exe"], "", 1, Joined),
        row(&["dtach", "abduco"], "-n: -N: -c: -A: -a: -e: -r: -E -z -f", 0, Argv),
        sub(&["tmux"], &["send-keys", "send"], "-t: -F -H -K -l -M -N: -R -X", 0, Texts),
        row(&["pee", "concurrently"], "--*", 0, Texts),
        // Many programs in one.
        row(&["busybox", "toybox"], "--list --list-full --install=? --help", 0, Argv),
        // Tools of projects.
        sub(&["direnv"], &["exec"], "", 1, Argv),
        sub(
            &["poetry", "pipenv", "pdm", "hatch", "rye", "devbox", "devenv"],
            &["run"],
            "-q -v -n -p: --*",
            0,
            Argv,
        ),
        sub(
            &["uv"],
            &["run"],
            "-q -v -n -p: -m -s --extra= --group= --with= --with-editable= --with-requirements= --env-file= --python= \
         --package= --directory= --project= --*",
            0,
            Argv,
        ),
        sub(&["mise", "rtx", "asdf"], &["exec", "x"], "-j: --*", 0, Argv),
        sub(&["nix"], &["develop", "shell", "run"], "-c -L -v --impure --offline --command", 0, Argv),
        sub(&["bundle"], &["exec"], "--keep-file-descriptors --gemfile=", 0, Argv),
        sub(
            &["conda", "mamba", "micromamba"],
            &["run"],
            "-n: -p: -v --name= --prefix= --cwd= --no-capture-output --live-stream",
            0,
            Argv,
        ),
        sub(&["op"], &["run"], "--env-file= --no-masking --account= --*", 0, Argv),
        sub(&["aws-vault"], &["exec"], "-d: -n -j -s --*", 1, Argv),
        sub(
            &["chamber", "doppler", "infisical", "vault-env", "envchain", "sops"],
            &["exec", "run", "exec-env"],
            "-p: -c: -e: --*",
            0,
            Argv,
        ),
        row(
            &["dotenv", "dotenvx", "env-cmd", "cross-env", "cross-env-shell"],
            "-f: -e: -c: -o -q --*",
            0,
            Environment,
        ),
        row(
            &["npx", "bunx"],
            "-y -q -p: -c: -w: --yes --no --no-install --quiet --package= --call= --workspace= --workspaces",
            0,
            Argv,
        ),
        sub(&["pnpm", "npm", "yarn", "bun"], &["exec", "dlx", "x"], "-r -c: -y -w: -p: --*", 0, Argv),
        // Elsewhere.
        row(
            &["ssh", "slogin", "autossh", "mosh"],
            "-4 -6 -A -a -B: -b: -C -c: -D: -E: -e: -F: -f -G -g -I: -i: -J: -K -k -L: -l: -M -m: -N -n -O: -o: -P: -p: -Q: \
         -q -R: -S: -s -T -t -V -v -W: -w: -X -x -Y -y",
            1,
            Elsewhere,
        ),
        sub(
            &["docker", "podman", "nerdctl"],
            &["exec"],
            "-d -e: -i -t -u: -w: --detach --detach-keys= --env= --env-file= --interactive --privileged --tty --user= --workdir=",
            1,
            Elsewhere,
        ),
        sub(
            &["docker", "podman", "nerdctl"],
            &["run", "create"],
            "-v: -e: -p: -w: -u: -l: -m: -h: -a: -c: -d -i -t -P -q --volume= --mount= --env= --env-file= --name= --network= --net= \
         --workdir= --user= --publish= --label= --memory= --cpus= --hostname= --entrypoint= --device= --cap-add= --cap-drop= \
         --security-opt= --pid= --ipc= --uts= --userns= --restart= --platform= --pull= --volumes-from= --add-host= --dns= \
         --gpus= --group-add= --log-driver= --log-opt= --runtime= --shm-size= --stop-signal= --sysctl= --tmpfs= --ulimit= \
         --cidfile= --*",
            1,
            Elsewhere,
        ),
        sub(&["kubectl", "oc"], &["exec"], "-i -t -c: -n: -q --*", 1, Elsewhere),
    ]
});
