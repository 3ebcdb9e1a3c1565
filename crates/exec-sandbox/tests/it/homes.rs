//! What a command sees of the home of its user: nothing that anybody logs in with.

#![expect(clippy::disallowed_methods, reason = "lays out a home, and starts itself with it")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{HomeView, SandboxBackend, SandboxSpec, plan, probe, run};
use stockade_names::{Name, SandboxView, Scope, names};

use crate::live::{BACKENDS, each};

/// Stands in every file that no command may read.
const SECRET: &str = "S3CRET";

/// A home of a user, with a workspace beside it.
struct Planted {
    folder: tempfile::TempDir,
}

impl Planted {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let planted = Self { folder };
        fs::create_dir(planted.home()).unwrap();
        planted
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a script as a command of the owner of this home, and returns its output.
    fn run(&self, view: &View<'_>, script: &str) -> Result<String, String> {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "homes::viewer", "--nocapture"])
            .env("HOME", self.home())
            .env("STOCKADE_TEST_VIEWER", script)
            .env("STOCKADE_TEST_WORKSPACE", view.workspace.unwrap_or(&self.workspace()))
            .env("STOCKADE_TEST_BACKEND", format!("{:?}", view.backend))
            .env("STOCKADE_TEST_HOME_VIEW", view.home.name())
            .env("STOCKADE_TEST_READ_ONLY", std::env::join_paths(view.read_only).unwrap())
            .env("STOCKADE_TEST_SHARED", std::env::join_paths(view.shared).unwrap())
            .envs(["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"].map(|name| (name, "")))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let part = |mark: &str| Some(said.split_once(mark)?.1.split_once("<end>")?.0.to_owned());
        match part("<printed>") {
            Some(printed) => Ok(printed),
            None => Err(part("<refused>").ok_or(&said).unwrap()),
        }
    }
}

/// What a command is to see.
#[derive(Clone, Copy)]
struct View<'a> {
    backend: SandboxBackend,
    home: HomeView,
    workspace: Option<&'a Path>,
    read_only: &'a [PathBuf],
    shared: &'a [PathBuf],
}

impl View<'_> {
    fn of(backend: SandboxBackend, home: HomeView) -> Self {
        Self { backend, home, workspace: None, read_only: &[], shared: &[] }
    }
}

/// Not a test of its own: what [`Planted::run`] starts.
#[test]
fn viewer() {
    let text = |name: &str| std::env::var_os(name).unwrap_or_default();
    let script = text("STOCKADE_TEST_VIEWER");
    if script.is_empty() {
        return;
    }
    let paths = |name: &str| -> Vec<PathBuf> {
        std::env::split_paths(&text(name)).filter(|path| path.as_os_str() != "").collect()
    };
    let backend = text("STOCKADE_TEST_BACKEND");
    let command = [OsStr::new("sh"), OsStr::new("-c"), &script];
    let mut spec = SandboxSpec::new(text("STOCKADE_TEST_WORKSPACE"), command);
    spec.backend = BACKENDS.iter().copied().find(|it| backend == *format!("{it:?}")).unwrap();
    spec.home = HomeView::from_name(text("STOCKADE_TEST_HOME_VIEW").to_str().unwrap()).unwrap();
    (spec.read_only, spec.shared) = (paths("STOCKADE_TEST_READ_ONLY"), paths("STOCKADE_TEST_SHARED"));
    let ran = plan(&spec, &probe(&spec)).map_err(|refusal| refusal.to_string());
    match ran.and_then(|plan| run(&plan, Streams::default()).map_err(|error| error.to_string())) {
        Ok(outcome) => println!("<printed>{}<end>", String::from_utf8_lossy(&outcome.output.stdout)),
        Err(why) => println!("<refused>{why}<end>"),
    }
}

/// Every path of the home that the table withholds or masks, with a letter where it has a star.
fn credentials() -> Vec<(&'static Name, String)> {
    let rows = names().filter(|name| name.scope == Scope::Home && name.view() != SandboxView::Shown);
    rows.flat_map(|name| name.paths.iter().map(move |path| (name, path.replace('*', "x")))).collect()
}

/// Plants a file at or below each path of the table, and others where tools are known to keep credentials.
fn plant(planted: &Planted) -> Vec<String> {
    let all: Vec<String> = credentials().into_iter().map(|(_, path)| path).collect();
    let is_around = |path: &String| all.iter().any(|other| other.starts_with(&format!("{path}/")));
    let mut files: Vec<String> =
        all.iter().map(|path| if is_around(path) { format!("{path}/token") } else { path.clone() }).collect();
    files.extend(KNOWN.iter().map(|path| (*path).to_owned()));
    for file in &files {
        // Some paths of the table are files for one tool and folders for another.
        if !planted.home().join(file).exists() {
            let around = planted.home().join(file);
            let is_below_a_file = around.ancestors().skip(1).any(Path::is_file);
            if !is_below_a_file {
                planted.put(file, &format!("{SECRET}-{file}\n"));
            }
        }
    }
    files
}

