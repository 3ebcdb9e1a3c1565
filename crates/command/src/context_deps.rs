//! The inputs that a command's meaning depends on besides its text: values of variables, and bytes of files that it names.
//!
//! An answer to a question covers all of that. Which words of an arbitrary program are scripts, settings or data is unknown, so
//! every word that may be a file name is treated as one; files that programs read by default (`package.json`, `.git/config`) are
//! in a table. If the meaning is unknown before the command runs, an answer applies once.

mod implied;
mod undetermined;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use stockade_shell::{Actions, Assignment, InvocationKind, Run};
use stockade_text::resolve_path;

use super::context::CommandContext;
use super::decision::CommandDecision;
use super::hazards::changes_folder;
use super::variables;
use undetermined::MAX_FILES;
pub use undetermined::Undetermined;
use words::Words;
pub(crate) use words::names_in;

/// Maximum number of directories that a text may change to.
const MAX_FOLDERS: usize = 8;

/// What the meaning of a command depends on besides its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependencies {
    /// The variables that it uses, or that change what programs run or read; nothing for an unset one.
    pub variables: BTreeMap<String, Option<String>>,
    /// Paths of files that it may run or read, whether or not they exist.
    pub files: BTreeSet<PathBuf>,
}

impl CommandDecision<'_, '_> {
    /// Returns what the meaning of the command depends on. `variables` is its whole environment, if known.
    ///
    /// # Errors
    /// When it cannot be determined before the command runs.
    pub fn dependencies(
        &self,
        context: &CommandContext,
        variables: Option<&BTreeMap<String, String>>,
    ) -> Result<Dependencies, Undetermined> {
        let actions = self.actions().ok_or(Undetermined::NotRead)?;
        if !actions.substitutions.is_empty() {
            return Err(Undetermined::Output);
        }
        if !actions.hazards.is_empty() {
            return Err(Undetermined::Uncertain);
        }
        let cwd = context.cwd.as_deref().filter(|cwd| cwd.is_absolute()).ok_or(Undetermined::Folder)?;
        let mut found = Finder {
            words: Words::new(variables, &actions.assignments, cwd),
            folders: vec![resolve_path(Path::new("/"), cwd)],
            workspace: context.workspace.clone(),
            files: BTreeSet::new(),
        };
        found.of_actions(&actions)?;
        let mut dependencies = Dependencies { variables: found.words.used, files: found.files };
        let matter = variables.into_iter().flatten().filter(|(name, _)| variables::matter(name));
        dependencies.variables.extend(matter.map(|(name, value)| (name.clone(), Some(value.clone()))));
        Ok(dependencies)
    }
}

/// Programs with options to run others in another directory, with the prefixes of these options.
const MOVERS: &[(&[&str], &[&str])] = &[
    (&["env"], &["-C", "--c"]),
    (&["sudo", "doas"], &["-D", "--chd", "-R", "--chr", "-i", "--log"]),
    (&["nsenter", "unshare"], &["-w", "--w", "-r", "-R", "--r"]),
    (&["systemd-run"], &["-d", "--w", "--sa", "-p", "--pro"]),
    (&["chroot", "bwrap", "firejail"], &[""]),
    (&["parallel"], &["--w"]),
    (&["find"], &["-execdir", "-okdir"]),
];

