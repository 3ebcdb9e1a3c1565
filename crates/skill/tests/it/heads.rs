//! Front matter: listed tools and surfaces.

use stockade_skill::{
    Dialect, ListedTools, SkillManifest, SkillProblems, SurfaceKind, head_surfaces, read_head, split_head,
};

fn with_key(line: &str) -> String {
    format!("---\nname: a\ndescription: Does it.\n{line}\n---\nGo.\n")
}

#[test]
fn tools_are_listed_as_they_are_written() {
    let entries = |entries: &[&str]| ListedTools::Entries(entries.iter().map(ToString::to_string).collect());
    for (line, tools, rule) in [
        ("version: 1", ListedTools::Unlisted, None),
        ("allowed-tools: Read Bash(git:*)", ListedTools::Text("Read Bash(git:*)".into()), None),
        ("allowedTools: [Read, Write]", entries(&["Read", "Write"]), None),
        ("allowed_tools:", entries(&[]), None),
        ("allowed-tools: {a: b}", entries(&[]), Some("unreadable-tools")),
        ("allowed-tools: Refused", entries(&[]), Some("unreadable-tools")),
        ("allowed-tools: Read\nallowedTools: [Bash]", entries(&[]), Some("unreadable-tools")),
    ] {
        let check = |tools: &ListedTools| match tools {
            ListedTools::Text(text) if text == "Refused" => Err("it is refused".to_owned()),
            _ => Ok(()),
        };
        let (manifest, problems) = SkillManifest::read(&with_key(line), "SKILL.md", Dialect::Lenient, &check);
        assert_eq!(manifest.tools, tools, "{line}");
        assert_eq!(problems.first().map(|problem| problem.rule), rule, "{line}: {problems:?}");
    }
}

#[test]
fn what_runs_is_found_in_its_order() {
    let text = with_key(
        "hooks: {Stop: [{hooks: [{type: command, command: make}]}]}\nallowed-tools: [Read]\n\
         metadata: {openclaw: {install: [{kind: brew, formula: jq, postInstall: id}]}}\ncommand-dispatch: tool",
    );
    let mut problems = SkillProblems::new(Dialect::Lenient, false);
    let (_, head) = read_head(&split_head(&text), "SKILL.md", &|_| Ok(()), &mut problems);
    let mut found = Vec::new();
    head_surfaces(&head.unwrap().value, "SKILL.md", &mut problems, &mut |surface, _| {
        found.push((surface.kind, surface.text.to_owned(), surface.line, surface.is_command));
    });
    assert_eq!(
        found,
        [
            (SurfaceKind::Hook, "make".to_owned(), 4, true),
            (SurfaceKind::ToolList, "Read".to_owned(), 5, false),
            (SurfaceKind::Installer, "brew jq".to_owned(), 6, false),
            (SurfaceKind::Installer, "id".to_owned(), 6, true),
            (SurfaceKind::Dispatch, "tool".to_owned(), 7, false),
        ]
    );
    let rules: Vec<_> = problems.end().0.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, ["hook", "model-bypassed"]);
}
