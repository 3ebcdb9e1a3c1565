//! The built-in rules, which apply if no other rule matches: one row each.
//!
//! They describe the intended use of programs. Dangerous uses are hazards (`hazards`), which take precedence over every rule.

use super::effect::Effect::{self, Allow, Ask, Sandbox};
use super::folder_settings::{OBEYS_FOLDER, obeys_folder};
use super::program::trusted;
use super::rule::{CommandPattern, CommandRule, Example, Guards};
use stockade_shell::{Arg, Run};

macro_rules! rows {
    ($($id:literal $effect:ident $words:literal: $reason:literal, [$($guard:expr),*], $matches:expr, $clean:expr;)*) => {
        &[$(Row {
            id: $id, effect: $effect, words: $words, reason: $reason, guards: &[$($guard),*], matches: &$matches,
            clean: &$clean,
        }),*]
    };
}

pub(crate) mod lookup;
mod tools;

/// Rows for programs that do nothing else when they run another program. Then only the rules for that program count.
const TRANSPARENT: &[&str] = &["wrapper", "environment"];

/// Returns whether the rule of this name is ignored when its program runs another one.
pub(crate) fn steps_aside(id: &str, run: &Run<'_>) -> bool {
    TRANSPARENT.contains(&id) || (id == "shells" && only_runs_its_text(run))
}

/// Returns whether a shell only runs a text, as in `bash -lc "npm test"`. The commands in the text are checked separately.
fn only_runs_its_text(run: &Run<'_>) -> bool {
    let is_shell = run.program().is_some_and(|name| matches!(trusted(name), "bash" | "sh" | "zsh" | "dash"));
    let mut words = run.argv.iter().skip(1).map(Arg::known);
    let mut is_text = false;
    for word in words.by_ref() {
        match word.and_then(|word| word.strip_prefix('-')) {
            Some(letters)
                if !letters.is_empty() && letters.bytes().all(|letter| b"clexu".contains(&letter)) =>
            {
                is_text |= letters.contains('c');
            }
            // The words after the text are its own arguments.
            _ => return is_shell && is_text && word.is_some() && !run.open_ended,
        }
    }
    false
}

/// Returns the built-in rules.
#[cfg(test)]
pub(crate) fn rules() -> impl Iterator<Item = &'static CommandRule> {
    lookup::BUILTIN.all().map(|rule| &*rule.rule)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(tools::TOOLS)
}

/// The rule for programs that connect to other machines.
pub(crate) const NETWORK: &str = "network";

/// Programs that have no other row, and that print their version.
const MORE_WITH_VERSION: &str = "sqlite3 psql mysql mariadb redis-cli redis-server mongosh ffmpeg ffprobe convert magick pandoc \
    nginx httpd caddy ruby irb rbenv pyenv direnv tmux hugo jekyll dotnet swift swiftc ghc stack cabal zig nim dart flutter elixir mix \
    erl kotlinc scala sbt clojure lein bazelisk ccache sccache protoc buf gofmt golangci-lint shellcheck shfmt hadolint yamllint \
    actionlint pre-commit tflint ansible ansible-playbook vagrant packer minikube kind k9s kustomize skaffold eksctl istioctl argocd \
    flux git-lfs delta bat fd fzf exa eza lsd zoxide starship hyperfine tokei cloc fdfind batcat ipython jupyter sphinx-build mkdocs \
    coverage isort pyright bandit ts-node tsx webpack vite rollup esbuild parcel turbo nx lerna cypress playwright storybook mkfs mke2fs \
    mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat";

/// Known programs that only print their version or help.
fn versions_of(position: usize, programs: &[&str]) -> CommandRule {
    let example = programs.first().map(|name| vec![(*name).to_owned(), "--version".to_owned()]);
    let id = format!("version-{}", position + 1);
    let mut rule = CommandRule::new(id, CommandPattern::Exact(version_words(programs)), Allow);
    rule.reason = "tells its version, or how it is used".to_owned();
    rule.matches = vec![Example::Argv(example.unwrap_or_default())];
    rule.not_matches =
        vec![Example::Text("cargo --version".to_owned()), Example::Text("./git --version".to_owned())];
    rule
}

/// Options that print a version or help.
const VERSION_OPTIONS: [&str; 2] = ["--version", "--help"];

fn version_words(programs: &[&str]) -> Vec<Vec<String>> {
    [programs, &VERSION_OPTIONS].iter().map(|words| owned(words)).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The same for programs whose version is determined by a file of the directory.
fn version_by_folder() -> CommandRule {
    let names: Vec<&str> = OBEYS_FOLDER.iter().map(|(name, _)| *name).filter(|name| *name != ".").collect();
    let pattern = CommandPattern::Exact(version_words(&names));
    let mut rule = CommandRule::new("project-version", pattern, Sandbox);
    rule.reason = "tells its version, as a file of the folder has it".to_owned();
    rule.matches = vec![Example::Text("mvn --version".to_owned())];
    rule.not_matches = vec![Example::Text("git --version".to_owned())];
    rule
}

/// A built-in rule. In `words`, spaces separate words, and bars separate alternatives.
#[derive(Debug)]
struct Row {
    id: &'static str,
    effect: Effect,
    words: &'static str,
    reason: &'static str,
    guards: &'static [Guard],
    matches: &'static [&'static str],
    clean: &'static [&'static str],
}