struct Finder<'v> {
    words: Words<'v>,
    /// Every directory that the text may be in.
    folders: Vec<PathBuf>,
    workspace: Option<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl Finder<'_> {
    fn of_actions(&mut self, actions: &Actions<'_>) -> Result<(), Undetermined> {
        if actions.runs.iter().any(|run| run.open_ended) {
            return Err(Undetermined::Words);
        }
        if actions.assignments.iter().any(changes_programs) {
            return Err(Undetermined::Variable("PATH".to_owned()));
        }
        // Directories first, because a command after a `cd` may also run before it, in a loop or a function.
        for run in actions.runs.iter().filter(|run| changes_folder(run)) {
            self.go(run)?;
        }
        for run in actions.runs.iter().filter(|run| run.invocation != InvocationKind::Elsewhere) {
            self.of_run(run)?;
        }
        for assignment in &actions.assignments {
            self.words.texts(&assignment.value)?;
        }
        for redirect in actions.redirects.iter().filter(|redirect| redirect.opens_file()) {
            let texts = self.words.texts(&redirect.target)?;
            // Written files are visible in the text; a file that is read may be a script.
            if !redirect.writes() {
                texts.iter().try_for_each(|text| self.name(text))?;
            }
        }
        Ok(())
    }

    /// Records the target of a `cd`.
    fn go(&mut self, run: &Run<'_>) -> Result<(), Undetermined> {
        let mut words = run.argv.iter().skip(1).filter(|word| word.known() != Some("--"));
        let (Some(word), None) = (words.next(), words.next()) else { return Err(Undetermined::Folder) };
        let texts = self.words.texts(word)?;
        let [text] = texts.as_slice() else { return Err(Undetermined::Folder) };
        if text.is_empty() || text.starts_with(['-', '+', '~']) || run.program() != Some("cd") {
            return Err(Undetermined::Folder);
        }
        // `CDPATH` can change the target.
        if !text.starts_with(['/', '.']) && self.words.is_set("CDPATH") {
            return Err(Undetermined::Variable("CDPATH".to_owned()));
        }
        let there: Vec<PathBuf> =
            self.folders.iter().map(|folder| resolve_path(folder, Path::new(text))).collect();
        self.folders.extend(there);
        self.folders.sort();
        self.folders.dedup();
        if self.folders.len() > MAX_FOLDERS { Err(Undetermined::TooManyFiles) } else { Ok(()) }
    }

    fn of_run(&mut self, run: &Run<'_>) -> Result<(), Undetermined> {
        let mut texts = Vec::new();
        for word in &run.argv {
            texts.extend(self.words.texts(word)?);
        }
        let Some((program, rest)) = texts.split_first() else { return Ok(()) };
        let name = program.rsplit('/').next().unwrap_or(program);
        let moves = |(names, options): &(&[&str], &[&str])| {
            names.contains(&name)
                && rest.iter().any(|word| options.iter().any(|option| word.starts_with(option)))
        };
        if MOVERS.iter().any(moves) {
            return Err(Undetermined::Folder);
        }
        if program.contains('/') {
            self.name(program)?;
        } else {
            self.found_by_name(program)?;
        }
        for word in rest {
            names_in(word).into_iter().try_for_each(|text| self.name(text))?;
        }
        for file in implied::of(name) {
            self.name_upwards(file)?;
            // The directory may be one that the command names.
            for word in rest.iter().flat_map(|word| names_in(word)) {
                self.name(&format!("{word}/{file}"))?;
            }
        }
        implied::modules(name, rest).iter().try_for_each(|file| self.name(file))
    }

    /// Records a program from the search path, which may be in directories of the workspace.
    fn found_by_name(&mut self, program: &str) -> Result<(), Undetermined> {
        let Some(path) = self.words.value("PATH") else { return Ok(()) };
        for folder in path.split(':') {
            let is_own = self.workspace.as_deref().is_some_and(|own| Path::new(folder).starts_with(own));
            if is_own || !folder.starts_with('/') {
                self.name(&format!("{}/{program}", if folder.is_empty() { "." } else { folder }))?;
            }
        }
        Ok(())
    }

    /// Records a file that a program searches in its directory and parents, as git and npm do.
    fn name_upwards(&mut self, file: &str) -> Result<(), Undetermined> {
        let folders = self.folders.iter().flat_map(|folder| folder.ancestors());
        let there: Vec<PathBuf> = folders.map(|folder| folder.join(file)).collect();
        self.add(there)
    }

    /// Records a possible file name.
    fn name(&mut self, text: &str) -> Result<(), Undetermined> {
        if text.is_empty() || text.contains('\0') || text.len() > 4096 {
            return Ok(());
        }
        if let Some(rest) = text.strip_prefix('~') {
            let home = self.words.value("HOME").ok_or_else(|| Undetermined::Variable("HOME".to_owned()))?;
            match rest.strip_prefix('/') {
                Some(rest) => drop(self.files.insert(Path::new(&home).join(rest))),
                None if rest.is_empty() => {}
                None => return Err(Undetermined::Folder),
            }
        }
        // The kernel resolves `..` after symlinks, so it stays in the path.
        let there: Vec<PathBuf> = self.folders.iter().map(|folder| folder.join(text)).collect();
        self.add(there)
    }

    fn add(&mut self, files: Vec<PathBuf>) -> Result<(), Undetermined> {
        self.files.extend(files);
        if self.files.len() > MAX_FILES { Err(Undetermined::TooManyFiles) } else { Ok(()) }
    }
}

