//! Settings in every form, and look-alikes.

use super::*;

fn found(path: &str, text: &str, is_obeyed: bool) -> Vec<String> {
    let surfaces = settings_surfaces(path, text, is_obeyed).unwrap();
    surfaces.iter().map(|one| format!("{} {}:{}", one.kind.name(), one.line, one.text)).collect()
}

/// The file, its text, whether it is obeyed for its name, and what it starts.
#[test]
fn what_settings_start_is_found_in_every_form() {
    let rows: &[(&str, &str, bool, &[&str])] = &[
        (
            ".mcp.json",
            r#"{"mcpServers":{"x":{"command":"npx","args":["-y","evil mcp@1"]}}}"#,
            true,
            &["tool server 1:npx -y 'evil mcp@1'"],
        ),
        (
            ".mcp.json",
            r#"{"mcpServers":{"x":{"type":"http","url":"https://x.example/mcp"}}}"#,
            true,
            &["tool server 1:https://x.example/mcp"],
        ),
        (
            "assets/my.json",
            "{\"mcpServers\": {\n\"x\": {\"command\": \"a b\"}}}",
            false,
            &["tool server 2:a b"],
        ),
        (
            "opencode.json",
            r#"{"mcp":{"x":{"type":"local","command":["bun","x.ts"]}}}"#,
            true,
            &["tool server 1:bun x.ts"],
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.x]\ncommand = \"npx\"\nargs = [\"y\"]\n",
            true,
            &["tool server 1:npx y"],
        ),
        (
            ".claude/settings.json",
            r#"{"hooks":{"Stop":[{"matcher":"m","hooks":[{"type":"command","command":"a"}]}]}}"#,
            true,
            &["hook 1:a"],
        ),
        (
            ".cursor/hooks.json",
            r#"{"version":1,"hooks":{"beforeShellExecution":[{"command":"./b.sh"}]}}"#,
            true,
            &["hook 1:./b.sh"],
        ),
        (
            "hooks/hooks.json",
            r#"{"description":"d","hooks":{"Stop":[{"hooks":[{"type":"command","command":"c"}]}]}}"#,
            false,
            &["hook 1:c"],
        ),
        ("x/spelt.json", r#"{"mcpS\u0065rvers":{"x":{"command":"m"}}}"#, false, &["tool server 1:m"]),
        ("x/any.yaml", "hooks:\n  start:\n    - bash: ./d.sh\n", false, &["hook 3:./d.sh"]),
        (
            ".claude/settings.json",
            r#"{"statusLine":{"type":"command","command":"e"},"apiKeyHelper":"f"}"#,
            true,
            &["hook 1:e", "hook 1:f"],
        ),
        (
            ".claude/settings.json",
            r#"{"permissions":{"allow":["Bash(*)","Read"],"deny":["X"]}}"#,
            true,
            &["tool list 1:Bash(*) Read"],
        ),
        (
            ".devcontainer/devcontainer.json",
            "{\n// c\n\"postCreateCommand\": \"g\", /* d */\n}",
            true,
            &["hook 3:g"],
        ),
        (
            "package.json",
            r#"{"scripts":{"test":"jest","postinstall":"node h.js","prepare":"i"}}"#,
            false,
            &["installer 1:node h.js", "installer 1:i"],
        ),
        (
            "composer.json",
            r#"{"scripts":{"post-install-cmd":["@php j","k"]}}"#,
            false,
            &["installer 1:@php j", "installer 1:k"],
        ),
        ("sub/setup.py", "import os", false, &["installer 1:pip runs it to install the package"]),
        (
            "x.pth",
            "# c\nimport os; os.system('l')\n/some/folder\n",
            false,
            &["file that starts programs 2:import os; os.system('l')"],
        ),
    ];
    for (path, text, is_obeyed, wanted) in rows {
        assert_eq!(found(path, text, *is_obeyed), *wanted, "{path} {text}");
    }
}

#[test]
fn what_only_looks_like_it_starts_nothing() {
    let rows: &[(&str, &str)] = &[
        ("package.json", r#"{"scripts":{"test":"jest","build":"tsc"}}"#),
        ("data.json", r#"{"hooks":["a hook is a thing"],"servers":["a","b"]}"#),
        ("openapi.yaml", "servers:\n- url: https://api.example\n  description: d\n"),
        ("data.json", r#"{"statusLine":"x","permissions":{"allow":["a"]}}"#),
        ("broken.json", "{"),
        ("notes.md", r#"{"mcpServers":{"x":{"command":"y"}}}"#),
        ("model.pth", "PK importing"),
    ];
    for (path, text) in rows {
        assert!(found(path, text, false).is_empty(), "{path} {text}");
    }
}

#[test]
fn settings_that_are_obeyed_and_cannot_be_read_are_told() {
    let unreadable = settings_surfaces(".mcp.json", "{\n\"mcpServers\": {", true).unwrap_err();
    assert_eq!(unreadable.line, 2);
    assert!(settings_surfaces("package.json", "{", false).is_err());
}

#[test]
fn comments_go_and_positions_stay() {
    let rows = [
        ("[1, // x\n2,\n]", "[1,     \n2 \n]"),
        (r#"{"a//b": "/* c */", }"#, r#"{"a//b": "/* c */"  }"#),
        ("/* never closed", "               "),
        (r#"["\", // no comment", ]"#, r#"["\", // no comment"  ]"#),
    ];
    for (text, wanted) in rows {
        assert_eq!(without_comments(text), wanted, "{text}");
    }
}
