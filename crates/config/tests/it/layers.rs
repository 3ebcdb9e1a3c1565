//! Configurations on disk: layers, narrowing, and errors.
#![expect(clippy::disallowed_methods, reason = "lays out files of configuration")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use stockade_command::Layer;
use stockade_config::{
    Config, ConfigError, ConfigLayer, ConfigNotice, ConfigSources, HomeView, Isolation, OnUnavailable,
    SandboxBackend, config_schema,
};
use stockade_exec_sandbox::Network;
use stockade_policy::Answer;

struct Site {
    folder: tempfile::TempDir,
    sources: ConfigSources,
}

impl Site {
    /// Files in a directory whose `etc`, `home` and `work` are those of the machine, the user and the project.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let below = |name: &str| Some(folder.path().join(name));
        let sources = ConfigSources {
            system: below("etc"),
            user: below("home"),
            project: below("work/deep/inside"),
            ..ConfigSources::default()
        };
        Self { folder, sources }
    }

    fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.sources)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

fn value(config: &Config, path: &str) -> (serde_json::Value, ConfigLayer) {
    let value = config.get(path).unwrap();
    (value.value, value.origin.layer)
}

const STEPS: &str = "agents.bot.maxSteps";

#[test]
fn later_layers_win_and_every_value_knows_its_place() {
    let mut site = Site::new(&[
        ("etc/config.toml", "[agents.bot]\nmaxSteps = 70\n[agents.bot.budget]\nmaxTokens = 7\n"),
        ("home/config.yaml", "agents:\n  bot:\n    maxSteps: 60\n"),
        ("work/.stockade/config.json", "{\"agents\": {\"bot\": {\"maxSteps\": 50}}}"),
    ]);
    let config = site.load().unwrap();
    assert_eq!(value(&config, STEPS), (json!(50), ConfigLayer::Project));
    let place = |config: &Config, path: &str| config.get(path).unwrap().origin.place.unwrap();
    assert_eq!(place(&config, STEPS), format!("{}:1:21", site.path("work/.stockade/config.json")));
    assert_eq!(
        place(&config, "agents.bot.budget.maxTokens"),
        format!("{}:4:1", site.path("etc/config.toml"))
    );
    assert_eq!(
        value(&config, "agents.bot.budget.maxTokensPerDay"),
        (json!(100_000_000), ConfigLayer::Default)
    );
    assert_eq!(
        (config.agent("bot").unwrap().limits.max_steps, config.agent("default").unwrap().limits.max_steps),
        (Some(50), Some(150))
    );

    site.sources.environment = vec![("STOCKADE_AGENTS__bot__MAX_STEPS".into(), "40".into())];
    assert_eq!(value(&site.load().unwrap(), STEPS), (json!(40), ConfigLayer::Environment));
    site.sources.flags = vec![(STEPS.into(), "200".into())];
    assert_eq!(value(&site.load().unwrap(), STEPS), (json!(200), ConfigLayer::Flag));
}

#[test]
fn a_project_only_narrows() {
    let wide = "agents:\n  bot:\n    maxSteps: 500\n    toolPolicy: {profile: full, allow: [browser], deny: [exec]}\n    \
                skills:\n      contentScanning: {blockOnCritical: false}\n      execSandbox: {enabled: never, onUnavailable: \
                warn, network: open, readOnlyAllowPaths: [/, /opt/x], timeoutMs: null}\n    files: {preset: permissive, \
                writes: deny}\naudit: {path: /tmp/x.db, onUnrecorded: warn}\n";
    let site = Site::new(&[
        ("home/config.toml", "[agents.\"*\".skills.execSandbox]\nreadOnlyAllowPaths = [\"/opt\"]\n"),
        ("work/.stockade/config.yaml", wide),
    ]);
    let config = site.load().unwrap();
    let agent = config.agent("bot").unwrap();
    assert_eq!((agent.tools.profile.as_str(), agent.limits.max_steps), ("coding", Some(150)));
    assert_eq!((agent.tools.allow, agent.tools.deny), (vec![], vec!["exec".to_owned()]));
    assert_eq!(agent.exec.isolation, Isolation::Sandbox(OnUnavailable::Refuse));
    assert_eq!(agent.exec.spec.read_only, [Path::new("/opt/x")]);
    assert!(agent.exec.spec.network == Network::None && agent.exec.spec.limits.wall_time.bound().is_some());
    assert_eq!(agent.files.write.default, Answer::Deny);
    assert!(!agent.files.forbidden_globs.is_empty());
    assert!(config.audit().path.is_none() && !config.audit().warn_if_unrecorded);
    let noticed: Vec<&str> = config.notices().iter().map(|notice| notice.key.as_str()).collect();
    assert!(noticed.contains(&"agents.bot.toolPolicy.profile"), "{noticed:?}");
    assert!(!noticed.contains(&"agents.bot.toolPolicy.deny"), "{noticed:?}");
}