#[derive(Debug)]
enum Guard {
    Require(&'static [&'static str]),
    Deny(&'static [&'static str]),
    Operands(usize),
}
use Guard::{Deny, Operands, Require};

impl Row {
    /// Returns the names of its programs, which may be patterns.
    fn programs(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.words.split(' ').next().into_iter().flat_map(|first| first.split('|'))
    }

    fn rule(&self) -> CommandRule {
        let words = self.words.split(' ').map(|word| word.split('|').map(str::to_owned).collect()).collect();
        let mut rule = CommandRule::new(self.id, CommandPattern::Prefix(words), self.effect);
        rule.reason = self.reason.to_owned();
        rule.guards = self.guards.iter().fold(Guards::default(), |guards, guard| match guard {
            Require(list) => Guards { require: owned(list), ..guards },
            Deny(list) => Guards { deny: [guards.deny, owned(list)].concat(), ..guards },
            Operands(most) => Guards { operands: Some(*most), ..guards },
        });
        let examples = |list: &[&str]| list.iter().map(|text| Example::Text((*text).to_owned())).collect();
        rule.matches = examples(self.matches);
        rule.not_matches = examples(self.clean);
        rule
    }
}

/// Options of git that run a program, or write a file.
const GIT: Guard = Deny(&[
    "--output",
    "--ext-diff",
    "--textconv",
    "--no-index",
    "--filters",
    "--open-files-in-pager",
    "-O",
    "--exec",
    "--upload-pack",
]);

/// Options of git with which listing branches or tags changes them.
const GIT_MOVES: Guard = Deny(&[
    "-d",
    "-D",
    "-m",
    "-M",
    "-c",
    "-C",
    "-f",
    "-t",
    "-u",
    "-a",
    "-s",
    "-F",
    "--delete",
    "--move",
    "--copy",
    "--force",
    "--track",
    "--edit-description",
    "--set-upstream-to",
    "--unset-upstream",
    "--create-reflog",
    "--annotate",
    "--sign",
    "--local-user",
    "--message",
    "--file",
]);

/// Options that change the current branch or tag.
const GIT_SETTLES: Guard = Deny(&[
    "--edit-description",
    "--set-upstream-to",
    "--unset-upstream",
    "--create-reflog",
    "--track",
    "--delete",
    "--move",
    "--copy",
    "--force",
    "--edit",
    "--message",
    "--file",
]);

/// Options of `nvidia-smi` that write a file or change a device.
const NVIDIA_SETS: Guard = Deny(&[
    "-f",
    "--filename",
    "-r",
    "--gpu-reset",
    "-pm",
    "--persistence-mode",
    "-pl",
    "--power-limit",
    "-e",
    "--ecc-config",
    "-p",
    "--reset-ecc-errors",
    "-c",
    "--compute-mode",
    "-ac",
    "--applications-clocks",
    "-rac",
    "--reset-applications-clocks",
    "--lock-gpu-clocks",
    "--lock-memory-clocks",
    "--gom",
    "--driver-model",
    "--accounting-mode",
    "--multi-instance-gpu",
]);

/// Options and words of `git config` that write, or read another file.
const GIT_WRITES: Guard = Deny(&[
    "-f",
    "--file",
    "--blob",
    "-e",
    "--edit",
    "--add",
    "--unset",
    "--unset-all",
    "--replace-all",
    "--rename-section",
    "--remove-section",
    "set",
    "unset",
    "edit",
    "rename-section",
    "remove-section",
]);

/// Uses of `git config` that do more than read.
const GIT_SETS: [&str; 4] =
    ["git config user.name x", "git config --unset x", "git config -f .env --list", "git config edit"];

/// Options that make a package manager use another directory or another shell.
const ELSEWHERE: Guard = Deny(&[
    "--prefix",
    "--script-shell",
    "--config",
    "--userconfig",
    "--globalconfig",
    "--dir",
    "--cwd",
    "--manifest-path",
    "-C",
    "--target-dir",
    "-exec",
    "-toolexec",
    "-vettool",
    "-o",
]);

/// Options of a task of the project by which it uses another directory, other settings or another program.
const NOT_OURS: Guard = Deny(&[
    "--prefix",
    "--dir",
    "--cwd",
    "--script-shell",
    "--config",
    "--userconfig",
    "--globalconfig",
    "-exec",
    "-toolexec",
    "-vettool",
]);

/// The same for a task of a part of the project, which must be below it.
const NOT_BELOW: Guard =
    Deny(&["/*", "~*", "*..*", "*=/*", "--script-shell", "--config", "--userconfig", "--globalconfig"]);

