//! Archives whose bytes depend on their files alone: sorted, with one time, of user 0 (ustar, POSIX.1-1988).

use std::fs;
use std::io;
use std::path::Path;

const BLOCK: usize = 512;

/// Returns the files of a directory as an archive, below a directory of the given name.
pub(crate) fn archive(directory: &Path, name: &str, time: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    add(&mut out, directory, name, time)?;
    // Two empty blocks end an archive.
    out.extend([0; 2 * BLOCK]);
    Ok(out)
}

fn add(out: &mut Vec<u8>, path: &Path, name: &str, time: u64) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        out.extend(header(&format!("{name}/"), 0o755, 0, time, b'5')?);
        let mut names: Vec<_> =
            fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        names.sort();
        return names
            .iter()
            .try_for_each(|child| add(out, &path.join(child), &format!("{name}/{}", child.display()), time));
    }
    if !kind.is_file() {
        return Err(io::Error::other(format!("{} is neither a file nor a directory", path.display())));
    }
    let bytes = fs::read(path)?;
    let mode = if is_program(path)? { 0o755 } else { 0o644 };
    out.extend(header(name, mode, bytes.len(), time, b'0')?);
    out.extend(&bytes);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    Ok(())
}

/// The umask of the builder shall not show in the archive, so only this bit of the mode counts.
fn is_program(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(path)?.permissions().mode() & 0o100 != 0)
}

fn header(name: &str, mode: u32, size: usize, time: u64, kind: u8) -> io::Result<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| -> io::Result<()> {
        let place = header.get_mut(at..at + text.len());
        place
            .map(|place| place.copy_from_slice(text.as_bytes()))
            .ok_or_else(|| io::Error::other("no room in the header"))
    };
    if name.len() > 99 {
        return Err(io::Error::other(format!("{name} is too long for a name in an archive")));
    }
    put(0, name)?;
    put(100, &format!("{mode:07o}"))?;
    put(108, "0000000")?;
    put(116, "0000000")?;
    put(124, &format!("{size:011o}"))?;
    put(136, &format!("{time:011o}"))?;
    // The checksum is that of the header with blanks in its place.
    put(148, "        ")?;
    put(257, "ustar\u{0}00")?;
    put(265, "root")?;
    put(297, "root")?;
    if let Some(place) = header.get_mut(156) {
        *place = kind;
    }
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    if let Some(place) = header.get_mut(148..156) {
        place.copy_from_slice(format!("{sum:06o}\u{0} ").as_bytes());
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Program;

    /// A new directory, which is removed at the end.
    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-tar-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(folder.join("b")).unwrap();
        folder
    }

    #[test]
    fn tar_reads_what_was_written() {
        let folder = folder("reads");
        fs::write(folder.join("b/text"), "x".repeat(700)).unwrap();
        fs::write(folder.join("a"), "").unwrap();
        fs::write(folder.join("archive.tar"), archive(&folder.join("b"), "top", 315_532_800).unwrap())
            .unwrap();
        let listed =
            Program::new("tar").args(["--utc", "--numeric-owner", "-tvf"]).arg(folder.join("archive.tar"));
        let listed = listed.read().unwrap();
        let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["drwxr-xr-x", "0/0", "0", "1980-01-01", "00:00", "top/"]);
        assert_eq!(rows[1], ["-rw-r--r--", "0/0", "700", "1980-01-01", "00:00", "top/text"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn order_and_times_of_the_builder_do_not_show() {
        let make = |name: &str, files: &[&str]| {
            let folder = folder(name);
            files.iter().for_each(|file| fs::write(folder.join("b").join(file), file).unwrap());
            let bytes = archive(&folder.join("b"), "top", 0).unwrap();
            fs::remove_dir_all(folder).unwrap();
            bytes
        };
        assert_eq!(make("one", &["x", "y", "z"]), make("two", &["z", "y", "x"]));
        assert_ne!(make("one", &["x"]), make("two", &["y"]));
    }

    #[test]
    fn long_names_and_links_are_refused() {
        let folder = folder("refused");
        std::os::unix::fs::symlink("x", folder.join("b/link")).unwrap();
        assert!(archive(&folder, "top", 0).is_err());
        assert!(header(&"x".repeat(100), 0, 0, 0, b'0').is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
