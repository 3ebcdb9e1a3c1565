//! Which tools are left, and why the others are not.

use stockade_policy::tools::{ArgumentScope, Removal, ToolFix};
use stockade_policy::{Profile, SkillTools, ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

fn config(profile: &str, allow: &[&str], deny: &[&str]) -> ToolPolicyConfig {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ToolPolicyConfig { profile: profile.to_owned(), allow: owned(allow), deny: owned(deny) }
}

fn policy(profile: &str, allow: &[&str], deny: &[&str]) -> ToolPolicy {
    let catalog = ToolCatalog { mcp_servers: vec!["github".to_owned()], ..ToolCatalog::default() };
    ToolPolicy::compile(&config(profile, allow, deny), &catalog).unwrap()
}

fn allowed(policy: &ToolPolicy, tools: &[&str]) -> Vec<String> {
    policy.resolve(tools.iter().copied()).allowed.iter().map(|tool| tool.tool.to_owned()).collect()
}

const TOOLS: &[&str] =
    &["read", "write", "exec", "web_fetch", "browser", "mcp__github__search", "notebook_edit"];

#[test]
fn profile_then_allow_then_deny() {
    for (profile, allow, deny, expected) in [
        ("minimal", &[][..], &[][..], &["read", "write"][..]),
        ("minimal", &["group:web"], &[], &["read", "write", "web_fetch", "browser"]),
        ("minimal", &["group:web"], &["browser"], &["read", "write", "web_fetch"]),
        ("minimal", &["read"], &["read"], &["write"]),
        ("coding", &["mcp__github__*"], &[], &["read", "write", "exec", "mcp__github__search"]),
        ("coding", &["mcp__github"], &["group:coding"], &["mcp__github__search"]),
        ("full", &[], &["browser*", "mcp__*"], &["read", "write", "exec", "web_fetch", "notebook_edit"]),
        ("full", &[], &["*"], &[]),
        ("messaging", &[], &[], &[]),
    ] {
        assert_eq!(allowed(&policy(profile, allow, deny), TOOLS), expected, "{profile} {allow:?} {deny:?}");
    }
}

#[test]
fn order_and_repetitions_are_kept() {
    let tools = ["write", "read", "exec", "read", "exec"];
    let policy = policy("minimal", &[], &[]);
    assert_eq!(allowed(&policy, &tools), ["write", "read", "read"]);
    assert_eq!(policy.resolve(tools).filtered.len(), 2);
}

#[test]
fn full_includes_unknown_tools() {
    assert!(policy("full", &[], &[]).allows("anything_at_all"));
    assert!(!policy("full", &[], &["*"]).allows("anything_at_all"));
}

#[test]
fn a_removal_names_the_last_deny_entry() {
    let policy = policy("minimal", &[], &["web_fetch", "group:web", "exec"]);
    for (tool, expected) in [
        ("web_fetch", Removal::ExplicitDeny { entry: "group:web" }),
        ("exec", Removal::ExplicitDeny { entry: "exec" }),
        ("edit", Removal::NotInProfile { profile: "minimal" }),
    ] {
        assert!(matches!(policy.decide(tool), ToolVerdict::Removed(reason) if reason == expected), "{tool}");
    }
}

#[test]
fn slips_are_errors_with_the_nearest_name() {
    for (profile, allow, deny, expected) in [
        ("codign", &[][..], &[][..], "tool policy: unknown profile `codign`; did you mean `coding`?"),
        ("Full", &[], &[], "tool policy: unknown profile `Full`; did you mean `full`?"),
        (
            "__proto__",
            &[],
            &[],
            "tool policy: unknown profile `__proto__`; there are `minimal`, `coding`, `messaging`, `supervisor`, `full`, `cron-minimal`, `heartbeat-minimal`",
        ),
        (
            "",
            &[],
            &[],
            "tool policy: unknown profile ``; there are `minimal`, `coding`, `messaging`, `supervisor`, `full`, `cron-minimal`, `heartbeat-minimal`",
        ),
        (
            "full",
            &[],
            &["group:wbe"],
            "tool policy: unknown group `group:wbe` in the deny list; did you mean `group:web`?",
        ),
        ("full", &[], &["EXEC"], "tool policy: unknown tool `EXEC` in the deny list; did you mean `exec`?"),
        (
            "full",
            &[],
            &["browser_*"],
            "tool policy: pattern `browser_*` in the deny list matches no known tool; did you mean `browser`?",
        ),
        ("full", &["reed"], &[], "tool policy: unknown tool `reed` in the allow list; did you mean `read`?"),
        ("full", &[], &[""], "tool policy: unknown tool `` in the deny list"),
        (
            "coding",
            &["mcp__gitlab__*"],
            &[],
            "tool policy: pattern `mcp__gitlab__*` in the allow list matches no known tool",
        ),
        (
            "codign",
            &[],
            &["EXEC"],
            "tool policy: unknown profile `codign`; did you mean `coding`?; unknown tool `EXEC` in the deny list; did \
             you mean `exec`?",
        ),
    ] {
        let error = ToolPolicy::compile(&config(profile, allow, deny), &ToolCatalog::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// A tool of another program may be granted by its name. What is denied has to be known by its name here.
#[test]
fn a_foreign_tool_is_granted_and_a_slip_is_not() {
    let compiled = |allow: &[&str], deny: &[&str]| {
        ToolPolicy::compile_with_foreign_tools(&config("minimal", allow, deny), &ToolCatalog::default())
    };
    let policy = compiled(&["deploy_site"], &[]).unwrap();
    assert_eq!(allowed(&policy, &["deploy_site", "exec"]), ["deploy_site"]);
    for (allow, deny) in [
        (&["reed"][..], &[][..]),
        (&[], &["deploy_site"]),
        (&["group:wbe"], &[]),
        (&["mcp__gitlab__*"], &[]),
        (&[], &["EXEC"]),
    ] {
        assert!(compiled(allow, deny).is_err(), "{allow:?} {deny:?}");
    }
}

#[test]
fn an_unknown_profile_grants_nothing_even_when_slips_are_forgiven() {
    let (policy, problems) =
        ToolPolicy::compile_leniently(&config("fulll", &["read"], &[]), &ToolCatalog::default());
    assert_eq!(problems.len(), 1);
    assert_eq!(allowed(&policy, TOOLS), ["read"]);
}

/// What it was meant to hold back cannot be told from the rest.
#[test]
fn an_unknown_group_in_a_deny_list_denies_everything() {
    let deny = config("full", &["read"], &["group:wbe"]);
    let (policy, problems) = ToolPolicy::compile_leniently(&deny, &ToolCatalog::default());
    assert_eq!(
        problems[0].to_string(),
        "unknown group `group:wbe` in the deny list; did you mean `group:web`?"
    );
    assert_eq!(allowed(&policy, TOOLS), [""; 0]);
    let allow = config("minimal", &["group:wbe"], &[]);
    let (policy, _) = ToolPolicy::compile_leniently(&allow, &ToolCatalog::default());
    assert!(policy.allows("read"));
}

/// A skill that misspells a tool gets none, and is told.
#[test]
fn what_a_skill_misspells_is_said() {
    let policy = policy("full", &[], &[]);
    let catalog = ToolCatalog { tools: vec!["read".to_owned()], mcp_servers: vec!["github".to_owned()] };
    for (skill, expected) in [
        ("RAED", Some("unknown tool `RAED` in the skill's allowed-tools; did you mean `Read`?")),
        (
            "mcp__gitlab__*",
            Some("pattern `mcp__gitlab__*` in the skill's allowed-tools matches no known tool"),
        ),
        (
            "group:wbe",
            Some("unknown group `group:wbe` in the skill's allowed-tools; did you mean `group:web`?"),
        ),
        ("Read Bash(git:*) NotebookEdit read mcp__github__* group:web *", None),
        ("", None),
    ] {
        let problems = policy.skill_problems(&SkillTools::parse(skill).unwrap(), &catalog);
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(said.first().map(String::as_str), expected, "{skill}");
    }
    assert!(policy.skill_problems(&SkillTools::Unlisted, &catalog).is_empty());
}

#[test]
fn a_skill_only_narrows() {
    for (profile, skill, expected) in [
        ("coding", "read exec", &["read", "exec"][..]),
        ("minimal", "read exec", &["read"]),
        ("minimal", "*", &["read", "write"]),
        ("minimal", "", &[]),
        ("full", "Read mcp__github__*", &["read", "mcp__github__search"]),
        ("coding", "group:coding browser", &["read", "write", "exec"]),
    ] {
        let narrowed = policy(profile, &[], &[]).with_skill("s", &SkillTools::parse(skill).unwrap());
        assert_eq!(allowed(&narrowed, TOOLS), expected, "{profile} {skill}");
    }
}

#[test]
fn no_list_and_an_empty_list_say_opposite_things() {
    let policy = policy("minimal", &[], &[]);
    assert!(policy.with_skill("s", &SkillTools::Unlisted).allows("read"));
    assert!(!policy.with_skill("s", &SkillTools::Listed(Vec::new())).allows("read"));
    assert!(!policy.with_skill("s", &SkillTools::from_list([]).unwrap()).allows("read"));
}

#[test]
fn several_skills_intersect() {
    let one = SkillTools::parse("Read Write").unwrap();
    let two = SkillTools::from_list(["read", "exec"]).unwrap();
    let policy = policy("coding", &[], &[]).with_skill("one", &one).with_skill("two", &two);
    assert_eq!(allowed(&policy, TOOLS), ["read"]);
    let reason = |tool| match policy.decide(tool) {
        ToolVerdict::Removed(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("write"), Removal::NotInSkill { skill: "two" });
    assert_eq!(reason("exec"), Removal::NotInSkill { skill: "one" });
}

#[test]
fn arguments_are_limited_by_every_skill_that_says_so() {
    let git = SkillTools::parse("Bash(git:*) Bash(gh:*)").unwrap();
    let any = SkillTools::parse("Bash Read").unwrap();
    let policy = policy("coding", &[], &[]).with_skill("git", &git).with_skill("any", &any);
    let ToolVerdict::AllowedFor(limits) = policy.decide("exec") else { panic!() };
    assert_eq!(limits.len(), 1);
    assert_eq!(limits[0].skill, "git");
    assert_eq!(limits[0].any_of, [&ArgumentScope::Prefix("git".into()), &ArgumentScope::Prefix("gh".into())]);
    assert!(limits[0].admits_command("gh pr list"));
    assert!(!limits[0].admits_command("git log; id"));
}

#[test]
fn fixes_name_the_narrowest_changes() {
    let skill = SkillTools::parse("read").unwrap();
    let policy = policy("minimal", &[], &["group:web", "browser"]).with_skill("s", &skill);
    let fixes: Vec<String> = policy.fixes("browser").iter().map(ToString::to_string).collect();
    assert_eq!(
        fixes,
        [
            "in the deny list, replace `group:web` by its other tools: `web_fetch`, `web_search`",
            "remove `browser` from the deny list",
            "add `browser` to the allow list",
            "add `browser` to the allowed-tools of the skill `s`",
        ]
    );
    assert_eq!(policy.fixes("read"), []);
}

#[test]
fn fixes_really_fix() {
    for profile in Profile::all() {
        for tool in TOOLS {
            let mut config = config(profile.name(), &[], &["group:web", "browser*", "*_edit", "exec"]);
            let catalog =
                ToolCatalog { tools: TOOLS.iter().map(|t| (*t).to_owned()).collect(), ..Default::default() };
            for fix in ToolPolicy::compile(&config, &catalog).unwrap().fixes(tool) {
                match fix {
                    ToolFix::AddToAllow { tool } => config.allow.push(tool),
                    ToolFix::NarrowDeny { entry, keep } => {
                        config.deny.retain(|other| *other != entry);
                        config.deny.extend(keep);
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert!(
                ToolPolicy::compile(&config, &catalog).unwrap().allows(tool),
                "{} {tool}",
                profile.name()
            );
        }
    }
}
