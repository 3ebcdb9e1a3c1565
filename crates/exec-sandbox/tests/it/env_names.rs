//! Environment files that are shown with the names of variables and without values.

#![expect(clippy::disallowed_methods, reason = "makes files to show")]

use std::fs;
use std::path::Path;
use std::process::Command;

use stockade_exec_sandbox::host::HostFacts;
use stockade_exec_sandbox::seatbelt::seatbelt_plan;
use stockade_exec_sandbox::{End, ReviewMode, SandboxBackend, SandboxSpec, plan, probe};

use crate::live::{Live, NamesAre, each, read};
use crate::saved_meanwhile::{WAIT, printed, save, while_it_runs};

const TEXT: &str = "PORT=8080\n# TOKEN=OLD\nexport TOKEN=SECRET # it\nKEY=\"SECRET\nINNER=SECRET\n\"\n";
const NAMES: &str = "PORT=\nTOKEN=\nKEY=\n";

fn names(printed: &str) -> String {
    printed.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn names_are_shown_and_values_are_not() {
    for backend in each().filter(|it| *it != SandboxBackend::Landlock) {
        for review in [ReviewMode::Off, ReviewMode::Undoable] {
            let Some(live) = Live::new() else { return };
            let root = live.workspace();
            fs::create_dir(root.join("app")).unwrap();
            fs::write(root.join("app/.env"), TEXT).unwrap();
            fs::write(root.join(".env"), TEXT).unwrap();
            let script = "cat app/.env .env 2> /dev/null; for f in app/.env .env; do echo X=1 >> $f; rm -f $f; mv $f x; done \
                2> /dev/null; find . -name '*env*' -type f -exec cat {} + > all 2> /dev/null; echo >> all; test -s all";
            let outcome = live.run(&["sh", "-c", script], |spec| {
                (spec.backend, spec.review) = (backend, review);
                spec.env_names = vec![root.join("app/.env"), root.join(".env.missing")];
            });
            let outcome = outcome.unwrap();
            assert_eq!(outcome.end, End::Exited(0), "{backend:?} {outcome:?}");
            assert_eq!(names(&printed(&outcome)), NAMES, "{backend:?}");
            for path in ["app/.env", ".env"] {
                assert_eq!(read(&root.join(path)), TEXT, "{backend:?} {path}");
            }
            assert!(!root.join("x").exists() && !read(&root.join("all")).contains("SECRET"), "{backend:?}");
        }
    }
}

/// The stricter of two options wins, whatever their order is.
#[test]
fn a_file_that_is_shown_is_no_milder_for_it() {
    let Some(live) = Live::new() else { return };
    let file = live.workspace().join(".env");
    fs::write(&file, TEXT).unwrap();
    let run = |change: fn(&mut SandboxSpec, &Path)| {
        let change = |spec: &mut SandboxSpec| {
            spec.env_names.push(file.clone());
            change(spec, &file);
        };
        printed(&live.run(&["sh", "-c", "cat .env; true"], change).unwrap())
    };
    assert_eq!(names(&run(|spec, file| spec.read_only.push(file.to_path_buf()))), NAMES);
    assert_eq!(names(&run(|spec, file| spec.hidden.push(file.to_path_buf()))), "");
    assert_eq!(names(&run(|spec, file| spec.unwritable.push(file.to_path_buf()))), NAMES);
    // A file that no rule hides is shown without values as well.
    fs::write(live.workspace().join("settings"), TEXT).unwrap();
    let other = live.workspace().join("settings");
    let outcome = live.run(&["cat", "settings"], |spec| spec.env_names = vec![other]).unwrap();
    assert_eq!(names(&printed(&outcome)), NAMES);
}

fn in_place(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn what_is_saved_meanwhile_is_hidden() {
    for backend in each().filter(|it| *it != SandboxBackend::Landlock) {
        // Saved in place, the old names stay; saved by a rename, the file is hidden.
        for (saves, expected) in [(in_place as fn(&Path, &str), NAMES), (save, "")] {
            let Some(live) = Live::with_names(NamesAre::Decided) else { return };
            let file = live.workspace().join(".env");
            fs::write(&file, TEXT).unwrap();
            let change =
                |spec: &mut SandboxSpec| (spec.backend, spec.env_names) = (backend, vec![file.clone()]);
            let outcome = while_it_runs(&live, &format!("{WAIT} cat .env; true"), change, |root| {
                saves(&root.join(".env"), "NEW=SECRET\n");
            });
            assert_eq!(names(&printed(&outcome)), expected, "{backend:?}");
        }
    }
}

#[test]
fn what_cannot_be_shown_without_values_is_refused() {
    let live = Live::bare();
    let root = live.workspace();
    fs::write(root.join(".env"), TEXT).unwrap();
    fs::write(root.join("large"), "A=1\n".repeat(1 << 19)).unwrap();
    fs::write(root.join("binary"), [0xff, 0xfe]).unwrap();
    fs::create_dir(root.join("folder")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
    let refusal = |path: &Path, backend: SandboxBackend| {
        let mut spec = SandboxSpec::new(&root, ["true"]);
        (spec.backend, spec.env_names) = (backend, vec![path.to_path_buf()]);
        let mut facts = probe(&spec);
        facts.workspace_owner = Some((facts.user, facts.group));
        plan(&spec, &facts).err().map(|refusal| format!("{refusal}; {}", refusal.fix))
    };
    for name in ["large", "binary", "folder", "link"] {
        let refused = refusal(&root.join(name), SandboxBackend::Native).unwrap();
        assert!(refused.contains("name a text file"), "{name}: {refused}");
    }
    assert!(refusal(Path::new("work/.env"), SandboxBackend::Native).unwrap().contains("absolute path"));
    let walled = refusal(&root.join(".env"), SandboxBackend::Landlock).unwrap();
    assert!(walled.contains("choose the native backend"), "{walled}");
    // A commit would record what the command sees. What git does not track is not in a commit: it is ignored there.
    let git = |words: &[&str]| {
        Command::new("git").args(words).current_dir(&root).output().unwrap().status.success()
    };
    assert!(git(&["init", "-q", "."]) && git(&["add", "large"]));
    assert_eq!(refusal(&root.join(".env"), SandboxBackend::Native), None);
    assert!(git(&["add", "-f", ".env"]));
    let tracked = refusal(&root.join(".env"), SandboxBackend::Native).unwrap();
    let fix = format!("git rm --cached {}", root.join(".env").display());
    assert!(tracked.contains("git tracks it") && tracked.contains(&fix), "{tracked}");
    fs::write(root.join(".git/index"), "DIRC unreadable").unwrap();
    assert!(refusal(&root.join(".env"), SandboxBackend::Native).is_some(), "any file may be in it");
    let mut spec = SandboxSpec::new("/srv/w", ["/bin/true"]);
    spec.env_names.push("/srv/w/.env".into());
    let refused = seatbelt_plan(&spec, &HostFacts::default()).unwrap_err().to_string();
    assert!(refused.contains("names in a file without its values"), "{refused}");
}
