//! Archives and documents, made by ordinary tools.
#![expect(clippy::disallowed_methods, reason = "makes archives by the programs that make them")]

use std::fs;
use std::path::Path;
use std::process::Command;

use stockade_admission::scanner::Scanner;
use stockade_admission::{AdmitOptions, FileOptions, SkillSource, admit};

use crate::support::{ATTACK, folder, scan};

/// Writes archives of a file into another directory.
const MAKE: &str = r#"
import sys, zipfile, tarfile, gzip, py_compile
out, attack = sys.argv[1], open(sys.argv[2]).read()
word = "<w:document><w:p><w:r><w:t>%s</w:t></w:r><w:r><w:t>%s</w:t></w:r></w:p></w:document>" % (attack[:20], attack[20:].strip())
for name, method in (("deflated.zip", zipfile.ZIP_DEFLATED), ("stored.zip", zipfile.ZIP_STORED), ("lzma.zip", zipfile.ZIP_LZMA)):
    with zipfile.ZipFile(out + "/" + name, "w", method) as z:
        z.writestr("notes/SKILL.md", attack)
with zipfile.ZipFile(out + "/letter.docx", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("word/document.xml", word)
for name, mode in (("gnu.tar", "w"), ("notes.tgz", "w:gz"), ("notes.txz", "w:xz")):
    with tarfile.open(out + "/" + name, mode, format=tarfile.GNU_FORMAT) as t:
        t.add(sys.argv[2], arcname="long " * 24 + "/SKILL.md")
with tarfile.open(out + "/pax.tar", "w", format=tarfile.PAX_FORMAT) as t:
    t.add(sys.argv[2], arcname="žluť/" + "long " * 24)
with gzip.open(out + "/SKILL.md.gz", "wb") as g:
    g.write(attack.encode())
sealed = bytearray(open(out + "/deflated.zip", "rb").read())
sealed[6] |= 1
open(out + "/sealed.zip", "wb").write(sealed)
"#;

/// Makes the archives of a text.
fn archives(text: &str) -> tempfile::TempDir {
    let (made, from) = (folder(&[]), folder(&[("text", text.as_bytes())]));
    let made_it = Command::new("python3")
        .args(["-c", MAKE])
        .arg(made.path())
        .arg(from.path().join("text"))
        .output()
        .unwrap();
    assert!(made_it.status.success(), "{}", String::from_utf8_lossy(&made_it.stderr));
    made
}

#[test]
fn what_programs_pack_is_scanned() {
    let seen = scan(archives(ATTACK).path(), &FileOptions::default());
    for name in [
        "deflated.zip!/notes/SKILL.md",
        "stored.zip!/notes/SKILL.md",
        "letter.docx!/word/document.xml!/text",
        "SKILL.md.gz!/SKILL.md",
    ] {
        assert!(seen.contains(&format!("{name}: FOUND")), "{name}: {seen:#?}");
    }
    for archive in ["gnu.tar!", "pax.tar!", "notes.tgz!"] {
        assert!(
            seen.iter().any(|line| line.starts_with(archive) && line.ends_with(": FOUND")),
            "{archive}: {seen:#?}"
        );
    }
    for archive in ["lzma.zip", "notes.txz", "sealed.zip"] {
        assert!(
            seen.iter().any(|line| line.starts_with(&format!("{archive}: ")) && line.ends_with("unopened")),
            "{archive}: {seen:#?}"
        );
    }
}

/// An archive is judged by its members, and an unopened one is reported.
#[test]
fn a_skill_is_judged_by_what_it_packs() {
    let verdict = |archives: &Path, name: &str| {
        let skill =
            folder(&[("SKILL.md", b"---\nname: notes\ndescription: Keeps notes.\n---\nKeep notes.\n")]);
        fs::copy(archives.join(name), skill.path().join(name)).unwrap();
        let admitted =
            admit(&SkillSource::Path(skill.path()), Scanner::builtin(), &AdmitOptions::default()).unwrap();
        let told: Vec<String> =
            admitted.report().problems.iter().map(|problem| problem.rule.to_owned()).collect();
        (admitted.name(), told.contains(&"archive".to_owned()))
    };
    let (bad, good) = (archives(ATTACK), archives("Keep notes.\n"));
    for name in ["deflated.zip", "stored.zip", "letter.docx", "notes.tgz", "pax.tar", "SKILL.md.gz"] {
        assert_eq!(verdict(bad.path(), name), ("blocked", false), "{name}");
        assert_eq!(verdict(good.path(), name), ("accepted", false), "{name}");
    }
    for name in ["lzma.zip", "notes.txz", "sealed.zip"] {
        let (decided, told) = verdict(good.path(), name);
        assert!(decided != "accepted" && told, "{name}: {decided}");
    }
}