#[test]
fn settings_for_all_agents_apply_to_unnamed_agents() {
    let site = Site::new(&[
        (
            "etc/config.toml",
            "[agents.\"*\"]\nmaxSteps = 70\n[agents.bot]\nmaxSteps = 80\n[security]\nunnamedAgents = \"allow\"\n",
        ),
        ("work/.stockade/config.toml", "[agents.\"*\"]\nmaxSteps = 75\n[agents.new]\nmaxSteps = 999\n"),
    ]);
    let config = site.load().unwrap();
    let steps = |id: &str| config.agent(id).unwrap().limits.max_steps.unwrap();
    // 75 narrows 80; 70 stays below 75; the new agent is no wider than the settings for all agents.
    assert_eq!((steps("bot"), steps("*"), steps("new"), steps("unheard")), (75, 70, 70, 70));
}

/// Which agents are known, for each layer that names agents.
#[test]
fn an_agent_that_is_not_among_those_that_are_named_is_refused() {
    let named = |text: &'static str| Site::new(&[("home/config.toml", text)]);
    let known = |site: &Site, id: &str| site.load().unwrap().agent(id).is_ok();
    let bot = named("[agents.bot]\nmaxSteps = 80\n");
    assert!(["bot", "default", "*", "claude"].iter().all(|id| known(&bot, id)));
    let error = bot.load().unwrap().agent("bott").unwrap_err();
    assert_eq!(error.nearest.as_deref(), Some("bot"));
    assert_eq!(error.fix(), "write `bot`, or add the agent to the user's configuration: `[agents.bott]`");
    // The suggested fix works, even with an empty table.
    assert!(known(&named("[agents.bot]\nmaxSteps = 80\n[agents.bott]\n"), "bott"));
    assert!(known(&named("[agents.bott]\n"), "bott") && !known(&named("[agents.bott]\n"), "bot"));
    // If no agent is named, no id can be mistaken for another.
    for text in ["", "[agents.\"*\"]\nmaxSteps = 5\n", "[agents]\n", "[agents.claude]\nmaxSteps = 5\n"] {
        assert!(known(&named(text), "anybody"), "{text}");
    }
    let mut by_option = bot;
    by_option.sources.flags = vec![("agents.other.maxSteps".into(), "5".into())];
    assert!(known(&by_option, "other") && !known(&by_option, "another"));

    // A project cannot make an id known, except where no other layer names any agent.
    let project = (
        "work/.stockade/config.toml",
        "[agents.bott]\nmaxSteps = 1\n[security]\nunnamedAgents = \"allow\"\n",
    );
    let both = Site::new(&[("home/config.toml", "[agents.bot]\n"), project]);
    assert!(known(&both, "bot") && !known(&both, "bott"));
    let alone = Site::new(&[project]);
    assert!(known(&alone, "bott") && !known(&alone, "bot"));
    let open = named("[agents.bot]\n[security]\nunnamedAgents = \"allow\"\n");
    assert!(known(&open, "bott"));
}

#[test]
fn the_managed_layer_overrides_all_if_only_root_can_write_it() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can make a file of root");
        return;
    }
    let mut site = Site::new(&[
        ("etc/managed.toml", "[agents.\"*\"]\nmaxSteps = 10\n"),
        ("home/config.toml", "[agents.bot]\nmaxSteps = 80\n"),
    ]);
    site.sources.flags = vec![(STEPS.into(), "200".into())];
    assert_eq!(value(&site.load().unwrap(), STEPS), (json!(10), ConfigLayer::Managed));

    let managed = site.folder.path().join("etc/managed.toml");
    for (path, mode) in [(managed.as_path(), 0o664), (managed.parent().unwrap(), 0o757)] {
        let before = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(site.load().unwrap_err().to_string().contains("users other than root can write it"));
        fs::set_permissions(path, before).unwrap();
    }
    site.load().unwrap();
}

