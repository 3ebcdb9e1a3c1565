//! Options of commonly allowed programs that run, load, write or send their value.
//!
//! A rule that allows `git log` or `cargo test` is meant for everyday use, and not for `--output` or `--config`, which write any
//! file or run any program. So these options are hazards even if a rule allows the program, unless the rule includes the option.
//! A sandbox is sufficient for all of them: it contains neither secrets nor a network.

use std::sync::LazyLock;

use super::Floor::Sandbox;
use super::Hazard;
use super::command::Command;
use super::shape::Shape;
use stockade_shell::lookup::{ByName, Names, by_name, names};

type Loading = (&'static [&'static str], &'static str);

/// The hazard of an option that runs, loads, writes or sends.
pub(crate) const OPTION_LOADS_ID: &str = "option-loads";

/// Programs with such options: as a word, before a `=`, or one letter with its value in the same word. A trailing `*` matches any
/// continuation. The sources are the manual pages and GTFOBins.
#[rustfmt::skip]
const LOADING: &[Loading] = &[
    // Development tools, whose settings can be programs.
    (&["git"], "--output --output-directory"),
    (&["go"], "-vettool -ldflags -gcflags -asmflags -gccgoflags -modfile -pkgdir -o -C"),
    (&["cargo"], "--config --manifest-path -C -Z --target-dir"),
    (&["npm", "pnpm", "yarn", "bun"], "--prefix -C --dir --cwd --userconfig --globalconfig --init-module --use-node-version --use-yarnrc --script-shell \
        --config"),
    (&["bundle", "bundler"], "--gemfile --path --binstubs --shebang"),
    (&["make", "gmake", "bmake"], "-f --file --makefile -C --directory -I --include-dir"),
    (&["pytest", "py.test"], "-p -c --config-file --rootdir --confcutdir -o --override-ini"),
    (&["pylint"], "--init-hook --load-plugins --rcfile"),
    (&["flake8", "black", "isort", "mypy", "ruff", "bandit"], "--config --append-config --config-file --settings-path --settings-file --output-file -o"),
    (&["jest", "vitest"], "-c --config --globalSetup --globalTeardown --testEnvironment --runner --reporters --reporter --transform --setupFiles \
        --setupFilesAfterEnv --resolver --testRunner --testSequencer --watchPlugins --rootDir --root --environment"),
    (&["eslint", "stylelint", "prettier"], "-c --config -f --format --formatter --rulesdir --resolve-plugins-relative-to --parser --plugin --plugins -o --output-file --config-basedir --custom-formatter"),
    (&["mocha", "nyc", "c8"], "-r --require --config --opts -R --reporter -u --ui --file --loader --import"),
    (&["tsc", "webpack", "rollup", "vite", "esbuild", "babel"], "--outFile --outDir --out-file --out-dir -o --outfile --outdir -p --project -c --config --plugin --plugins --build-mode"),
    (&["gradle", "gradlew"], "-I --init-script -b --build-file -p --project-dir -c --settings-file --include-build"),
    (&["mvn", "ant"], "-f --file -s --settings -gs -Dexec* -Dmaven.ext* -l --log-file -buildfile -lib -logger -listener"),
    (&["pandoc"], "--filter -F --lua-filter -L --pdf-engine --template -o --output --defaults -d --extract-media"),
    (&["protoc"], "--plugin"),
    (&["rustc", "rustdoc"], "-C --codegen -Z -o --out-dir -l -L --extern --test-runtool"),
    (&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld"], "-B* -T -Wl,* -Xlinker -fuse-ld -imacros -include --plugin -plugin"),
    (&["cmake", "ninja", "meson", "bazel"], "-P -C -E -f --run_under --bazelrc --output_base --native-file --cross-file"),
    (&["R", "Rscript", "julia", "octave", "gnuplot", "ghc", "ghci"], "-e --eval -E --execute -pgm*"),
    (&["pip", "pip3"], "--editor --global-option --build-option --config-settings --target -t --prefix --log"),
    (&["cabal", "stack"], "--project-file --with-compiler exec"),
    // Databases: words that start with a dot or a backslash run programs or access files.
    (&["sqlite3"], ".shell* .system* .load* .output* .once* .import* .read* .backup* .save* .dump* .excel*"),
    (&["psql"], "-f --file -o --output -L --log-file"),
    (&["mysql", "mariadb"], "--tee --init-command --default-auth --plugin-dir --pager --socket"),
    // Documents and media.
    (&["tex", "latex", "pdflatex", "pdftex", "xelatex", "lualatex", "luatex", "dvips", "latexmk"],
        "--shell-escape -shell-escape --enable-write18 -enable-write18 -pdflatex* -latex* -e -r -R0 \\*"),
    (&["exiftool", "convert", "magick", "ffmpeg", "dos2unix", "unix2dos"], "-W -w -n -config -if"),
    (&["enscript", "groff", "troff"], "-I -U -P"),
    (&["yt-dlp", "youtube-dl"], "--exec --config-locations --plugin-dirs --downloader --external-downloader -o --output"),
    // Network programs.
    (&["wget", "wget2"], "-O --output-document --post-data --post-file --body-data --body-file -e --execute --use-askpass -i --input-file -P -o -a --warc-file"),
    (&["curl"], "-K --config -o --output -O --remote-name -T --upload-file -d --data* -F --form* --output-dir -E --engine --dump-header -D -c --cookie-jar"),
    (&["aria2c"], "-o -d --dir --out --on-*"),
    (&["ab", "whois", "cancel"], "-p -v2 -h"),
    (&["hping3", "nmap"], "--file --script* -oN -oX -oG -oA -iL"),
    (&["smbclient", "lftp", "ftp", "tftp", "socket", "openvpn", "dhclient", "borg", "rclone"],
        "-c -e -svp -p --up --down --route-up --tls-verify --script-security -sf --rsh --config --plugin"),
    (&["ssh-copy-id", "mail", "mailx", "mutt", "certbot"],
        "-i -t --exec -e -H -f --pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook \
         --manual-cleanup-hook"),
    (&["code", "codium"], "tunnel --install-extension --extensions-dir --user-data-dir serve-web"),
    (&["tailscale", "cloudflared", "ngrok"], "serve funnel file ssh tunnel access http tcp"),
    // The system.
    (&["rpm", "rpmquery", "rpmverify", "rpmbuild"], "--eval -E --pipe --define -D --load --rcfile --macros --root"),
    (&["systemd-run", "busctl", "plymouth", "pidstat", "xdotool", "fzf"],
        "-S --shell --address --command -e exec --listen --pty -t --host -H -M --machine"),
    (&["msgfilter", "csvtool", "jrunscript", "clisp", "dosbox", "emacs", "vim", "vi", "nvim", "view", "ex", "nano", "pico"],
        "-P call -e -f -x -c --cmd -S -u -s --eval --load -l --script --speller +*"),
    (&["shuf", "sort", "gtester", "iconv"], "-o --output"),
    (&["rlwrap", "script"], "-l -c --command"),
    (&["openssl"], "-out -writerand"),
    (&["cdist", "codex"], "shell sandbox exec"),
];

static LOADING_BY_NAME: LazyLock<ByName<Vec<&'static Loading>>> =
    LazyLock::new(|| by_name(LOADING, |(names, _)| names));

/// Programs whose purpose is to run other programs or code.
const LAUNCHING: &[&str] = &[
    "choom",
    "grc",
    "multitime",
    "softlimit",
    "openvt",
    "sshpass",
    "setarch",
    "linux32",
    "linux64",
    "prlimit",
    "numactl",
    "uftrace",
    "faketime",
    "firejail",
    "proot",
    "fakeroot",
    "dbus-run-session",
    "xvfb-run",
    "cpulimit",
    "chpst",
    "setlock",
    "unbuffer",
    "posh",
    "rc",
    "yash",
    "es",
    "elvish",
    "nu",
    "xonsh",
    "dc",
    "m4",
    "lwp-download",
    "lwp-request",
    "xdg-user-dir",
    "scp",
    "sftp",
];

static LAUNCHES: LazyLock<Names> = LazyLock::new(|| names(LAUNCHING));

/// Returns the options with which a command runs, loads, writes or sends something unexpected.
pub(super) fn loading_words<'r>(command: &Command<'r, '_>) -> Vec<&'r str> {
    if LAUNCHES.contains(command.name) {
        return vec![command.name];
    }
    let Some(rows) = LOADING_BY_NAME.get(command.name) else { return Vec::new() };
    let leaves = |word: &str| word.contains("\\!") && matches!(command.name, "psql" | "mysql" | "mariadb");
    let options = || rows.iter().flat_map(|(_, options)| options.split_ascii_whitespace());
    let loads = |word: &&str| leaves(word) || options().any(|option| is_option(word, option));
    command.known().filter(loads).collect()
}

/// Returns the hazard of a command's options.
pub(super) fn of_command(command: &Command<'_, '_>, found: &mut Vec<Hazard>) {
    let shapes = SHAPES.iter().filter(|shape| (shape.fires)(command));
    found.extend(shapes.map(|shape| shape.hazard(command.run.span)));
}

/// Whether the words of a rule include every such option of a command. Programs that run others are excluded.
pub(super) fn are_named(command: &Command<'_, '_>, words: &[Vec<String>]) -> bool {
    let is_named = |option: &str| {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        // Only values that the rule includes are permitted.
        words.iter().flatten().any(|word| word == option || word == name)
    };
    !LAUNCHES.contains(command.name) && loading_words(command).into_iter().all(is_named)
}

/// Whether a word is this option: itself, abbreviated, or followed by a value.
fn is_option(word: &str, option: &str) -> bool {
    if let Some(beginning) = option.strip_suffix('*') {
        return word.starts_with(beginning);
    }
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if name == option {
        return true;
    }
    match option.as_bytes() {
        // Six letters of a long option identify it almost uniquely.
        [b'-', b'-', ..] => name.len() >= 6 && option.starts_with(name),
        // `-ofile`: a one-letter option with its value in the same word.
        [b'-', letter] if letter.is_ascii_alphabetic() => {
            !word.starts_with("--") && word.len() > 2 && word.starts_with(option)
        }
        _ => false,
    }
}

pub(super) const SHAPES: &[Shape] = &[Shape {
    id: OPTION_LOADS_ID,
    floor: Sandbox,
    // Checked by `of_command`, which looks up the program in the tables above.
    programs: &[],
    fires: |command| !loading_words(command).is_empty(),
    reason: "has an option that runs, loads, writes or sends its value",
    fix: "remove the option, or add it to the rule that allows the command",
    matches: &[
        "git log --output=/etc/cron.d/x",
        "git diff --outp=x a b",
        "go vet -vettool=./evil",
        "go test -ldflags=-extld=./evil ./...",
        "cargo test --config 'target.x.runner=\"./evil\"'",
        "npm test --prefix /tmp/evil",
        "make test -f /tmp/evil.mk",
        "pytest -p evil",
        "pylint --init-hook='import os' x.py",
        "jest --globalSetup ./evil.js",
        "eslint -f ./evil.js .",
        "mocha -r ./evil",
        "gradle test -I evil",
        "pandoc --filter ./evil x.md",
        "sqlite3 x '.shell id'",
        "psql -c '\\! id'",
        "protoc --plugin=./evil x.proto",
        "rustc -C linker=./evil x.rs",
        "gcc -B./evil x.c",
        "R --no-save -e 'system(\"id\")'",
        "yt-dlp x --exec 'id #'",
        "rpm --eval '%(id)'",
        "choom -n 0 id",
        "wget http://x.example -O /tmp/x",
        "sort -m -o x y",
        "openssl enc -in a -out b",
    ],
    clean: &[
        "git log --oneline -5",
        "git diff --stat",
        "go test ./...",
        "cargo test --release",
        "npm test",
        "make test",
        "pytest -q tests",
        "eslint src",
        "sort -n x",
        "sort -u x",
        "sqlite3 x 'select 1'",
        "psql -c 'select 1'",
        "gcc -c x.c",
        "vim x",
        "pandoc x.md",
        "openssl sha256 x",
    ],
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_listed_twice() {
        let mut listed: Vec<&str> = LOADING.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        listed.extend(LAUNCHING);
        let count = listed.len();
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), count);
    }
}