/// Where tools keep credentials, written down without a look at the table.
const KNOWN: &[&str] = &[
    ".ssh/id_ed25519",
    ".ssh/id_rsa",
    ".aws/credentials",
    ".aws/config",
    ".aws/sso/cache/x.json",
    ".azure/msal_token_cache.json",
    ".config/gcloud/credentials.db",
    ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/glab-cli/config.yml",
    ".config/git/credentials",
    ".config/git/cred.store",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".nvm/.npmrc",
    ".pypirc",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".bundle/config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".ivy2/.credentials",
    ".sbt/.credentials",
    ".nuget/NuGet/NuGet.Config",
    ".pub-cache/credentials.json",
    ".hex/hex.config",
    ".docker/config.json",
    ".kube/config",
    ".config/helm/repositories.yaml",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".pulumi/credentials.json",
    ".oci/config",
    ".oci/oci_api_key.pem",
    ".config/doctl/config.yaml",
    ".fly/config.yml",
    ".netlify/config.json",
    ".config/netlify/config.json",
    ".vercel/auth.json",
    ".local/share/com.vercel.cli/auth.json",
    ".heroku/credentials",
    ".config/heroku/accounts",
    ".wrangler/config/default.toml",
    ".databrickscfg",
    ".snowsql/config",
    ".dbt/profiles.yml",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".mongorc.js",
    ".rediscli_history",
    ".influxdbv2/configs",
    ".boto",
    ".s3cfg",
    ".mc/config.json",
    ".config/rclone/rclone.conf",
    ".rclone.conf",
    ".config/restic/password",
    ".gnupg/private-keys-v1.d/x.key",
    ".password-store/x.gpg",
    ".local/share/keyrings/login.keyring",
    ".config/op/config",
    ".config/1Password/x",
    ".config/Bitwarden CLI/data.json",
    ".lpass/blob",
    ".pki/nssdb/key4.db",
    ".mozilla/firefox/x/logins.json",
    ".config/google-chrome/Default/Login Data",
    ".config/chromium/Default/Cookies",
    ".config/Code/User/globalStorage/state.vscdb",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".cursor/mcp.json",
    ".config/github-copilot/apps.json",
    ".local/share/opencode/auth.json",
    ".continue/config.json",
    ".aider.conf.yml",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".kaggle/kaggle.json",
    ".config/openai/key",
    ".modal.toml",
    ".jupyter/jupyter_server_config.json",
    ".config/wandb/settings",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".node_repl_history",
    ".lesshst",
    ".viminfo",
    ".local/share/fish/fish_history",
    ".android/adbkey",
    ".android/debug.keystore",
    ".config/stripe/config.toml",
    ".twilio-cli/config.json",
    ".sentryclirc",
    ".config/ngrok/ngrok.yml",
    ".ngrok2/ngrok.yml",
    ".cloudflared/cert.pem",
    ".config/solana/id.json",
    ".ethereum/keystore/x",
    ".bitcoin/wallet.dat",
    ".electrum/wallets/x",
    ".Xauthority",
    ".msmtprc",
    ".fetchmailrc",
    ".mbsyncrc",
    ".authinfo",
    ".subversion/auth/svn.simple/x",
    ".hgrc",
    ".config/hcloud/cli.toml",
    ".config/linode-cli",
    ".config/scw/config.yaml",
    ".chef/x.pem",
    ".ansible/galaxy_token",
    ".jfrog/jfrog-cli.conf",
    ".conan2/credentials.json",
    ".Renviron",
];

/// Prints every secret that is found, by every way in which the home can be named.
fn search(planted: &Planted, more: &[PathBuf]) -> String {
    let more: Vec<String> = more.iter().map(|path| format!("'{}'", path.display())).collect();
    format!(
        "grep -rsh {SECRET} '{home}' \"$HOME\" /tmp /etc . {more} | sort -u; \
         for file in {files}; do cat '{home}'/\"$file\" 2> /dev/null; done; echo looked",
        home = planted.home().display(),
        more = more.join(" "),
        files = KNOWN.iter().map(|file| format!("'{file}'")).collect::<Vec<_>>().join(" "),
    )
}

