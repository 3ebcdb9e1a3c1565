//! Files that are written from a template in `packages/release`, with `@NAME@` where a value goes.

use std::fs;
use std::path::Path;

use testkit::Stop;

use super::facts::{Facts, Linkage, PLATFORMS, Platform, SUMMARY};

/// The directory of the templates, from the root of the repository.
pub(crate) const TEMPLATES: &str = "packages/release";

/// Names and values that are put into a template.
#[derive(Debug, Clone)]
pub(crate) struct Values(Vec<(&'static str, String)>);

impl Values {
    /// What every template may use.
    pub(crate) fn new(facts: &Facts) -> Self {
        Self(vec![
            ("VERSION", facts.version.clone()),
            ("REPOSITORY", facts.repository.clone()),
            ("MAINTAINER", facts.maintainer.clone()),
            ("SUMMARY", SUMMARY.to_owned()),
        ])
    }

    /// What packages of Linux distributions use besides.
    pub(crate) fn with_platform(self, platform: &Platform, linkage: Linkage) -> Self {
        let needs = |line: &str| if linkage == Linkage::Dynamic { line.to_owned() } else { String::new() };
        self.with("DEB_ARCHITECTURE", platform.debian)
            .with("DEB_DEPENDS", needs("Depends: libc6 (>= 2.34), libgcc-s1"))
            .with("RPM_REQUIRES", needs("Requires: glibc >= 2.34, libgcc"))
    }

    /// The key of the installer.
    pub(crate) fn with_key(self, public_key: &str) -> Self {
        self.with("PUBLIC_KEY", public_key)
    }

    /// What is known once all archives are there: their checksums.
    pub(crate) fn with_archives(self, facts: &Facts, archives: &[Archive]) -> Self {
        let listed = |row: fn(&Archive, &str) -> String| {
            let rows: Vec<String> = archives.iter().map(|archive| row(archive, &facts.downloads())).collect();
            rows.join("\n")
        };
        let first = archives.first().map(|archive| archive.name.clone()).unwrap_or_default();
        self.with("FORMULA_ARCHIVES", listed(formula_row))
            .with("NIX_ARCHIVES", listed(nix_row))
            .with("DIRECTORY", first.trim_end_matches(".tar.gz"))
            .with("ARCHIVE", first)
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Fills a template. A line that is empty afterwards, and was not before, is left out.
    pub(crate) fn fill(&self, template: &str) -> Result<String, Stop> {
        let mut out = String::new();
        for line in template.lines() {
            let filled = self
                .0
                .iter()
                .fold(line.to_owned(), |line, (name, value)| line.replace(&format!("@{name}@"), value));
            if let Some(name) = placeholder(&filled) {
                return Err(Stop::failed(format!("no value for {name} in a template")));
            }
            if !filled.is_empty() || line.is_empty() {
                out.extend([filled.as_str(), "\n"]);
            }
        }
        Ok(out)
    }

    /// Writes a file from its template.
    pub(crate) fn write(&self, root: &Path, name: &str, to: &Path) -> Result<(), Stop> {
        let from = root.join(TEMPLATES).join(name);
        let template = fs::read_to_string(&from)
            .map_err(|error| Stop::failed(format!("{}: {error}", from.display())))?;
        fs::write(to, self.fill(&template)?)
            .map_err(|error| Stop::failed(format!("{}: {error}", to.display())))
    }
}

/// An archive of a platform, with its checksum.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) platform: &'static Platform,
    pub(crate) name: String,
    pub(crate) sha256: String,
}

impl Archive {
    /// The name of the archive of a platform.
    pub(crate) fn name(facts: &Facts, platform: &Platform) -> String {
        format!("stockade-{}-{}.tar.gz", facts.version, platform.triple)
    }

    /// The archives in a list of checksums, as `sha256sum` prints it.
    pub(crate) fn listed(facts: &Facts, sums: &str) -> Vec<Self> {
        let sum_of = |name: &str| sums.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix("  "));
        let archives = PLATFORMS.iter().map(|platform| (platform, Self::name(facts, platform)));
        archives
            .filter_map(|(platform, name)| Some(Self { platform, sha256: sum_of(&name)?.to_owned(), name }))
            .collect()
    }
}

fn formula_row(archive: &Archive, downloads: &str) -> String {
    let [system, processor] = archive.platform.homebrew;
    let Archive { name, sha256, .. } = archive;
    format!(
        "  {system} do\n    {processor} do\n      url \"{downloads}/{name}\"\n      sha256 \"{sha256}\"\n    end\n  end"
    )
}

fn nix_row(archive: &Archive, downloads: &str) -> String {
    let Archive { name, sha256, platform } = archive;
    let system = platform.nix;
    format!(
        "        {system} = {{\n          url = \"{downloads}/{name}\";\n          sha256 = \"{sha256}\";\n        }};"
    )
}

/// The first `@NAME@` of a line.
fn placeholder(line: &str) -> Option<&str> {
    let mut parts = line.split('@').skip(1);
    let is_name =
        |part: &&str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    // What is behind the last `@` is not closed.
    let last = line.rsplit('@').next().map(str::as_ptr);
    parts.find(|part| is_name(part) && Some(part.as_ptr()) != last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&'static str, &str)]) -> Values {
        Values(pairs.iter().map(|&(name, value)| (name, value.to_owned())).collect())
    }

    #[test]
    fn values_are_put_in_and_lines_without_one_are_left_out() {
        let filled =
            values(&[("A", "1"), ("B", "")]).fill("x @A@ $@ \"$@\" a@b.example\n@B@\n\ny\n").unwrap();
        assert_eq!(filled, "x 1 $@ \"$@\" a@b.example\n\ny\n");
    }

    #[test]
    fn a_value_that_is_missing_is_an_error() {
        assert!(values(&[]).fill("v @VERSION@\n").unwrap_err().message().contains("VERSION"));
    }

    #[test]
    fn each_archive_in_the_sums_is_in_formula_and_flake() {
        let facts = Facts {
            version: "1.2.3".into(),
            repository: "https://git.example/a/stockade".into(),
            maintainer: "A".into(),
            public_key: "K".into(),
            time: 0,
        };
        let sums = "aa  stockade-1.2.3-aarch64-apple-darwin.tar.gz\nbb  stockade-1.2.3-x86_64-unknown-linux-gnu.tar.gz\ncc  other\n";
        let archives = Archive::listed(&facts, sums);
        let values = Values::new(&facts).with_archives(&facts, &archives);
        let filled = values.fill("@FORMULA_ARCHIVES@\n@NIX_ARCHIVES@\n").unwrap();
        for (sum, system, triple) in [
            ("aa", "aarch64-darwin", "aarch64-apple-darwin"),
            ("bb", "x86_64-linux", "x86_64-unknown-linux-gnu"),
        ] {
            let url = format!(
                "url = \"https://git.example/a/stockade/releases/download/v1.2.3/stockade-1.2.3-{triple}.tar.gz\";"
            );
            assert!(
                filled.contains(&format!("{system} = {{\n          {url}\n          sha256 = \"{sum}\";")),
                "{filled}"
            );
        }
        assert!(filled.starts_with("  on_linux do\n    on_intel do\n      url "), "{filled}");
        assert_eq!(filled.matches("sha256 \"").count(), 2);
    }
}
