//! The clients that come with this repository do what they show.

use std::process::Command;

use crate::support::{path_with_stockade, repository};

const SHOWN: &str = "\
sanitize: Say hi.
scan: CRITICAL
evaluate: deny
error: -32602 unknown field `txt`, expected `text` or `maxBodyLength`; did you mean `text`?
side by side: 100
";

/// Python and JavaScript write a truth value each in their own way.
const CANCELLED: [&str; 2] = ["cancel: True cancelled\n", "cancel: true cancelled\n"];

#[test]
fn the_clients_show_what_they_say() {
    for (interpreter, client) in
        [("python3", "python/stockade_client.py"), ("node", "node/stockade-client.mjs")]
    {
        if Command::new(interpreter).arg("--version").output().is_err() {
            println!("skipped: {interpreter} is not installed, so examples/clients/{client} was not run");
            continue;
        }
        let home = tempfile::tempdir().unwrap();
        let work = home.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&work).unwrap();
        let output = Command::new(interpreter)
            .arg(repository().join("examples/clients").join(client))
            .env("PATH", path_with_stockade())
            .env("HOME", home.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(&work)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{client}: {}", String::from_utf8_lossy(&output.stderr));
        let rest = printed.strip_prefix(SHOWN).unwrap_or_else(|| panic!("{client}: {printed}"));
        assert!(CANCELLED.contains(&rest), "{client}: {printed}");
    }
}
