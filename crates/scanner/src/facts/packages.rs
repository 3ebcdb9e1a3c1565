//! Packages that a command installs, and where they come from.

use std::ops::Range;

use stockade_shell::{ReadOptions, Run, Script};

use super::fact::{FactPlace, PackageFact, PackageSource};
use super::known::{is_known, is_vendor};
use super::popular::{Registry, resembles};
use super::wiring::{last_part, spelled};

/// Maximum length of a command that is read for its packages, and of packages of one command.
const MAX_COMMAND: usize = 512;
const MAX_PACKAGES: usize = 64;

/// A program that installs packages.
struct Manager {
    programs: &'static [&'static str],
    /// Words of which one must come first; none if the program runs packages by itself.
    verbs: &'static [&'static str],
    /// Options with a value that is no package.
    with_value: &'static [&'static str],
    registry: Registry,
}

const MANAGERS: &[Manager] = &[
    Manager {
        programs: &["npm", "pnpm", "yarn", "bun"],
        verbs: &["install", "i", "add", "exec", "dlx", "x"],
        with_value: &[
            "--registry",
            "--prefix",
            "-C",
            "--dir",
            "--cwd",
            "--filter",
            "-w",
            "--workspace",
            "--tag",
        ],
        registry: Registry::Npm,
    },
    Manager {
        programs: &["npx", "bunx", "pnpx"],
        verbs: &[],
        with_value: &["-c", "--call"],
        registry: Registry::Npm,
    },
    Manager {
        programs: &["pip", "pip3", "pipx", "uv", "poetry", "pdm"],
        verbs: &["install", "add", "run"],
        with_value: PYTHON_VALUES,
        registry: Registry::Python,
    },
    Manager { programs: &["uvx"], verbs: &[], with_value: PYTHON_VALUES, registry: Registry::Python },
    Manager {
        programs: &["go"],
        verbs: &["install", "get", "run"],
        with_value: &["-C"],
        registry: Registry::Other,
    },
    Manager {
        programs: &["cargo", "gem"],
        verbs: &["install"],
        with_value: &["--branch", "--tag", "--rev", "--version", "-v", "--root", "--source"],
        registry: Registry::Other,
    },
    Manager { programs: &["brew"], verbs: &["install", "tap"], with_value: &[], registry: Registry::Other },
];

const PYTHON_VALUES: &[&str] = &[
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "-t",
    "--target",
    "--python",
    "-p",
    "--group",
    "-G",
    "--prefix",
    "--root",
];

/// Programs that run a manager as a module, and subcommands before its verb.
const MODULES: &[&str] = &["python", "python3", "py"];
const BEFORE_VERB: &[&str] = &["-m", "pip", "pip3", "tool", "global", "-y", "--yes"];

/// Places of packages other than a registry: addresses, and short forms of code hosts.
const SCHEMES: &[&str] = &[
    "http://",
    "https://",
    "git://",
    "ssh://",
    "git+",
    "github:",
    "gitlab:",
    "bitbucket:",
    "gist:",
    "git@",
    "hg+",
    "svn+",
];

/// Returns the packages that a command installs.
pub(super) fn packages(run: &Run<'_>, place: &FactPlace) -> Vec<PackageFact> {
    let words: Vec<String> = run.argv.iter().map(spelled).collect();
    of_words(&words, place)
}

/// Returns the packages of a command, by its words.
fn of_words(words: &[String], place: &FactPlace) -> Vec<PackageFact> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let is_module = MODULES.contains(&last_part(program)) && rest.first().is_some_and(|word| word == "-m");
    let program = if is_module { "pip" } else { last_part(program) };
    let Some(manager) = MANAGERS.iter().find(|manager| manager.programs.contains(&program)) else {
        return Vec::new();
    };
    let mut rest = rest.iter().skip_while(|word| BEFORE_VERB.contains(&word.as_str())).peekable();
    if !manager.verbs.is_empty() && rest.next_if(|word| manager.verbs.contains(&word.as_str())).is_none() {
        return Vec::new();
    }
    let mut is_value = false;
    let packages = rest.filter(|word| {
        let waits = manager.with_value.contains(&word.as_str());
        !std::mem::replace(&mut is_value, waits)
            && !word.starts_with('-')
            && !word.starts_with(['.', '/', '~', '$'])
    });
    // A program that runs a package passes on the words behind it.
    let count = if manager.verbs.is_empty() { 1 } else { MAX_PACKAGES };
    let packages = packages.take(count).filter(|word| !word.is_empty());
    packages.map(|word| package(program, word, manager.registry, place)).collect()
}

