//! What a decision costs: 200 tools, a path against 200 globs, a command. `cargo bench -p stockade-policy`.
//!
//! The engines of a group take turns in one process; the table shows the median over the rounds of the CPU time that one
//! item takes, and of the ratios to the first engine.

use std::collections::HashSet;
use std::hint::black_box;
use std::path::Path;

use globset::Glob;
use stockade_policy::access::{Policy, Position};
use stockade_policy::paths::{PathPolicy, ResolvedPath};
use stockade_policy::{
    Access, AccessRequest, Caller, PathFacts, Sandbox, SandboxConfig, ToolCatalog, ToolPolicy,
    ToolPolicyConfig, Workspace,
};
use testkit::bench::{Work, table};

fn main() {
    tools();
    paths();
    loads();
    commands();
}

fn tools() {
    let names: Vec<String> = (0..200).map(|index| format!("tool_{index}")).collect();
    let config = ToolPolicyConfig {
        profile: "coding".to_owned(),
        allow: names.iter().step_by(2).cloned().collect(),
        deny: vec!["tool_*7".to_owned(), "tool_42".to_owned()],
    };
    let catalog = ToolCatalog { tools: names.clone(), ..ToolCatalog::default() };
    let policy = ToolPolicy::compile(&config, &catalog).ok();
    let Some(policy) = policy else { return };
    let sets = || -> HashSet<&str> {
        let deny: HashSet<&str> = ["tool_42"].into();
        config.allow.iter().map(String::as_str).filter(|name| !deny.contains(name)).collect()
    };
    table(
        "a policy of 200 tools",
        &mut [
            (
                "hash sets, built and asked for each tool",
                200,
                Box::new(|| {
                    let set = sets();
                    black_box(names.iter().filter(|name| set.contains(name.as_str())).count());
                }),
            ),
            (
                "resolve, per tool",
                200,
                Box::new(|| drop(black_box(policy.resolve(names.iter().map(String::as_str))))),
            ),
            (
                "allows, per tool",
                200,
                Box::new(|| {
                    black_box(names.iter().filter(|name| policy.allows(name)).count());
                }),
            ),
            ("compile", 1, Box::new(|| drop(black_box(ToolPolicy::compile(&config, &catalog))))),
        ],
    );
}

fn paths() {
    let numbers: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let globs: Vec<String> =
        numbers.iter().flat_map(|number| GLOBS.iter().map(|glob| glob.replace('#', number))).collect();
    let plain = SandboxConfig { forbidden_globs: globs.clone(), ..SandboxConfig::default() };
    let both = SandboxConfig {
        read: PathPolicy { allow: vec!["**".to_owned()], deny: globs.clone(), ..PathPolicy::default() },
        ..plain.clone()
    };
    let matchers: Vec<_> =
        globs.iter().filter_map(|glob| Glob::new(glob).ok()).map(|glob| glob.compile_matcher()).collect();
    let typical = "packages/core/src/tools/built-in/read-file/read-file.test.ts";
    let deep = "a/".repeat(2000);
    table(
        "a path against 200 globs",
        &mut [
            (
                "a loop over 200 glob matchers",
                1,
                Box::new(|| {
                    black_box(matchers.iter().any(|glob| glob.is_match(typical)));
                }),
            ),
            ("forbidden globs", 1, decision(&plain, typical)),
            ("forbidden, deny and allow globs", 1, decision(&both, typical)),
            ("the standard configuration", 1, decision(&SandboxConfig::standard(), typical)),
            ("the same, 2,000 folders deep", 1, decision(&SandboxConfig::standard(), &deep)),
            ("forbidden globs, 2,000 folders deep", 1, decision(&plain, &deep)),
        ],
    );
}

const GLOBS: [&str; 5] = ["**/*.ext#", "**/name#", "folder#/**", "**/pre#*", "{a,b}#/[a-c]*.txt"];

fn decision<'w>(config: &SandboxConfig, path: &'w str) -> Work<'w> {
    let Ok(mut sandbox) = Sandbox::compile(config, &Workspace::plain("/srv/project")) else {
        return Box::new(|| {});
    };
    let facts =
        PathFacts::Resolved(ResolvedPath::file(Path::new("/srv/project").join(path.trim_end_matches('/'))));
    let guard = sandbox.guard_for("t").clone();
    Box::new(move || {
        let request = AccessRequest::Path { access: Access::Read, path: Path::new(path), facts: &facts };
        black_box(guard.can_access(&request));
    })
}

fn loads() {
    let workspace = Workspace::plain("/srv/project");
    let globs: Vec<String> = (0..200).map(|index| format!("**/name{index}*")).collect();
    let many = SandboxConfig { forbidden_globs: globs, ..SandboxConfig::default() };
    table(
        "compiling a configuration",
        &mut [
            (
                "the standard one",
                1,
                Box::new(|| drop(black_box(Sandbox::compile(&SandboxConfig::standard(), &workspace)))),
            ),
            ("200 globs", 1, Box::new(|| drop(black_box(Sandbox::compile(&many, &workspace))))),
        ],
    );
}

fn commands() {
    let ordinary = "cd src && cargo test --workspace -- --nocapture 2>&1 | tee out.txt | grep -v ok";
    let hostile = "$(".repeat(20_000);
    table(
        "a command",
        &mut [
            ("the dangerous commands, 80 bytes", 1, command(ordinary)),
            ("the same, 40 kB of open substitutions", 1, command(&hostile)),
        ],
    );
}

fn command(text: &str) -> Work<'_> {
    let Ok(mut sandbox) = Sandbox::compile(&SandboxConfig::default(), &Workspace::plain("/srv/project"))
    else {
        return Box::new(|| {});
    };
    let guard = sandbox.guard_for("t");
    if guard.add(Policy::deny_dangerous_commands(), Position::Last).is_err() {
        return Box::new(|| {});
    }
    let guard = guard.clone();
    Box::new(move || drop(black_box(guard.decide(&AccessRequest::Command { text }, &Caller::default()))))
}