#[test]
fn mistakes_are_refused_with_place_and_remedy() {
    for (name, text, wanted) in [
        (
            "config.toml",
            "[agents.bot]\nmaxStep = 5\n",
            "config.toml:2:1: unknown key `agents.bot.maxStep` (write `maxSteps`)",
        ),
        (
            "config.yaml",
            "agents:\n  bot:\n    budget: 5\n",
            "config.yaml:3:13: `agents.bot.budget` is a number, expected a table",
        ),
        ("config.yaml", "agent: {}\n", "config.yaml:1:1: unknown key `agent` (write `agents`)"),
        (
            "config.json",
            "{\"agents\": {\"bot\": {\"maxSteps\": \"5\"}}}",
            "`agents.bot.maxSteps`: expected a whole number",
        ),
        (
            "config.toml",
            "[agents.bot]\nmaxSteps = 0\n",
            "config.toml:2:12: `agents.bot.maxSteps`: expected a whole number from 1",
        ),
        ("config.toml", "[agents.bot.toolPolicy]\nprofile = \"codign\"\n", "did you mean `coding`?"),
        ("config.toml", "[agents.\"a b\"]\nmaxSteps = 1\n", "unknown key `agents.a b`"),
        ("config.toml", "[agents.\"a.b\"]\nmaxSteps = 1\n", "contains a dot"),
        (
            "config.toml",
            "[security.permission]\nallowedFsPaths = [\"data\"]\n",
            "expected a list of absolute paths",
        ),
        (
            "config.toml",
            "[security.permission]\nallowedFsPaths = [\"/a/../b\"]\n",
            "expected a list of absolute paths",
        ),
        ("config.toml", "x = [\n", "config.toml:"),
        ("config.yaml", "audit: {}\naudit: {}\n", "config.yaml:2:"),
        ("config.yaml", "- a\n", "`the file` is a list, expected a table"),
    ] {
        let site = Site::new(&[(&format!("home/{name}"), text)]);
        let error = site.load().unwrap_err().to_string();
        assert!(error.contains(wanted), "{text:?}: {error}");
    }
}

