//! Files of a trail that were exchanged for pipes: opening one by its name waits for its other end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::fs::{CWD, FileType, mknodat};
use stockade_audit::Reference;

use super::anchored::{KINDS, Site};

/// What does not end by then waits for a pipe.
const PATIENCE: Duration = Duration::from_secs(30);

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Each file in turn, read, written to, and taken for what was kept elsewhere.
#[test]
fn no_pipe_in_the_place_of_a_file_is_waited_for() {
    for kind in KINDS {
        let count = files(Site::filled(kind).path.parent().unwrap()).len();
        assert!(count >= 3, "{kind}: the trail, its register and its checkpoints");
        for number in 0..count {
            // A site of its own, since a connection that waits would keep the files of the next.
            let (tell, told) = channel();
            std::thread::spawn(move || {
                let site = Site::filled(kind);
                let mut all = files(site.path.parent().unwrap());
                all.sort();
                let path = all.swap_remove(number);
                fs::remove_file(&path).unwrap();
                mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).unwrap();
                tell.send(format!("{} waits", path.display())).unwrap();
                let name = path.display().to_string();
                let is_needed =
                    path == site.path || [".register", ".checkpoints"].iter().any(|end| name.ends_with(end));
                let intact = site.is_intact();
                assert!(!(intact && is_needed), "{} is intact", path.display());
                drop(site.open());
                drop(Reference::read(&path));
                tell.send(String::new()).unwrap();
            });
            let waits = told.recv_timeout(PATIENCE).unwrap();
            assert_eq!(told.recv_timeout(PATIENCE).as_deref(), Ok(""), "{kind}: {waits}");
        }
    }
}