#[test]
fn no_credential_is_seen_by_default() {
    let planted = Planted::new();
    let files = plant(&planted);
    assert!(files.len() > 500 && KNOWN.len() > 90, "{} {}", files.len(), KNOWN.len());
    for backend in each() {
        for home in HomeView::ALL {
            let said = planted.run(&View::of(backend, *home), &search(&planted, &[])).unwrap();
            assert_eq!(said, "looked\n", "{backend:?} {home:?}");
        }
    }
}

/// A credential is refused by its name, however it is to be shared.
#[test]
fn no_credential_is_shared_by_its_name() {
    let planted = Planted::new();
    let files = plant(&planted);
    let facts = |spec: &SandboxSpec| {
        let mut facts = probe(spec);
        facts.home = planted.home();
        facts
    };
    for file in &files {
        let path = planted.home().join(file);
        let named = |change: &dyn Fn(&mut SandboxSpec)| {
            let mut spec = SandboxSpec::new(planted.workspace(), ["true"]);
            change(&mut spec);
            plan(&spec, &facts(&spec))
        };
        let rows: [&dyn Fn(&mut SandboxSpec); 3] = [
            &|spec| spec.read_only = vec![path.clone()],
            &|spec| spec.shared = vec![path.clone()],
            &|spec| spec.workspace = path.clone(),
        ];
        for change in rows {
            let refusal = named(change).unwrap_err();
            assert!(refusal.to_string().contains("contains credentials"), "{file}: {refusal}");
        }
    }
}

/// Whatever folder of the home is shared, no credential in it is seen: the folder is refused, or they are masked.
#[test]
fn no_credential_is_seen_in_what_is_shared() {
    let planted = Planted::new();
    plant(&planted);
    let folders: Vec<PathBuf> = fs::read_dir(planted.home())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && may_be_shared(&planted, path))
        .collect();
    assert!(folders.len() > 20, "{folders:?}");
    for backend in each() {
        let search = search(&planted, &folders);
        let view = View::of(backend, HomeView::Tools);
        let said = planted.run(&View { read_only: &folders, ..view }, &search);
        assert_eq!(said.as_deref(), Ok("looked\n"), "{backend:?}");
        let said = planted.run(&View { shared: &folders, ..view }, &search);
        match backend {
            SandboxBackend::Landlock => {
                assert!(said.unwrap_err().contains("can neither hide it nor make it read-only"));
            }
            _ => assert_eq!(said.as_deref(), Ok("looked\n"), "{backend:?}"),
        }
    }
}

/// Whether a folder of a home is not refused.
fn may_be_shared(planted: &Planted, folder: &Path) -> bool {
    let mut spec = SandboxSpec::new(planted.workspace(), ["true"]);
    spec.read_only.push(folder.to_path_buf());
    let mut facts = probe(&spec);
    facts.home = planted.home();
    plan(&spec, &facts).is_ok()
}

#[test]
fn git_gets_an_identity_and_no_secret() {
    let planted = Planted::new();
    planted.put(
        ".gitconfig",
        "[user]\n\tname = Änne \"Q\"\n\temail = old@example.org\n\tsigningkey = S3CRET\n[init]\n\tdefaultBranch = trunk\n\
         [commit]\n\tgpgSign = true\n[http]\n\textraHeader = Authorization: Bearer S3CRET\n\
         [url \"https://me:S3CRET@example.org/\"]\n\tinsteadOf = https://example.org/\n\
         [credential]\n\thelper = store\n[alias]\n\tst = !echo S3CRET\n[core]\n\thooksPath = /tmp/S3CRET\n\tautocrlf = input\n\
         [include]\n\tpath = more\n[includeIf \"gitdir:~/nowhere/\"]\n\tpath = other\n",
    );
    planted.put(
        "more",
        "[user]\n\temail = me@example.org\n[github]\n\ttoken = S3CRET\n[include]\n\tpath = .gitconfig\n",
    );
    planted.put("other", "[user]\n\tname = Another User\n");
    planted.put(".config/git/config", "[pull]\n\trebase = true\n[user]\n\tpassword = S3CRET\n");
    planted.put(".config/git/credentials", "https://me:S3CRET@example.org\n");
    planted.put(".config/git/ignore", "*.log\n");
    let script = format!(
        "exec 2>&1; git init -q r && cd r && touch a b.log && git add -A && git commit -qm first && git log --format='%an <%ae>'; \
         git branch --show-current; git config pull.rebase; git config core.autocrlf; \
         git config --global user.name inside && git config user.name; cd .. && rm -rf r; {}",
        search(&planted, &[])
    );
    for backend in each() {
        for home in HomeView::ALL {
            let said = planted.run(&View::of(backend, *home), &script).unwrap();
            let expected = "Änne Q <me@example.org>\ntrunk\ntrue\ninput\ninside\nlooked\n";
            assert_eq!(said, expected, "{backend:?} {home:?}");
        }
    }
}
