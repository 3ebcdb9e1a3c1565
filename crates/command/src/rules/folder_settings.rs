//! Files in the working directory that determine which program an allowed command runs.

/// Programs that always run what a file in their directory sets, even for `--version`, and these files. `.` reads the file in its
/// argument.
pub(super) const OBEYS_FOLDER: &[(&str, &[&str])] = &[
    (".", &[]),
    ("bazel", &["tools/bazel"]),
    ("bazelisk", &["tools/bazel", ".bazelversion"]),
    ("bundle", &["Gemfile", "Gemfile.lock"]),
    ("cargo", &["rust-toolchain.toml"]),
    ("composer", &["composer.json"]),
    ("dotnet", &["global.json"]),
    ("flake8", &[".flake8"]),
    ("gradle", &["gradle.properties"]),
    ("jekyll", &["Gemfile"]),
    ("jest", &["node_modules/jest"]),
    ("lein", &["project.clj"]),
    ("lerna", &["node_modules/lerna"]),
    ("mocha", &[".mocharc.js"]),
    ("mvn", &[".mvn/jvm.config"]),
    ("nx", &["node_modules/nx"]),
    ("pnpm", &["package.json"]),
    ("poetry", &["pyproject.toml"]),
    ("pylint", &[".pylintrc"]),
    ("pytest", &["conftest.py"]),
    ("rustc", &["rust-toolchain.toml"]),
    ("rustfmt", &["rust-toolchain.toml"]),
    ("rustup", &["rust-toolchain.toml"]),
    ("sbt", &[".sbtopts"]),
    ("tox", &["toxfile.py"]),
    ("turbo", &["node_modules/turbo"]),
    ("webpack", &["node_modules/webpack-cli"]),
    ("yarn", &[".yarnrc"]),
];

/// Returns the known files in the working directory that determine what this program runs.
pub(crate) fn obeyed_files(program: &str) -> impl Iterator<Item = &'static str> {
    OBEYS_FOLDER.iter().filter(move |(name, _)| *name == program).flat_map(|(_, files)| files.iter().copied())
}

/// Returns whether a file in the working directory can determine what this program runs, even for its version option.
pub(super) fn obeys_folder(program: &str) -> bool {
    OBEYS_FOLDER.iter().any(|(name, _)| *name == program)
}

/// The reasons why no file in the working directory makes programs of an allowing rule run anything, by the prefix of the rule's
/// id.
#[cfg(test)]
pub(super) const WHY_NOT: &[(&str, &str)] = &[
    ("aws-", "settings of the user"),
    ("azure-", "settings of the user"),
    ("certificate-", "settings of the machine; `-config` is denied"),
    ("charts-", "settings of the user, whose plugins are the user's own"),
    (
        "cluster-",
        "settings of the user, whose helpers for logins are the user's own; `--kubeconfig` is denied",
    ),
    (
        "container-",
        "settings of the user; `docker compose ps` reads the compose file of the folder, and what that includes",
    ),
    ("forge-", "settings of the user; which repository it is about, git is asked for by its remotes alone"),
    ("gcloud-", "settings of the user"),
    ("git-", "looked at by itself: the repository that git would find"),
    ("job-", "none: words of the shell itself"),
    ("key-", "none"),
    ("machine", "settings of the user and of the machine"),
    ("manual", "settings of the user and of the machine"),
    ("read-ack", "`--noenv` is required, without which `.ackrc` of the folder is obeyed"),
    (
        "read-",
        "none, or names to leave out; ripgrep takes settings from a variable, jq and file from the home",
    ),
    ("read", "none"),
    ("remote-version", "none for the version"),
    ("schedule-", "none"),
    ("service-", "settings of the machine"),
    ("shell", "none: words of the shell itself"),
    ("terraform-check", "only reads how files are written"),
    ("terraform-read", "the version is its own"),
    ("version-", "not for those of the table above"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::CommandPolicy;
    use crate::rules::builtin;
    use crate::rules::effect::Effect;
    use stockade_shell::ReadOptions;

    #[test]
    fn every_rule_that_allows_says_why_no_folder_makes_it_run_anything() {
        for rule in builtin::rules().filter(|rule| rule.effect == Effect::Allow) {
            let why = WHY_NOT.iter().find(|(begins, _)| rule.id.starts_with(begins));
            assert!(why.is_some_and(|(_, why)| !why.is_empty()), "{}", rule.id);
        }
        for (begins, _) in WHY_NOT {
            assert!(builtin::rules().any(|rule| rule.id.starts_with(begins)), "{begins}");
        }
    }

    #[test]
    fn what_obeys_its_folder_is_never_allowed() {
        let policy = CommandPolicy::builtin();
        let effect =
            |text: &str| policy.decide(text, &ReadOptions::default(), &CommandContext::default()).effect;
        for (program, files) in OBEYS_FOLDER.iter().filter(|(program, _)| *program != ".") {
            for words in ["", " --version", " --help", " x"] {
                let text = format!("{program}{words}");
                assert!(effect(&text) > Effect::Allow, "{text} obeys {files:?}");
            }
            assert_eq!(effect(&format!("{program} --version")), Effect::Sandbox, "{program}");
        }
        assert!(effect("ack x") > Effect::Allow && effect("ack --noenv x src") == Effect::Allow);
        assert_eq!(effect("ruff --version"), Effect::Allow);
    }
}
