//! What is made once the archives of all platforms are there: installer, formula, flake, checksums and their signature.

use std::fs;
use std::path::Path;

use testkit::{Program, Stop};

use super::facts::Facts;
use super::pack::failed;
use super::sign::SigningKey;
use super::templates::{Archive, Values};

/// The list of checksums, and the files from templates.
pub(crate) const SUMS: &str = "SHA256SUMS";
const FROM_TEMPLATES: &[&str] = &["install.sh", "stockade.rb", "flake.nix", "Containerfile"];

/// Writes the files around the archives in a directory, and returns the archives.
pub(crate) fn write(root: &Path, facts: &Facts, out: &Path, key: &SigningKey) -> Result<Vec<Archive>, Stop> {
    let archives = Archive::listed(facts, &sums(out)?);
    if archives.is_empty() {
        return Err(Stop::failed(format!("no archive of version {} in {}", facts.version, out.display())));
    }
    let values = Values::new(facts).with_key(&key.public()).with_archives(facts, &archives);
    for name in FROM_TEMPLATES {
        values.write(root, name, &out.join(name))?;
    }
    // The others carry checksums themselves, so the list comes last.
    let list = out.join(SUMS);
    fs::write(&list, sums(out)?).map_err(|error| failed(&list, &error))?;
    key.sign(&list, &format!("stockade {}", facts.version))?;
    Ok(archives)
}

/// The checksums of all files but the list itself and its signature.
fn sums(out: &Path) -> Result<String, Stop> {
    let entries = fs::read_dir(out).map_err(|error| failed(out, &error))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.retain(|name| !name.to_string_lossy().starts_with(SUMS));
    names.sort();
    let sums = Program::new("sha256sum").arg("--").args(names).folder(out).read();
    sums.map_err(|error| Stop::failed(error.to_string()))
}