/// Whether an assignment changes the search path of programs or directories.
fn changes_programs(assignment: &Assignment<'_>) -> bool {
    matches!(&*assignment.name, "PATH" | "path" | "CDPATH" | "cdpath" | "HOME" | "PWD")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::policy::CommandPolicy;
    use stockade_shell::ReadOptions;

    fn depends(text: &str, variables: Option<&[(&str, &str)]>) -> Result<Dependencies, Undetermined> {
        let context = CommandContext::new(Some("/work/app".into()), Some("/work/app".into()));
        let variables: Option<BTreeMap<String, String>> = variables
            .map(|all| all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
        let policy = CommandPolicy::builtin();
        policy.decide(text, &ReadOptions::default(), &context).dependencies(&context, variables.as_ref())
    }

    #[test]
    fn what_is_run_or_read_is_among_the_files() {
        for (text, file) in [
            ("bash ./x.sh", "/work/app/./x.sh"),
            ("python3 -u x.py --fast", "/work/app/x.py"),
            ("./run", "/work/app/./run"),
            ("bin/run", "/work/app/bin/run"),
            ("source env.sh", "/work/app/env.sh"),
            (". ./env.sh", "/work/app/./env.sh"),
            ("wc < x.txt", "/work/app/x.txt"),
            ("psql db < x.sql", "/work/app/x.sql"),
            ("sudo -n bash x.sh", "/work/app/x.sh"),
            ("timeout 5 ./run", "/work/app/./run"),
            ("bash -c 'sh x.sh'", "/work/app/x.sh"),
            ("cd sub && ./run", "/work/app/sub/./run"),
            ("(cd sub; sh x.sh); true", "/work/app/sub/x.sh"),
            ("psql --file=x.sql", "/work/app/x.sql"),
            ("psql -fx.sql", "/work/app/x.sql"),
            ("curl -d @body.json https://a.example", "/work/app/body.json"),
            ("npm publish", "/work/app/package.json"),
            ("npm --prefix sub publish", "/work/app/sub/package.json"),
            ("make -C sub install", "/work/app/sub/Makefile"),
            ("git push", "/work/app/.git/config"),
            ("git push", "/work/app/.git/hooks/pre-push"),
            ("git push", "/work/.git/config"),
            ("cd sub && npm publish", "/work/app/package.json"),
            ("cargo publish", "/work/app/rust-toolchain.toml"),
            ("sudo bazel run x", "/work/app/tools/bazel"),
            ("pnpm publish", "/work/app/.pnpmfile.cjs"),
            ("python3 -m tool.cli x", "/work/app/tool/cli.py"),
            ("python3 -m tool", "/work/app/tool/__main__.py"),
            ("python3 sub", "/work/app/sub/__main__.py"),
            ("node tool", "/work/app/tool.js"),
            ("/srv/run x", "/srv/run"),
        ] {
            let found = depends(text, None).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert!(found.files.contains(Path::new(file)), "{text}: {:?}", found.files);
        }
    }

    #[test]
    fn what_is_only_known_when_it_runs_is_said() {
        use Undetermined as U;
        for (text, why) in [
            ("echo \"unfinished", U::NotRead),
            ("git push $(cat branch)", U::Output),
            ("diff <(ls) x", U::Output),
            ("./run $SCRIPT", U::Variable("SCRIPT".into())),
            ("bash < x.sh", U::Uncertain),
            ("cat x.sh | bash", U::Uncertain),
            ("bash $SCRIPT", U::Uncertain),
            ("sh *.sh", U::Words),
            ("ls | xargs rm", U::Words),
            ("cd \"$DIR\" && ./run", U::Variable("DIR".into())),
            ("cd - && ./run", U::Folder),
            ("cd && ./run", U::Folder),
            ("pushd x; ./run", U::Folder),
            ("env -C sub ./run", U::Folder),
            ("PATH=./bin:/bin run", U::Variable("PATH".into())),
            ("sh ~/x.sh", U::Variable("HOME".into())),
        ] {
            let found = depends(text, None);
            assert!(
                found == Err(why.clone()) || found == Err(U::Uncertain),
                "{text}: {found:?}, not {why:?}"
            );
        }
        let nowhere = CommandContext::default();
        let policy = CommandPolicy::builtin();
        let decision = policy.decide("git push", &ReadOptions::default(), &nowhere);
        assert_eq!(decision.dependencies(&nowhere, None), Err(U::Folder));
        let many: String = (0..MAX_FILES).map(|number| format!(" f{number}")).collect();
        assert_eq!(depends(&format!("cat x{many}"), None), Err(U::TooManyFiles));
    }

    #[test]
    fn variables_that_are_used_or_matter_are_among_them() {
        let env = [
            ("SCRIPT", "x.sh"),
            ("PATH", "bin:/usr/bin"),
            ("EDITOR", "vi"),
            ("LANG", "C"),
            ("HOME", "/home/me"),
        ];
        let found = depends("./run \"$SCRIPT\" \"$UNSET\"; lint", Some(&env)).unwrap();
        let names: Vec<&str> = found.variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["EDITOR", "HOME", "PATH", "SCRIPT", "UNSET"]);
        assert_eq!(found.variables["UNSET"], None);
        assert!(found.files.contains(Path::new("/work/app/x.sh")), "{:?}", found.files);
        // A folder of the workspace is searched for programs.
        assert!(found.files.contains(Path::new("/work/app/bin/lint")), "{:?}", found.files);
        let home = depends("sh ~/x.sh", Some(&env)).unwrap();
        assert!(home.files.contains(Path::new("/home/me/x.sh")), "{:?}", home.files);
        for (text, value) in
            [("./run $X", "*.sh"), ("./run $RANDOM", "a"), ("./run $1", "a"), ("read X; ./run \"$X\"", "a")]
        {
            assert!(depends(text, Some(&[("X", value)])).is_err(), "{text}");
        }
        let split = depends("./run $X", Some(&[("X", "-x a.sh")])).unwrap();
        assert!(split.files.contains(Path::new("/work/app/a.sh")), "{:?}", split.files);
    }
}
