//! Properties of every input, however hostile. The fuzz targets call these functions; ordinary tests replay the seeds
//! and random texts through them.

use stockade_skill::{
    Dialect, MAX_SURFACE_CHARS, MAX_SURFACES, SkillFrame, SkillProblems, first_chars, head_surfaces,
    load_commands, read_head, settings_surfaces, split_head, substitute, unix_lines,
};

/// Every text is read in every dialect; problems, commands and surfaces lie in it, and nothing leaves its frame.
/// Arguments follow a NUL.
pub(crate) fn skill(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (text, arguments) = text.split_once('\0').unwrap_or((&text, ""));
    let text = unix_lines(text);
    let split = split_head(&text);
    let lines = text.split('\n').count();
    assert!(text.ends_with(split.body));
    // The line that closes the front matter may be the last one, without a line end.
    let ends = text.matches('\n').count() + usize::from(split.body.is_empty() && !text.ends_with('\n'));
    assert!(ends >= split.lines_before + split.body.matches('\n').count(), "{text:?}");
    for dialect in Dialect::ALL {
        let mut problems = SkillProblems::new(dialect, false);
        let (manifest, head) = read_head(&split, "SKILL.md", &|_| Ok(()), &mut problems);
        if let Some(head) = head {
            head_surfaces(&head.value, "SKILL.md", &mut problems, &mut |surface, _| {
                assert!((1..=lines).contains(&surface.line), "{surface:?}");
                assert!(first_chars(surface.text).chars().count() <= MAX_SURFACE_CHARS);
            });
        }
        for problem in problems.end().0 {
            assert!((1..=lines + 1).contains(&problem.line), "{problem:?} of {lines} lines");
            assert!(Dialect::rules().any(|rule| rule == problem.rule), "{problem:?}");
            assert!(!problem.message.is_empty() && !problem.fix.is_empty(), "{problem:?}");
        }
        stays_framed(split.body, arguments, &manifest.arguments);
    }
    starts_lie_in(&text);
    for command in load_commands(split.body) {
        assert!((1..=lines).contains(&command.line), "{command:?}");
        assert!(split.body.contains(command.text));
    }
}

/// The same text as settings of every format and name: each surface occurs in it, and their number is bounded.
fn starts_lie_in(text: &str) {
    let lines = text.split('\n').count();
    for name in [".mcp.json", "hooks.yaml", "config.toml", "package.json", "x.pth"] {
        match settings_surfaces(name, text, true) {
            Ok(found) => {
                assert!(found.len() <= MAX_SURFACES + 1, "{name}");
                assert!(found.iter().all(|one| (1..=lines + 1).contains(&one.line)), "{name} {found:?}");
            }
            Err(unread) => assert!(unread.line <= lines + 1 && !unread.reason.is_empty(), "{unread:?}"),
        }
    }
}

fn stays_framed(body: &str, arguments: &str, names: &[String]) {
    let Some(filled) = substitute(body, arguments, names) else { return };
    let frame = SkillFrame { name: body.into(), files: vec![body.into()], ..SkillFrame::default() };
    let framed = frame.framed(&filled);
    assert_eq!(framed.matches("</skill_content>").count(), 1);
    assert_eq!(tags(&framed, "<skill_content"), 1);
    assert!(framed.ends_with("</skill_content>\n"));
    assert_eq!(frame.listing().matches("<skill>").count(), 1);
}

/// Counts the opening tags. `<skill_contents>` is a different tag, which frames nothing.
fn tags(text: &str, opening: &str) -> usize {
    text.split(opening)
        .skip(1)
        .filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_-.:".contains(c)))
        .count()
}