fn package(program: &str, word: &str, registry: Registry, place: &FactPlace) -> PackageFact {
    // `name @ https://…`, as Python spells it, is one word or three.
    let address = word
        .split_once(" @ ")
        .or_else(|| word.split_once("@http").map(|(name, _)| (name, word)))
        .map_or(word, |(_, it)| it.trim());
    let is_address = SCHEMES.iter().any(|scheme| address.starts_with(scheme)) || address.contains("@http");
    let (owner, _) = word.split_once('/').unwrap_or_default();
    let is_short = !owner.is_empty() && !owner.contains(['@', ':', '.']);
    let source = match registry {
        _ if is_address => PackageSource::Address,
        // `owner/repository` of a code host, and a tap of Homebrew.
        Registry::Npm if is_short => PackageSource::Address,
        Registry::Other if program == "brew" && is_short => PackageSource::Address,
        _ => PackageSource::Registry,
    };
    let is_vendors = || {
        let address = address.strip_prefix("git+").unwrap_or(address);
        let of_short = address.strip_prefix("github:").unwrap_or(word);
        is_known(address) || is_vendor(of_short.split('/').next().unwrap_or_default())
    };
    let known_vendor = source == PackageSource::Registry || is_vendors();
    let name = if source == PackageSource::Registry { without_version(word) } else { word };
    let like = if source == PackageSource::Registry { resembles(registry, name) } else { None };
    PackageFact {
        manager: program.to_owned(),
        name: name.to_owned(),
        source,
        known_vendor,
        resembles: like.map(str::to_owned),
        place: place.clone(),
    }
}

/// Returns a name without a version or extras: `react@18`, `requests>=2`, `uvicorn[standard]`.
fn without_version(word: &str) -> &str {
    let scope = usize::from(word.starts_with('@'));
    let rest = word.get(scope..).unwrap_or_default();
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
    let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
    word.get(..scope + end).unwrap_or(word)
}

/// A command, and the packages that it installs.
#[derive(Debug)]
pub(crate) struct Installs {
    pub(crate) span: Range<usize>,
    pub(crate) packages: Vec<PackageFact>,
}

/// Returns the length of the line of commands that a text begins with, and the commands in it with their packages.
pub(crate) fn packages_at(text: &str) -> (usize, Vec<Installs>) {
    let near = text.get(..text.floor_char_boundary(MAX_COMMAND)).unwrap_or_default();
    let mut length = 0;
    for line in near.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end_matches(['\r', '\n']).ends_with('\\') {
            break;
        }
    }
    let command = near.get(..length).unwrap_or_default();
    let command = within_quotes(command.split('`').next().unwrap_or_default());
    let script = Script::read_partly(command, &ReadOptions::default());
    let actions = script.actions();
    let of_run = |run: &Run<'_>| Installs {
        span: run.span.start..run.span.end,
        packages: packages(run, &FactPlace::default()),
    };
    (command.len().max(1), actions.runs.iter().map(of_run).collect())
}

/// Returns a command up to the first quote without a partner: the end of a string of another language around it, or an
/// apostrophe in a comment.
fn within_quotes(command: &str) -> &str {
    let mut from = 0;
    while let Some(at) = command.get(from..).and_then(|rest| rest.find(['"', '\''])) {
        let at = from + at;
        let rest = command.get(at..).unwrap_or_default();
        let quote = rest.chars().next().unwrap_or_default();
        match rest.get(1..).and_then(|rest| rest.find(quote)) {
            Some(length) => from = at + length + 2,
            None => return command.get(..at).unwrap_or_default(),
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str) -> Vec<PackageFact> {
        packages_at(command).1.into_iter().flat_map(|command| command.packages).collect()
    }

    #[test]
    fn packages_from_an_address_are_told_from_those_of_a_registry() {
        for command in [
            "npx -y github:someone-else/tool --flag",
            "npm install someone-else/tool",
            "npm i -g https://x.example/t.tgz",
            "pip install git+https://github.com/someone-else/tool.git@main",
            "python3 -m pip install https://x.example/t-1.0-py3-none-any.whl",
            "uv pip install 'tool @ https://x.example/t.whl'",
            "uvx git+https://x.example/t",
            "cargo install --git https://x.example/t",
            "brew tap someone-else/tools",
            "brew install someone-else/tools/helper",
            "pnpm dlx github:someone-else/tool",
        ] {
            let packages = found(command);
            assert!(
                packages.iter().any(|it| it.source == PackageSource::Address && !it.known_vendor),
                "{command}: {packages:?}"
            );
        }
        for command in [
            "npm install react",
            "npm i @scope/name",
            "npm install ./local",
            "pip install -r https.txt requests",
            "pip install git+https://github.com/huggingface/transformers",
            "npx -y github:microsoft/tool",
            "npx create-next-app my/app",
            "go install golang.org/x/tools/gopls@latest",
            "brew install jq",
            "brew install hashicorp/tap/terraform",
            "npm run build",
            "cargo run -- --git https://x.example",
        ] {
            let packages = found(command);
            assert!(packages.iter().all(|it| it.known_vendor), "{command}: {packages:?}");
        }
    }

    #[test]
    fn names_near_a_popular_one_are_told() {
        for command in [
            "npm install reactt",
            "pip install requsets",
            "npm i axois@1",
            "yarn add lodahs",
            "pip3 install pandsa==2",
        ] {
            assert!(found(command).iter().any(|it| it.resembles.is_some()), "{command}");
        }
        for command in [
            "npm install react preact lodash vitest",
            "pip install requests pandas httpx psycopg2 beautifulsoup4",
            "npm i @me/reactt",
            "npm i color colors tslint",
            "pip install requests\", file=sys.stderr)",
            "pip install requests pillow', '')",
        ] {
            assert!(
                found(command).iter().all(|it| it.resembles.is_none()),
                "{command}: {:?}",
                found(command)
            );
        }
    }
}