#[rustfmt::skip]
static ROWS: &[Row] = rows! {
    // Reading.
    "read" Allow "ls|cat|head|tail|grep|egrep|fgrep|cut|paste|diff|cmp|comm|wc|nl|tac|rev|fold|column|od|hexdump|strings|\
        stat|du|df|free|uptime|tr|expr|join|look|zcat|gzcat|bzcat|xzcat|zstdcat|lz4cat|zgrep|zegrep|zfgrep|bzgrep|xzgrep|\
        mdls|jobs|dirs|times|basename|dirname|realpath|readlink|sha1sum|sha256sum|sha512sum|md5sum|cksum|b2sum":
        "only reads", [],
        ["ls -la", "cat a b", "/bin/cat a", "ls -- $x"], ["./ls", "cat $x", "cat -$x", "lsof"];
    "read-sort" Allow "sort": "only reads", [Deny(&["-o", "--output", "--compress-program", "-T", "--temporary-directory", "--files0-from"])],
        ["sort -k2 a"], ["sort -uo a a", "sort --outp=a", "sort $'-o' x"];
    "read-uniq" Allow "uniq|xxd": "only reads", [Operands(1)], ["uniq a", "uniq -c"], ["uniq in out"];
    "read-tree" Allow "tree": "only reads", [Deny(&["-o", "-R"])], ["tree -L 2"], ["tree -o f"];
    "read-file" Allow "file": "only reads", [Deny(&["-C", "--compile"])], ["file a"], ["file -C -m a"];
    "read-find" Allow "find": "only reads",
        [Deny(&["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fls", "-fprint", "-fprint0", "-fprintf"])],
        ["find . -name '*.rs' -type f"], ["find . -delete", "find . \\-exec x {} +", "find . -{delete,print}", "find . -fls f"];
    "read-ripgrep" Allow "rg": "only reads", [Deny(&["--pre", "--hostname-bin", "-z", "--search-zip"])],
        ["rg -n x src"], ["rg --pre ./x y", "rg --hostname-bin=x y"];
    "read-ag" Allow "ag": "only reads", [Deny(&["--pager", "--output"])], ["ag x src"], ["ag --pager=x y"];
    "read-ack" Allow "ack": "only reads", [Require(&["--noenv"]), Deny(&["--pager", "--output", "--ackrc"])],
        ["ack --noenv x src"], ["ack x src", "ack --noenv --ackrc=./x y"];
    // Filters are read by hazards: jq can print the environment, and yq can read other files.
    "read-jq" Allow "jq|yq": "only reads",
        [Deny(&["-f", "--from-file", "-L", "--library-path", "-i", "--inplace", "--in-place", "--split-exp", "--split-exp-file",
            "--security-enable-system-operator"])],
        ["jq .a f.json", "jq -r '.[] | .b' f", "jq -s length f", "yq .a f.yaml"], ["jq -f x", "jq -L x .a", "yq -i .a=1 f.yaml"];
    "read-sed" Allow "sed|gsed": "prints text, changed or not", [Deny(&["-i", "--in-place", "-f", "--file"])],
        ["sed -n 5p f", "sed s/a/b/ f"], ["sed -i s/a/b/ f", "sed -ni p f", "sed -f x f"];
    "read-awk" Allow "awk|gawk|mawk|nawk": "prints parts of text",
        [Deny(&["-f", "--file", "-E", "--exec", "-i", "--include", "-l", "--load", "-o", "--pretty-print", "-p", "--profile", "-d",
            "--dump-variables", "-D", "--debug"])],
        ["awk '{print $1}' f"], ["awk -f x f", "awk -i inplace '{print}' f", "gawk -o '{print}'"];
    "read-archive" Allow "tar|gtar|bsdtar tf|tvf|tzf|tvzf|tjf|tvjf|tJf|tvJf|-tf|-tvf|-tzf|-tvzf|-ztf|-ztvf|-tjf|-tJf|-ft":
        "lists what is in an archive",
        [Deny(&["*:*", "-I", "-F", "-x", "-c", "-r", "-u", "-A", "-C", "--use-compress-program", "--to-command", "--checkpoint-action",
            "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command", "--extract", "--delete", "--index-file"])],
        ["tar tf a.tar", "tar -tzf a.tgz"], ["tar xf a.tar", "tar tf h:a.tar", "tar tf a -I x", "tar -cf a.tar b"];
    "read-zip" Allow "unzip -l|-v|-Z|-lv": "lists what is in an archive", [Deny(&["-p", "-d", "-o", "-x"])],
        ["unzip -l a.zip"], ["unzip a.zip", "unzip -o a.zip"];
    // The machine.
    "machine" Allow "pwd|whoami|uname|id|groups|arch|nproc|tty|which|whereis|type|sleep|seq|true|false|:|cal|ncal|locale|ps|pgrep|pidof|\
        pstree|lsof|ss|netstat|lscpu|lsblk|lsusb|lsmod|lsns|lsipc|lsattr|getconf|w|who|users|last|vmstat|iostat|mpstat|findmnt|\
        namei|getfacl|sw_vers|uptime|logname|tput|numfmt|factor|modinfo":
        "prints information about the machine", [Deny(&["-K", "--kill", "-D", "--diag"])],
        ["pwd", "which git", "sleep 1", ":", "type -p rm", "ps aux", "ss -tlnp"], ["hash -p /tmp/x ls", "ss -K dst x", "ss --diag=x", "./ps"];
    "machine-devices" Allow "lspci": "prints information about the machine", [Deny(&["-A", "-F", "-H", "-H1", "-H2", "-M", "-O", "-q", "-Q"])],
        ["lspci -vv", "lspci -nn"], ["lspci -H1", "lspci -O dump.name=x", "lspci -q"];
    "machine-manuals" Allow "apropos|whatis": "looks for manual pages", [Deny(&["-C", "--config-file", "-M", "--manpath", "-m", "--systems"])],
        ["whatis ls"], ["whatis -C ./x ls", "apropos -M /x y"];
    "machine-graphics" Allow "nvidia-smi -q|-L|--query-gpu*|--query-compute-apps*|--list-gpus|topo": "prints information about the machine",
        [NVIDIA_SETS],
        ["nvidia-smi -q", "nvidia-smi --query-gpu=name --format=csv"], ["nvidia-smi --gpu-reset", "nvidia-smi -q -f x"];
    "machine-hash" Allow "hash": "prints the paths of programs", [Deny(&["-p"])], ["hash", "hash -r"], ["hash -p /tmp/x ls"];
    "machine-alone" Allow "mount|ifconfig|arp|alias|ulimit|swapon|stty|losetup|timedatectl|hostnamectl|localectl|loginctl|\
        umask|dmesg|blkid|lslocks|blockdev|systemd-detect-virt": "prints information about the machine",
        [Operands(0), Deny(&["-c", "-C", "--clear", "--read-clear", "-n", "--console-level", "-D", "-E", "-d", "-s", "-f", "-i", "-a",
            "--all", "-o", "-t", "-r", "-w", "-p", "-L", "-H", "--host", "-M", "--machine"])],
        ["mount", "dmesg", "alias", "dmesg --human"], ["mount /x", "dmesg -C", "alias ls=x", "mount -a", "arp -d h"];
    "machine-graphics-all" Allow "nvidia-smi": "prints information about the machine", [Operands(0), NVIDIA_SETS], ["nvidia-smi"], ["nvidia-smi -pm 1", "nvidia-smi --gpu-reset"];
    "machine-limits" Allow "ulimit -a|-Sa|-Ha": "prints information about the machine", [Operands(0)], ["ulimit -a"], ["ulimit -n 9"];
    "machine-arp" Allow "arp -a|-n|-an": "prints information about the machine", [Deny(&["-d", "-s", "-f"])], ["arp -a"], ["arp -d h", "arp -s h x"];
    "machine-time" Allow "timedatectl|hostnamectl|localectl|loginctl \
        status|show|list-timezones|list-locales|list-keymaps|list-sessions|list-users|list-seats|session-status|user-status":
        "prints information about the machine", [Deny(&["-H", "--host", "-M", "--machine"])],
        ["timedatectl status", "loginctl list-sessions"], ["timedatectl set-time 1", "hostnamectl set-hostname x", "localectl -H h status"];
    "machine-ip" Allow "ip a|addr|address|l|link|r|route|n|neigh|neighbour|rule|maddr|tunnel|tcp_metrics": "prints information about the network",
        [Deny(&["add", "del", "delete", "set", "flush", "replace", "change", "append", "up", "down", "restore", "save", "a", "d", "s", "f"])],
        ["ip addr", "ip route show"], ["ip link set eth0 down", "ip addr add x dev y", "ip netns exec x y"];
    "machine-settings" Allow "sysctl": "prints information about the kernel",
        [Deny(&["*=*", "-w", "--write", "-p", "--load", "--system", "-f"])],
        ["sysctl -a", "sysctl kernel.hostname"], ["sysctl -w a=1", "sysctl a=1", "sysctl -p"];
    "machine-printenv" Allow "printenv HOME|PATH|USER|SHELL|LANG|PWD|TERM|EDITOR|VIRTUAL_ENV|JAVA_HOME|GOPATH|NODE_ENV|TZ":
        "prints one variable", [Operands(0)], ["printenv PATH"], ["printenv", "printenv HOME X"];
    "machine-packages" Allow "dpkg -l|-L|-s|-S|--list|--listfiles|--status|--search": "lists packages",
        [Deny(&["-i", "--install", "-r", "--remove", "-P", "--purge", "--configure", "--unpack", "--admindir", "--root", "--instdir"])],
        ["dpkg -l", "dpkg -S /bin/ls"], ["dpkg -i x.deb", "dpkg --configure -a"];
    "machine-rpm" Allow "rpm -q|-qa|-qi|-ql|-qf|--query": "lists packages",
        [Deny(&["-i", "-U", "-F", "-e", "--pipe", "--eval", "-E", "--load", "--rcfile", "--macros", "--define", "-D", "--root", "-p", "--initdb", "--rebuilddb",
            "--dbpath", "--import", "--setperms", "--setugids", "--setcaps", "--restore"])],
        ["rpm -qa", "rpm -ql bash"], ["rpm -i x.rpm", "rpm -q --pipe=x y"];
    "machine-apt" Allow "apt|apt-cache|apt-mark list|show|search|policy|depends|rdepends|showmanual|showhold|showauto|madison|stats":
        "lists packages", [Deny(&["-o", "--option", "-c", "--config-file"])],
        ["apt list --installed", "apt-cache policy x"], ["apt install x", "apt-get list", "apt list -o x=y"];
    "machine-brew" Allow "brew list|ls|info|outdated|deps|leaves|config|--prefix|--version": "lists packages", [Deny(&["--github"])],
        ["brew list"], ["brew install x", "brew tap x", "brew info --github x"];
    // Services and their logs.
    "service-read" Allow "systemctl status|show|list-units|list-unit-files|list-timers|list-sockets|list-jobs|list-dependencies|\
        is-active|is-enabled|is-failed|is-system-running|cat|get-default": "prints the state of services",
        [Deny(&["-H", "--host", "-M", "--machine", "--root", "--image"])],
        ["systemctl status nginx", "systemctl --user list-units"], ["systemctl start x", "systemctl -H h status x", "systemctl kill x"];
    "service-status" Allow "service * status": "prints the state of a service", [Operands(0)], ["service nginx status"], ["service nginx start", "service --status-all"];
    "service-log" Allow "journalctl": "reads the journal",
        [Deny(&["--vacuum-size", "--vacuum-time", "--vacuum-files", "--rotate", "--flush", "--sync", "--relinquish-var",
            "--smart-relinquish-var", "--setup-keys", "--update-catalog", "--cursor-file", "--file", "-i", "-D", "--directory", "--root",
            "--image", "-M", "--machine", "--new-id128", "--force"])],
        ["journalctl -u nginx", "journalctl -xe"], ["journalctl --vacuum-time=1s", "journalctl --rot", "journalctl -D x"];
    "service-macos" Allow "launchctl list|print|version|blame": "prints the state of services", [], ["launchctl list"], ["launchctl load x", "launchctl export"];
    // Containers and clusters.
    "container-read" Allow "docker|podman|nerdctl ps|images|version|info|logs|top|stats|port|diff|history|events": "prints information about containers",
        [Deny(&["-H", "--host", "--context", "--config"])],
        ["docker ps -a", "docker images", "docker logs web"], ["docker run x", "docker rm x", "docker inspect x", "docker -H h ps"];
    "container-list" Allow "docker|podman|nerdctl container|image|volume|network|context|compose|system|builder|manifest \
        ls|list|ps|logs|top|stats|port|df|images|history|version": "prints information about containers",
        [Deny(&["-H", "--host", "--config", "--env-file", "-f", "--file", "--project-directory"])],
        ["docker container ls", "docker compose ps", "docker system df"],
        ["docker container rm x", "docker system prune", "docker compose config", "docker compose up"];
    "cluster-read" Allow "kubectl|oc get|describe|logs|top|version|api-resources|api-versions|explain|cluster-info|events":
        "prints information about the cluster",
        [Deny(&["*ecret*", "*ECRET*", "--kubeconfig", "--raw", "-s", "--server", "--token", "--as", "dump", "-k", "--kustomize", "*://*"])],
        ["kubectl get pods -n x", "kubectl logs web"],
        ["kubectl get secret x", "kubectl get pods,secrets", "kubectl delete pod x", "kubectl get --raw /x", "kubectl exec x -- ls", "kubectl get -f http://e.example/x"];
    "cluster-config" Allow "kubectl|oc config get-contexts|current-context|get-clusters|get-users": "prints information about the cluster", [],
        ["kubectl config current-context"], ["kubectl config view", "kubectl config use-context x"];
    "cluster-rollout" Allow "kubectl|oc rollout status|history": "prints information about the cluster", [Deny(&["--kubeconfig"])],
        ["kubectl rollout status deploy/x"], ["kubectl rollout undo deploy/x"];
    "cluster-can" Allow "kubectl|oc auth can-i|whoami": "prints information about the cluster", [Deny(&["--kubeconfig"])],
        ["kubectl auth can-i get pods"], ["kubectl auth reconcile -f x"];
    "charts-read" Allow "helm list|ls|status|history|version": "prints information about the cluster",
        [Deny(&["--kubeconfig", "--post-renderer", "--registry-config"])], ["helm list -A"], ["helm install x", "helm get values x", "helm plugin list"];
    "terraform-read" Allow "terraform|tofu version": "prints its version", [], ["terraform version"], ["terraform apply"];
    "terraform-check" Allow "terraform|tofu fmt": "checks how files are written", [Require(&["-check"])], ["terraform fmt -check"], ["terraform fmt"];
    "terraform-local" Sandbox "terraform|tofu plan|validate|show|graph|providers|fmt|test": "runs the providers of the directory", [],
        ["terraform plan", "terraform fmt -recursive"], ["terraform apply", "terraform destroy", "terraform init"];
    "terraform-state" Sandbox "terraform|tofu state|workspace list|show": "runs the providers of the directory", [],
        ["terraform state list"], ["terraform state rm x", "terraform workspace delete x"];
    // Certificates.
    "certificate-read" Allow "openssl x509|crl|verify|version|ciphers|errstr|asn1parse|prime": "shows certificates",
        [Deny(&["?out*", "-engine", "-provider", "-provider-path", "?key*", "-signkey", "-CAkey", "?CA*", "-force_pubkey", "-config", "-extfile", "-writerand", "?rand*", "-propquery", "-genconf", "-strparse", "-keyout"])],
        ["openssl x509 -in c.crt -noout -text", "openssl version"], ["openssl x509 -in c -out d", "openssl genrsa 2048", "openssl s_client h:1"];
    "certificate-local" Sandbox "openssl genrsa|genpkey|ecparam|dhparam|req|x509|rsa|ec|pkey|dgst|enc|rand|passwd|pkcs12|pkcs8|pkcs7|\
        md5|sha256|sha512|sha1|speed|ca|cms|base64": "makes and changes keys and certificates", [],
        ["openssl genrsa -out k 2048", "openssl req -new -x509 -key k -out c"], ["openssl s_client h:1", "openssl ocsp x"];
    "machine-date" Allow "date": "prints the time", [Deny(&["-s", "--set"])], ["date +%F"], ["date -s 2020-01-01"];
    "machine-set-date" Ask "date": "sets the clock", [], ["date -s 2020-01-01"], ["cal"];
    "machine-hostname" Allow "hostname": "prints the name of the machine", [Operands(0), Deny(&["-F", "--file", "-b"])],
        ["hostname", "hostname -f"], ["hostname x"];
    "machine-set-hostname" Ask "hostname": "names the machine", [], ["hostname x"], ["host x"];
    // The shell.
    "shell" Allow "cd|echo|printf|test|[|exit|return|break|continue|shift|wait|umask|unset|getopts|read":
        "a word of the shell", [], ["cd src", "echo a $x", "printf '%s' \"$x\"", "[ -f a ]"], ["printf $x", "eval x", "source x"];
    "shell-set" Allow "set ?*|-*|+*": "options and arguments of the shell", [Deny(&["-a", "allexport"])], ["set -euo pipefail", "set +x", "set -- a"], ["set"];
    // Every variable that is set later is exported, also by commands of the same shell that are judged by themselves.
    "shell-set-export" Sandbox "set": "exports every variable that is set from then on", [Require(&["allexport"])],
        ["set -o allexport"], ["set -e", "set"];
    "shell-set-export-short" Sandbox "set": "exports every variable that is set from then on", [Require(&["-a"])],
        ["set -a", "set -ea"], ["set -e", "set"];
    "shell-export" Allow "export|readonly|declare|typeset *=*": "sets variables", [], ["export A=1", "export A=\"$x\""], ["export", "export -p"];
    "shell-declare" Allow "declare|typeset|local|readonly|export -* *": "sets variables", [Deny(&["-p", "-m", "-"])],
        ["declare -A m", "local -i n=1", "typeset -x A=1"], ["declare -p A", "declare -x", "typeset -xp A"];
    // zsh prints all variables for `local` without a name, and outside of a function the one that is named.
    "shell-local" Allow "local *": "sets variables",
        [Deny(&["-p", "-m", "-", "*TOKEN*", "*KEY*", "*SECRET*", "*PASS*", "*CRED*", "*AUTH*"])],
        ["local a", "local a=1 b"], ["local", "local -", "local -x -", "local API_TOKEN"];
    "shell-find" Allow "command -v|-V": "prints what a name resolves to", [], ["command -v git"], ["command git"];
    "wrapper" Sandbox "timeout|gtimeout|nice|ionice|nohup|setsid|stdbuf|time|command|builtin|exec|xargs|chrt|taskset|noglob|nocorrect":
        "runs another program", [], ["timeout 5 ls", "nohup ls"], ["sudo ls"];
    "environment" Ask "env|printenv|set|export|declare|typeset": "prints the environment, which may contain secrets", [],
        ["env", "printenv X", "set"], ["environment"];
    // Git.
    "git-read" Allow "git status|log|diff|show|rev-parse|describe|ls-files|ls-tree|cat-file|blame|annotate|shortlog|rev-list|\
        name-rev|merge-base|show-ref|show-branch|for-each-ref|count-objects|check-ignore|check-attr|whatchanged|grep|version|cherry|\
        range-diff|diff-tree|diff-index|diff-files|merge-tree|patch-id|var|verify-pack":
        "only reads the repository", [GIT],
        ["git status --short", "git log --oneline -5", "git diff HEAD~1"],
        ["git push", "git log --outp=x", "git -c core.pager=x log", "git diff --ext-diff", "git show --textconv HEAD:f", "git log $x"];
    "git-version" Allow "git -v": "prints its version", [Operands(0)], ["git -v"], ["git -v push", "git -vv", "git -c a.b=c -v"];
    "git-help" Allow "git help": "shows the help of git", [Deny(&["-w", "--web", "-i", "--info"])], ["git help", "git help log", "git help -a"],
        ["git help -w log", "git help --web log", "git help -i log"];
    "git-reflog" Allow "git reflog": "only reads the repository", [GIT, Deny(&["expire", "delete", "drop", "write"])],
        ["git reflog", "git reflog -20", "git reflog show main"], ["git reflog expire --all", "git reflog delete x"];
    "git-list" Allow "git branch|remote|tag": "only lists", [Operands(0), GIT, GIT_SETTLES], ["git remote -v", "git branch -a"],
        ["git branch x", "git tag v1", "git branch --edit-description", "git branch --set-upstream-to=x", "git branch --unset-up"];
    "git-list-list" Allow "git stash|worktree|notes list": "only lists", [Operands(0), GIT], ["git stash list"], ["git stash list x"];
    "git-list-chosen" Allow "git branch|tag": "only lists", [Require(&["--list"]), GIT, GIT_MOVES],
        ["git branch --list 'x*'", "git tag --list v1"], ["git branch x", "git branch --list -D x"];
    "git-list-tags" Allow "git tag": "only lists", [Require(&["-l"]), GIT, GIT_MOVES], ["git tag -l 'v*'"], ["git tag -d x"];
    "git-list-holding" Allow "git branch|tag": "only lists", [Require(&["--contains"]), Operands(1), GIT, GIT_MOVES],
        ["git branch --contains x"], ["git branch x"];
    "git-list-merged" Allow "git branch|tag": "only lists", [Require(&["--merged"]), Operands(1), GIT, GIT_MOVES],
        ["git branch --merged main"], ["git branch -d x"];
    "git-list-unmerged" Allow "git branch|tag": "only lists", [Require(&["--no-merged"]), Operands(1), GIT, GIT_MOVES],
        ["git branch --no-merged main"], ["git branch -d x"];
    "git-show-part" Allow "git stash|notes show": "only reads the repository", [GIT], ["git stash show -p"], ["git stash pop", "git stash show --ext-diff"];
    "git-state" Allow "git submodule|bisect|lfs status|summary|log|ls-files|env": "only reads the repository", [GIT],
        ["git submodule status", "git lfs ls-files"], ["git submodule foreach x", "git bisect run x"];
    "git-remote-url" Allow "git remote get-url": "only reads the settings", [], ["git remote get-url origin"], ["git remote add a b"];
    "git-config-get" Allow "git config": "only reads the settings", [Require(&["--get"]), GIT_WRITES], ["git config --get user.name"], GIT_SETS;
    "git-config-all" Allow "git config": "only reads the settings", [Require(&["--get-all"]), GIT_WRITES], ["git config --get-all a.b"], GIT_SETS;
    "git-config-find" Allow "git config": "only reads the settings", [Require(&["--get-regexp"]), GIT_WRITES], ["git config --get-regexp x"], GIT_SETS;
    "git-config-list" Allow "git config": "only reads the settings", [Require(&["--list"]), GIT_WRITES], ["git config --global --list"], GIT_SETS;
    "git-config-list-short" Allow "git config": "only reads the settings", [Require(&["-l"]), GIT_WRITES], ["git config -l"], GIT_SETS;
    "git-config-words" Allow "git config get|list": "only reads the settings", [GIT_WRITES], ["git config get user.name", "git config list"], GIT_SETS;
    "git-config-key" Allow "git config": "only reads the settings", [Operands(1), GIT_WRITES], ["git config user.name", "git config --global user.name"], GIT_SETS;
    "git-change" Sandbox "git add|commit|merge|rebase|checkout|switch|restore|reset|clean|worktree|branch|tag|stash|cherry-pick|revert|\
        am|apply|mv|rm|init|notes|bisect|archive|bundle|format-patch|rerere|hash-object|symbolic-ref|maintenance|fsck|mailinfo|sparse-checkout|\
        read-tree|write-tree|commit-tree|checkout-index|update-index|stage|unstage|repack|pack-refs|gc": "changes the repository", [],
        ["git commit -m 'rm -rf /'", "git branch -D x", "git checkout -b x"], ["git status", "git log push", "git push"];
    "git-beyond" Ask "git push|fetch|pull|clone|config|submodule|remote|ls-remote|prune|filter-branch|filter-repo|update-ref|replace|reflog|\
        send-email|imap-send|daemon|instaweb|difftool|mergetool|subtree|lfs|svn|p4|cvsserver|http-backend|request-pull|credential|fast-import|\
        fast-export|receive-pack|upload-pack|gui|citool|gitk": "connects to another repository, or changes how git works from then on", [],
        ["git push", "git clone x", "git config user.name x"], ["git status", "git log push", "git commit"];
    // Files.
    "files" Sandbox "rm|rmdir|mkdir|cp|mv|touch|truncate|chmod|ln|install|tee|split|csplit|shred|dd|patch|unzip|tar|zip|gzip|gunzip|\
        bzip2|xz|zstd|rename|mktemp|mkfifo|unlink|cpio|sponge|unrar|7z|bsdtar|dos2unix|unix2dos|fallocate|setfacl": "changes files", [],
        ["rm -rf build", "mkdir -p a"], ["ls"];
    // The system.
    "job-signals" Allow "kill -l": "lists the names of signals", [Operands(0)], ["kill -l"], ["kill -l 9 1", "kill -9 1", "kill"];
    "system" Ask "chown|chgrp|systemctl|service|kill|killall|pkill|mount|umount|crontab|at|batch|gpg|openssl|ssh-keygen|\
        ssh-add|ssh-agent|nmap|tcpdump|strace|ltrace|gdb|lldb|launchctl|iptables|nft|ufw|useradd|usermod|userdel|groupadd|passwd|\
        chpasswd|visudo|sysctl|insmod|modprobe|rmmod|reboot|shutdown|halt|poweroff|init|telinit|journalctl|loginctl|hostnamectl|\
        timedatectl|swapon|swapoff|fdisk|parted|mkfs*|losetup|cryptsetup|setcap|chattr|docker|podman|nerdctl|kubectl|helm|\
        terraform|aws|gcloud|az|gh|op|security|defaults|osascript": "affects more than the workspace", [],
        ["chown me a", "docker ps"], ["ls"];
    "another-user" Ask "sudo|su|doas|pkexec|runuser|gosu|chroot|unshare|nsenter": "runs with other privileges", [], ["sudo ls"], ["ls"];
    // The network.
    "network" Ask "curl|wget|ssh|scp|rsync|ftp|sftp|nc|ncat|netcat|telnet|socat|ping|ping6|traceroute|tracepath|dig|host|\
        nslookup|whois|http|https|xh|aria2c|mosh|rclone|lftp|tftp|mail|sendmail|mutt|mailx|swaks|ldapsearch|ldapadd|ldapmodify|\
        ldapdelete|ldappasswd|ldapwhoami|smbclient|smbget|rpcclient|rpcinfo|nmblookup|showmount|snmpwalk|snmpget|snmpset|kinit|kadmin|\
        rlogin|rsh|rexec|axel|nscurl|lynx|links|elinks|w3m|websocat|grpcurl|mtr|fping|arping|nping|iperf|iperf3|s3cmd|gsutil|azcopy|croc|\
        wormhole|irssi|weechat|xfreerdp|rdesktop|vncviewer|sshfs|ssh-copy-id|autossh|wg|wg-quick|openvpn|torify|torsocks|proxychains|\
        proxychains4|mosquitto_pub|mosquitto_sub|telnet-ssl|curlie|doggo|dog|drill|ntpdate|avahi-browse|dns-sd|pdsh|parallel-ssh|pssh": "connects to other machines", [],
        ["curl https://x.example"], ["ls"];
    // Projects.
    "project-routine" Sandbox
        "npm|yarn|pnpm|bun|cargo|go test|build|run|lint|typecheck|check|verify|format|fmt|clippy|vet|t|tst|doc|bench|b|c|d|r|start|stop|\
        restart|nextest|fix|clean|new|init|expand|tree|metadata|generate|rustc|rustdoc|miri|llvm-cov|machete|udeps|deny|audit|\
        locate-project|pkgid|version|pack|prune|dedupe|rebuild|--version|--help|-V|--list":
        "a task of the project", [NOT_OURS],
        ["cargo test", "npm test", "cargo run -- x", "cargo tree", "cargo --version", "cargo test --manifest-path a/Cargo.toml",
        "go build -o bin/x ./cmd/x", "go test -run TestX -count=1 ./..."], ["npm publish", "cargo install x", "npm test --prefix /tmp/e", "cargo test --config x"];
    "project-toolchain" Sandbox "cargo +* test|build|run|check|fmt|clippy|doc|bench|nextest|fix|tree|metadata|expand|rustc|rustdoc|\
        miri|clean|b|c|d|r|t": "a task of the project, with another toolchain", [NOT_OURS], ["cargo +nightly fmt"],
        ["cargo +nightly install x", "cargo +nightly test --config x"];
    "project-script" Sandbox "npm|yarn|pnpm|bun run test*|build*|lint*|typecheck*|check*|verify*|format*|fmt*|start*|dev*":
        "a script of the project", [NOT_OURS], ["npm run build:web"], ["npm run deploy", "npm run build --script-shell=x"];
    "project-part" Sandbox "npm|yarn|pnpm|bun --prefix|--dir|-C|--cwd|--filter|-F|-w|--workspace|workspace * test|build|run|lint|typecheck|\
        check|verify|format|start|t": "a task of a part of the project", [NOT_BELOW],
        ["npm --prefix web test", "pnpm --filter web build", "yarn workspace web test"],
        ["npm --prefix web publish", "npm --prefix /tmp/e test", "npm --prefix ../e test", "pnpm --filter web add x"];
    "packages" Ask "npm|npx|yarn|pnpm|pnpx|bun|bunx|pip|pip3|pipx|uv|uvx|poetry|cargo|go|bundle|gem|composer|apt|apt-get|\
        aptitude|dpkg|rpm|brew|yum|dnf|pacman|snap|flatpak|apk|zypper|port|nix|nix-env|conda|mamba|deno|corepack|rustup|nvm|mise|asdf":
        "installs, publishes or runs packages", [], ["npm install", "npx test evil", "cargo install x"], ["ls"];
    "develop" Sandbox "vitest|jest|mocha|pytest|tox|nox|mypy|ruff|black|flake8|pylint|tsc|eslint|prettier|biome|rustc|rustfmt|gcc|\
        g++|cc|c++|clang|clang++|javac|ld|ar|make|gmake|cmake|ninja|meson|gradle|gradlew|mvn|ant|bazel|just|task|rake":
        "builds or tests", [], ["make -j4", "pytest -q"], ["ls"];
    "interpreter" Sandbox "python|python2|python3|ruby|perl|node|nodejs|php|lua|awk|gawk|mawk|nawk|sed|java|julia|Rscript|tclsh|osh":
        "runs code", [], ["python3 x.py", "node -e 1"], ["ls"];
    "shells" Sandbox "bash|sh|zsh|fish|dash|ksh|eval|source|.|busybox|toybox": "runs a shell", [], ["bash -c ls", ". ./x"], ["ls"];
    "interactive" Sandbox "less|more|most|man|info|nano|vi|vim|nvim|emacs|ed|ex|pico|code|cursor|subl|tmux|screen|watch|top|htop":
        "waits for the user, and can run commands", [], ["less README.md", "vim -c x"], ["ls"];
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::check;

    #[test]
    fn every_row_matches_its_examples_and_no_others() {
        let mut ids: Vec<String> = Vec::new();
        let mut wrong: Vec<String> = Vec::new();
        for rule in rules() {
            if let Err(problem) = check::builtin(rule) {
                wrong.push(format!("{}: {problem}", rule.id));
            }
            assert!(!rule.matches.is_empty() && !rule.not_matches.is_empty(), "{} has no examples", rule.id);
            ids.push(rule.id.clone());
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "an id is there twice");
    }
}
