//! Files that programs run or obey by default.

use crate::rules::folder_settings::obeyed_files;

/// Programs, and the files that they search in their directory.
type Row = (&'static [&'static str], &'static [&'static str]);

const IMPLIED: &[Row] = &[
    (
        &["git"],
        &[
            ".git",
            ".git/config",
            ".git/hooks/applypatch-msg",
            ".git/hooks/commit-msg",
            ".git/hooks/post-checkout",
            ".git/hooks/post-commit",
            ".git/hooks/post-merge",
            ".git/hooks/post-rewrite",
            ".git/hooks/pre-applypatch",
            ".git/hooks/pre-auto-gc",
            ".git/hooks/pre-commit",
            ".git/hooks/pre-merge-commit",
            ".git/hooks/pre-push",
            ".git/hooks/pre-rebase",
            ".git/hooks/prepare-commit-msg",
            ".git/hooks/reference-transaction",
            ".gitattributes",
            ".gitmodules",
        ],
    ),
    (&["make", "gmake", "bmake"], &["GNUmakefile", "makefile", "Makefile", "BSDmakefile"]),
    (
        &["npm", "npx", "yarn", "pnpm", "bun", "bunx"],
        &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "pnpm-workspace.yaml",
            "bunfig.toml",
        ],
    ),
    (&["node", "nodejs"], &["package.json", "index.js"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task", "go-task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]),
    (&["bundle", "bundler"], &["Gemfile"]),
    (&["composer"], &["composer.json"]),
    (&["python", "python3", "pypy", "pypy3"], &["__main__.py"]),
    (
        &["pip", "pip3", "uv", "poetry", "tox", "nox"],
        &["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py"],
    ),
    (&["pytest", "py.test"], &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"]),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"]),
    (&["go"], &["go.mod", "go.work"]),
    (&["gradle", "gradlew"], &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    (&["mvn", "mvnw"], &["pom.xml"]),
    (
        &["docker", "podman", "nerdctl", "docker-compose", "podman-compose"],
        &[
            "Dockerfile",
            "Containerfile",
            "compose.yaml",
            "compose.yml",
            "docker-compose.yml",
            "docker-compose.yaml",
            ".env",
        ],
    ),
    (&["ansible", "ansible-playbook"], &["ansible.cfg"]),
    (&["vagrant"], &["Vagrantfile"]),
    (&["fastlane"], &["Fastfile", "fastlane/Fastfile"]),
    (&["fly", "flyctl"], &["fly.toml"]),
    (&["wrangler"], &["wrangler.toml", "wrangler.json", "wrangler.jsonc"]),
    (&["serverless", "sls"], &["serverless.yml"]),
    (&["skaffold"], &["skaffold.yaml"]),
    (&["helm"], &["Chart.yaml", "values.yaml"]),
];

/// Returns the default files of a program: those of its project, and those that it always obeys.
pub(super) fn of(program: &str) -> Vec<&'static str> {
    let program = unversioned(program);
    let row = IMPLIED.iter().find(|(names, _)| names.contains(&program));
    row.into_iter().flat_map(|(_, files)| files.iter().copied()).chain(obeyed_files(program)).collect()
}

/// Returns possible paths of modules that an interpreter is given by name: `python3 -m tool`, `node tool`.
pub(super) fn modules(program: &str, words: &[String]) -> Vec<String> {
    match unversioned(program) {
        "python" | "pypy" => {
            let is_flag = |word: &String| word == "-m" || word.starts_with('-') && word.ends_with('m');
            let behind = words.iter().skip_while(|word| !is_flag(word)).nth(1);
            let joined = words.iter().find_map(|word| word.strip_prefix("-m"));
            let names = behind.map(String::as_str).into_iter().chain(joined.filter(|name| !name.is_empty()));
            names.flat_map(|name| of_module(&name.replace('.', "/"))).collect()
        }
        "node" | "nodejs" | "bun" | "deno" => {
            let named = |word: &String| {
                [".js", ".mjs", ".cjs", ".ts", ".json", "/index.js"].map(|end| format!("{word}{end}"))
            };
            words.iter().filter(|word| !word.starts_with('-')).take(8).flat_map(named).collect()
        }
        _ => Vec::new(),
    }
}

fn of_module(path: &str) -> Vec<String> {
    let top = path.split('/').next().unwrap_or(path);
    vec![
        format!("{path}.py"),
        format!("{path}/__main__.py"),
        format!("{path}/__init__.py"),
        format!("{top}/__init__.py"),
    ]
}

/// Returns the name without its version: `python` for `python3.12`.
fn unversioned(program: &str) -> &str {
    program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_listed_twice() {
        let names: Vec<&str> = IMPLIED.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        for name in &names {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn a_version_is_no_part_of_a_name() {
        assert_eq!(of("python3.12"), of("python"));
        assert!(
            of("git").contains(&".git/config") && of("pip3").contains(&"setup.py") && of("ls").is_empty()
        );
    }
}