#[test]
fn files_that_cannot_be_trusted_are_refused() {
    let site = Site::new(&[("home/config.toml", ""), ("home/config.json", "{}")]);
    assert!(site.load().unwrap_err().to_string().contains("keep one of the two files"));

    let site = Site::new(&[("home/config.toml", "")]);
    let file = site.folder.path().join("home/config.toml");
    site.load().unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(site.load().unwrap_err().to_string().contains("other users can write it"));
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    assert!(site.load().unwrap_err().to_string().contains("it is not a regular file"));
    fs::remove_file(&file).unwrap();
    fs::write(&file, "x".repeat(300 << 10)).unwrap();
    assert!(site.load().unwrap_err().to_string().contains("the maximum is"));
    fs::write(&file, b"\xff\xfe").unwrap();
    assert!(site.load().unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn variables_and_options_are_checked_like_files() {
    let load = |name: &str, text: &str| {
        Config::load(&ConfigSources {
            environment: vec![(name.into(), text.into())],
            ..ConfigSources::default()
        })
    };
    for name in ["STOCKADE_AGENTS__bot__TOOLPOLICY__DENY", "STOCKADE_agents__bot__tool_policy__deny"] {
        let config = load(name, "exec, process").unwrap();
        assert_eq!(config.agent("bot").unwrap().tools.deny, ["exec", "process"]);
    }
    assert_eq!(
        load("STOCKADE_AGENTS__bot__TOOLPOLICY__DENY", "[\"a,b\"]").unwrap().agent("bot").unwrap().tools.deny,
        ["a,b"]
    );
    load("STOCKADE_BLESS", "1").unwrap();
    load("OTHER__THING", "1").unwrap();
    assert!(
        load("STOCKADE_AGENTS__bot__MAXSTEP", "1").unwrap_err().to_string().contains("does not name a key")
    );
    assert!(
        load("STOCKADE_AGENTS__bot__MAXSTEPS", "many").unwrap_err().to_string().contains("a whole number")
    );
    let flags = vec![("agents.bot.maxStep".to_owned(), "1".to_owned())];
    let error = Config::load(&ConfigSources { flags, ..ConfigSources::default() }).unwrap_err().to_string();
    assert!(error.contains("write `agents.<id>.maxSteps`"), "{error}");
}

#[test]
fn node_permissions_make_the_sandbox_a_must() {
    let text = "security: {permission: {enableNodePermissions: true, allowedFsPaths: [/data], allowedNetHosts: [a.example]}}\n\
                agents: {bot: {skills: {execSandbox: {enabled: never, network: open}}}}\n";
    let config = Site::new(&[("home/config.yaml", text)]).load().unwrap();
    let exec = config.agent("bot").unwrap().exec;
    assert_eq!(exec.isolation, Isolation::Sandbox(OnUnavailable::Refuse));
    assert_eq!(
        (exec.spec.network, exec.hosts, exec.spec.read_only),
        (Network::None, vec!["a.example".to_owned()], vec!["/data".into()])
    );
}

/// Hosts of one agent are its own, a project only removes from them, and a managed list limits them.
#[test]
fn an_agent_has_hosts_of_its_own() {
    let user = "[agents.bot]\nallowedNetHosts = ['a.example', '!b.example']\n\
                [agents.\"*\"]\nallowedNetHosts = ['c.example']\n";
    let hosts = |site: &Site, agent: &str| site.load().unwrap().agent(agent).unwrap().exec.hosts;
    let site = Site::new(&[("home/config.toml", user)]);
    assert_eq!(hosts(&site, "bot"), ["a.example", "!b.example"]);
    assert_eq!(hosts(&site, "claude"), ["c.example"]);
    let project = "[agents.\"*\"]\nallowedNetHosts = ['evil.example', '!d.example']\n";
    let site = Site::new(&[("home/config.toml", user), ("work/.stockade/config.toml", project)]);
    assert_eq!(hosts(&site, "bot"), ["!b.example", "!d.example"]);
    let must = "[security.permission]\nenableNodePermissions = true\nallowedNetHosts = ['x.example']\n";
    let both = format!("{user}{must}");
    assert_eq!(
        hosts(&Site::new(&[("home/config.toml", &both)]), "bot"),
        ["x.example", "a.example", "!b.example"]
    );
    let site = Site::new(&[("home/config.toml", user), ("etc/managed.toml", must)]);
    assert_eq!(hosts(&site, "bot"), ["x.example", "!b.example"]);
    let told = site.load().unwrap().notices().iter().any(|one| one.message.contains("adds no hosts"));
    assert!(told);
    // With an open network every host is reached, and a list would be without effect.
    let open =
        "[agents.bot]\nallowedNetHosts = ['a.example']\n[agents.bot.skills.execSandbox]\nnetwork = 'open'\n";
    let error = Site::new(&[("home/config.toml", open)]).load().unwrap_err().to_string();
    assert!(error.contains("agents.bot.allowedNetHosts") && error.contains("has no effect"), "{error}");
}

#[test]
fn a_project_may_hide_the_home_and_has_no_say_in_what_makes_the_sandbox() {
    let wishes = "[agents.\"*\".skills.execSandbox]\nhome = \"tools\"\nbackend = \"landlock\"\n";
    let exec = Site::new(&[("home/config.toml", wishes)]).load().unwrap().agent("bot").unwrap().exec;
    assert_eq!((exec.spec.home, exec.spec.backend), (HomeView::Tools, SandboxBackend::Landlock));
    let project = "[agents.\"*\".skills.execSandbox]\nhome = \"private\"\nbackend = \"native\"\n";
    let both = Site::new(&[("home/config.toml", wishes), ("work/.stockade/config.toml", project)]);
    let exec = both.load().unwrap().agent("bot").unwrap().exec;
    assert_eq!((exec.spec.home, exec.spec.backend), (HomeView::Private, SandboxBackend::Landlock));
}

const RULES: &str = "agents.bot.commands.rules";

#[test]
fn rules_for_commands_add_up_and_know_their_place() {
    let mut site = Site::new(&[
        (
            "etc/config.toml",
            "[[agents.\"*\".commands.rules]]\nid = \"no-curl\"\nprefix = [\"curl\"]\ndecision = \"deny\"\n",
        ),
        (
            "home/config.yaml",
            "agents:\n  bot:\n    commands:\n      rules:\n        - {id: push, prefix: [git, push], decision: allow}\n        \
             - id: tag\n          prefix: [git, tag]\n          decision: ask\n",
        ),
        (
            "work/.stockade/config.json",
            "{\"agents\": {\"bot\": {\"commands\": {\"rules\": [\n  {\"id\": \"push\", \"prefix\": [\"git\", \"push\"], \
             \"decision\": \"allow\"}\n]}}}}",
        ),
    ]);
    site.sources.flags =
        vec![(RULES.into(), "[{\"id\": \"ls\", \"prefix\": [\"ls\"], \"decision\": \"deny\"}]".into())];
    let config = site.load().unwrap();
    let rows = |agent: &str| -> Vec<_> {
        config
            .rules(agent)
            .map(|one| (one.rule.id.clone(), one.layer, one.origin.place.clone().unwrap()))
            .collect()
    };
    let (no_curl, push) = (site.path("etc/config.toml:1:1"), site.path("home/config.yaml:5:11"));
    let wanted = [
        ("no-curl".to_owned(), Layer::Admin, no_curl.clone()),
        ("push".to_owned(), Layer::User, push.clone()),
        ("tag".to_owned(), Layer::User, site.path("home/config.yaml:6:11")),
        ("push".to_owned(), Layer::Project, site.path("work/.stockade/config.json:2:3")),
        ("ls".to_owned(), Layer::User, format!("--set {RULES}")),
    ];
    assert_eq!(rows("bot"), wanted);
    assert_eq!((rows("*"), rows("other")), (wanted[..1].to_vec(), wanted[..1].to_vec()));
    let layers: Vec<_> =
        config.agent("bot").unwrap().rules.iter().map(|one| (one.layer, one.rules.len())).collect();
    assert_eq!(layers, [(Layer::Project, 1), (Layer::User, 3), (Layer::Admin, 1)]);

    let all = config.get(RULES).unwrap();
    assert_eq!((all.value.as_array().unwrap().len(), all.origin.layer), (5, ConfigLayer::Flag));
    let values = config.values();
    let shown = values.iter().find(|value| value.path == format!("{RULES}[1]")).unwrap();
    assert_eq!(shown.value, json!({"id": "push", "prefix": ["git", "push"], "decision": "allow"}));
    assert_eq!(shown.origin.place.as_ref(), Some(&push));
    let [notice] = config.notices() else { panic!("{:?}", config.notices()) };
    assert!(
        notice.to_string().contains("`push`, which has no effect: a project can only add rules"),
        "{notice}"
    );
}

#[test]
fn rules_for_commands_are_checked_in_place() {
    const HEAD: &str = "[[agents.bot.commands.rules]]\n";
    let twice = format!("{HEAD}id = \"a\"\nprefix = [\"a\"]\ndecision = \"ask\"\n");
    for (name, text, wanted) in [
        (
            "config.toml",
            format!("{HEAD}id = \"a\"\nprefix = [\"a\"]\ndecison = \"ask\"\n"),
            "config.toml:4:1: `agents.bot.commands.rules`: unknown key `decison` in a rule: did you mean `decision`?",
        ),
        (
            "config.toml",
            format!("{HEAD}id = \"a\"\nprefix = [\"a\", 3]\ndecision = \"ask\"\n"),
            "config.toml:3:16: `agents.bot.commands.rules`: `prefix` must be",
        ),
        (
            "config.toml",
            format!("{HEAD}id = \"a\"\nprefix = [\"git\", \"push\"]\ndecision = \"ask\"\nmatch = [\"git push\",\n  \"git pull\"]\n"),
            "config.toml:6:3: ",
        ),
        ("config.toml", format!("{HEAD}id = \"a\"\ndecision = \"ask\"\n"), "config.toml:1:1: "),
        ("config.toml", format!("{twice}{twice}"), "config.toml:6:6: "),
        ("config.toml", "[agents.bot.commands.rules]\nid = \"a\"\n".to_owned(), "it is a table, expected a list of rules"),
        (
            "config.yaml",
            "agents:\n  bot:\n    commands:\n      rules:\n        - {id: a, prefix: [bash], decision: allow}\n".to_owned(),
            "config.yaml:5:27: ",
        ),
        (
            "config.yaml",
            "agents: {bot: {commands: {rules: [{id: a, prefix: [ls], decision: maybe}]}}}".to_owned(),
            "`maybe` is no decision",
        ),
    ] {
        let site = Site::new(&[(&format!("home/{name}"), &text)]);
        let error = site.load().unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    let rule = "[{\"id\": \"a\", \"prefix\": [\"ls\"], \"decision\": \"deny\"}]";
    let mut site = Site::new(&[("home/config.toml", &twice.replace("bot", "\"*\""))]);
    for (text, wanted) in
        [(rule, "duplicate rule id `a`"), ("[{]", "of its value"), ("{}", "expected a list of rules")]
    {
        site.sources.flags = vec![(RULES.into(), text.into())];
        let error = site.load().unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("--set"), "{text}: {error}");
    }
}

/// Each of these takes a while to compile. The user's own expressions are not limited.
const NO_CURL: &str = "version = 1\n[defaults]\nunmatched = \"deny\"\nunanalysable = \"sandbox\"\n[[rule]]\nid = \"no-curl\"\n\
                       prefix = [\"curl\"]\ndecision = \"deny\"\nreason = \"x\"\n";

fn naming(file: &str) -> String {
    format!("[agents.bot.commands]\nruleFiles = [\"{file}\"]\n")
}

/// As rules and lists of all layers do, and no default of a file is milder than what is in force.
#[test]
fn rule_files_of_all_layers_apply_together() {
    let site = Site::new(&[("a.toml", NO_CURL), ("b.toml", &NO_CURL.replace("curl", "wget"))]);
    for (layer, file) in [("etc", "a.toml"), ("home", "b.toml")] {
        let folder = site.folder.path().join(layer);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("config.toml"), naming(&site.path(file))).unwrap();
    }
    let config = site.load().unwrap();
    let rules: Vec<_> = config
        .rules("bot")
        .map(|one| (one.rule.id.as_str(), one.layer, one.origin.place.clone().unwrap()))
        .collect();
    let place = |file: &str| format!("{}:5:1", site.path(file));
    assert_eq!(
        rules,
        [("no-curl", Layer::Admin, place("a.toml")), ("no-wget", Layer::User, place("b.toml"))]
    );
    let files = config.get("agents.bot.commands.ruleFiles").unwrap().value;
    assert_eq!(files, json!([site.path("a.toml"), site.path("b.toml")]));
    assert_eq!(value(&config, "agents.bot.commands.unmatched").0, "deny");
    assert_eq!(value(&config, "agents.bot.commands.unanalysable").0, "ask", "a file does not make it milder");
}

/// Only a person who names the file as an option disables a hazard.
#[test]
fn a_rule_file_of_a_configuration_disables_no_hazard() {
    let text = format!("{NO_CURL}[[override]]\nfloor = \"rm-home\"\nbecause = \"told\"\n");
    let site = Site::new(&[("a.toml", &text), ("etc/config.toml", "")]);
    fs::write(site.path("etc/config.toml"), naming(&site.path("a.toml"))).unwrap();
    let error = site.load().unwrap_err();
    assert!(error.problems[0].message.contains("override"), "{error}");
}

#[test]
fn changes_of_rule_files_are_noticed() {
    let site = Site::new(&[("a.toml", NO_CURL)]);
    fs::create_dir(site.folder.path().join("home")).unwrap();
    fs::write(site.folder.path().join("home/config.toml"), naming(&site.path("a.toml"))).unwrap();
    let (_, files) = Config::load_with_versions(&site.sources).unwrap();
    assert!(files.are_unchanged());
    fs::write(site.path("a.toml"), NO_CURL.replace("curl", "wget")).unwrap();
    assert!(!files.are_unchanged());
}

#[test]
fn rule_files_of_a_project_or_of_others_are_not_read() {
    let site = Site::new(&[("a.toml", NO_CURL), ("work/.stockade/config.toml", "")]);
    fs::write(site.folder.path().join("work/.stockade/config.toml"), naming(&site.path("a.toml"))).unwrap();
    let config = site.load().unwrap();
    assert_eq!(config.rules("bot").count(), 0);
    assert!(config.notices().iter().any(|notice| notice.key == "agents.bot.commands.ruleFiles"));

    let site = Site::new(&[("a.toml", NO_CURL), ("home/config.toml", "")]);
    fs::write(site.folder.path().join("home/config.toml"), naming(&site.path("a.toml"))).unwrap();
    fs::set_permissions(site.path("a.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    let error = site.load().unwrap_err();
    assert_eq!(error.problems[0].message, "other users can write it", "{error}");
}

#[test]
fn a_project_brings_few_expressions() {
    let rules = |agent: &str, count: usize| -> String {
        let rule = |number| {
            format!(
                "[[agents.{agent}.commands.rules]]\nid = \"{number}\"\nregex = \"a{number}\"\ndecision = \"ask\"\n"
            )
        };
        (0..count).map(rule).collect()
    };
    for (file, text, fits) in [
        ("work/.stockade/config.toml", rules("a", 16), true),
        ("work/.stockade/config.toml", rules("a", 17), false),
        ("work/.stockade/config.toml", rules("a", 9) + &rules("b", 9), false),
        ("home/config.toml", rules("a", 17), true),
    ] {
        match Site::new(&[(file, &text)]).load() {
            Ok(_) => assert!(fits, "{text}"),
            Err(error) => assert!(!fits && error.to_string().contains("16 rules with `regex`"), "{error}"),
        }
    }
}

#[test]
fn a_file_above_the_size_limit_is_refused() {
    let comment = |length: usize| "#".repeat(length) + "\n";
    let rows = [
        (comment(1000), true),
        (comment((256 << 10) - 2), true),
        (comment(300 << 10) + "[agents.bot]\nmaxSteps = 5\n", false),
    ];
    for (text, taken) in rows {
        let loaded = Site::new(&[("home/config.toml", &text)]).load();
        assert_eq!(loaded.is_ok(), taken, "{} bytes", text.len());
    }
}

#[test]
fn every_key_is_in_the_schema() {
    let schema = config_schema().to_string();
    for key in Config::keys() {
        let name = key.path.rsplit('.').next().unwrap();
        assert!(schema.contains(&format!("\"{name}\"")), "{}", key.path);
    }
    let config = Config::load(&ConfigSources::default()).unwrap();
    // Keys of tools and scanner rules need not be set.
    let is_of_one = |path: &str| path.contains("<tool>") || path.contains("<rule>");
    let of_one = Config::keys().iter().filter(|key| is_of_one(key.path)).count();
    assert!(of_one > 1);
    assert_eq!(config.values().len() + of_one, Config::keys().len());
}

#[test]
fn a_project_does_not_switch_secrets_on() {
    let user = |must: bool| {
        format!(
            "security: {{permission: {{enableNodePermissions: {must}, allowedNetHosts: [a.example], secrets: ['T=cmd:op read x@a.example']}}}}\n"
        )
    };
    let project = "[security.permission]\nenableNodePermissions = true\n";
    for (must, lent) in [(true, 1), (false, 0)] {
        let files = [("home/config.yaml", &*user(must)), ("work/.stockade/config.toml", project)];
        let config = Site::new(&files).load().unwrap();
        let exec = config.agent("bot").unwrap().exec;
        assert_eq!((exec.hosts.len(), exec.secrets.len()), (1, lent));
        let told = config.notices().iter().any(|one| one.key == "security.permission.secrets");
        assert_eq!(told, !must, "{:?}", config.notices());
    }
    // A project that removes hosts loses their secrets, and everything else still works.
    for (narrowed, lent) in [("a.example", true), ("b.example", false), ("a.example:80", false), ("", false)]
    {
        let hosts = if narrowed.is_empty() { "[]".to_owned() } else { format!("['{narrowed}']") };
        let user = user(true).replace("[a.example]", "[a.example, b.example]");
        let project = format!("[security.permission]\nallowedNetHosts = {hosts}\n");
        let files = [("home/config.yaml", &*user), ("work/.stockade/config.toml", &*project)];
        let site = Site::new(&files);
        let config = site.load().unwrap();
        let exec = config.agent("bot").unwrap().exec;
        assert_eq!(
            (exec.secrets.len(), exec.withheld_secrets.len()),
            (lent.into(), (!lent).into()),
            "{narrowed}"
        );
        let told: Vec<_> =
            config.notices().iter().filter(|one| one.key == "security.permission.secrets").collect();
        assert_eq!(told.len(), usize::from(!lent), "{told:?}");
        let names_it =
            |one: &&ConfigNotice| one.message.contains("`T`") && one.place.contains("work/.stockade");
        assert!(told.iter().all(names_it), "{told:?}");
    }
    // A layer above the project still enables them.
    let files = [("home/config.yaml", &*user(false)), ("work/.stockade/config.toml", project)];
    let mut site = Site::new(&files);
    site.sources.flags = vec![("security.permission.enableNodePermissions".to_owned(), "true".to_owned())];
    assert_eq!(site.load().unwrap().agent("bot").unwrap().exec.secrets.len(), 1);
}
