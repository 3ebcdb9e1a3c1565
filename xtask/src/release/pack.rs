//! Makes the artefacts of one platform: archive, wheel, packages for Node.js, `.deb` and `.rpm`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use testkit::{Program, Stop};

use super::facts::{Facts, Linkage, Platform};
use super::tar;
use super::templates::{Archive, Values};

/// The programs of remote backends, which `stockade` looks for beside itself.
pub(crate) const BACKENDS: &[&str] = &["stockade-backend-e2b", "stockade-backend-kubernetes"];

/// Where a distribution puts the completions of each shell: name for `stockade completions`, file in the archive, path.
const COMPLETIONS: &[(&str, &str, &str)] = &[
    ("bash", "stockade.bash", "usr/share/bash-completion/completions/stockade"),
    ("zsh", "_stockade", "usr/share/zsh/site-functions/_stockade"),
    ("fish", "stockade.fish", "usr/share/fish/vendor_completions.d/stockade.fish"),
];

/// A program, and where its artefacts are made.
pub(crate) struct Pack {
    pub(crate) root: PathBuf,
    pub(crate) facts: Facts,
    pub(crate) platform: &'static Platform,
    pub(crate) linkage: Linkage,
    /// The key by which the installer in the archive checks later versions.
    pub(crate) public_key: String,
    /// Directory for what is needed on the way.
    pub(crate) work: PathBuf,
    /// Directory of the artefacts.
    pub(crate) out: PathBuf,
}

impl Pack {
    /// Reads what the program is, and lays out the files of the archive.
    pub(crate) fn new(
        root: &Path,
        facts: Facts,
        public_key: &str,
        program: &Path,
        work: &Path,
        out: &Path,
    ) -> Result<Self, Stop> {
        let bytes = fs::read(program).map_err(|error| failed(program, &error))?;
        let (platform, linkage) = Platform::of(&bytes).ok_or_else(|| {
            Stop::failed(format!("{} is not a program for a platform with a release", program.display()))
        })?;
        let says =
            Program::new(program).arg("--version").read().map_err(|error| Stop::failed(error.to_string()))?;
        if says.trim() != format!("stockade {}", facts.version) {
            return Err(Stop::failed(format!(
                "the program is `{}`, and Cargo.toml has {}",
                says.trim(),
                facts.version
            )));
        }
        let pack = Self {
            root: root.to_owned(),
            facts,
            platform,
            linkage,
            public_key: public_key.to_owned(),
            work: work.to_owned(),
            out: out.to_owned(),
        };
        make_directory(out)?;
        pack.lay_out(program)?;
        Ok(pack)
    }

    /// The files of the archive.
    pub(crate) fn files(&self) -> PathBuf {
        self.work.join("files")
    }

    fn lay_out(&self, program: &Path) -> Result<(), Stop> {
        let files = self.files();
        copy(program, &files.join("stockade"), 0o755)?;
        for backend in BACKENDS {
            let beside = program.with_file_name(backend);
            if beside.is_file() {
                copy(&beside, &files.join(backend), 0o755)?;
            }
        }
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
            copy(&self.root.join(name), &files.join(name), 0o644)?;
        }
        make_directory(&files.join("completions"))?;
        for (shell, name, _) in COMPLETIONS {
            let text = Program::new(program).args(["completions", shell]).read();
            let text = text.map_err(|error| Stop::failed(error.to_string()))?;
            let to = files.join("completions").join(name);
            fs::write(&to, text).map_err(|error| failed(&to, &error))?;
        }
        // `stockade self update` runs it, once it was installed with the program.
        self.values().with_key(&self.public_key).write(
            &self.root,
            "install.sh",
            &files.join("install.sh"),
        )?;
        make_directory(&files.join("man"))?;
        succeed(&Program::new(program).args(["man", "--out"]).arg(files.join("man")))
    }

    /// The archive, from which the other channels install.
    pub(crate) fn archive(&self) -> Result<PathBuf, Stop> {
        let name = Archive::name(&self.facts, self.platform);
        let top = name.trim_end_matches(".tar.gz");
        let tar = self.out.join(name.trim_end_matches(".gz"));
        let bytes =
            tar::archive(&self.files(), top, self.facts.time).map_err(|error| failed(&tar, &error))?;
        fs::write(&tar, bytes).map_err(|error| failed(&tar, &error))?;
        succeed(&Program::new("gzip").args(["-n", "-f"]).arg(&tar))?;
        Ok(self.out.join(name))
    }

    /// The wheel with the program and the client for Python.
    pub(crate) fn wheel(&self) -> Result<PathBuf, Stop> {
        let build = "import build_wheel, sys; print(build_wheel.build_wheel(sys.argv[1]))";
        let name = Program::new("python3")
            .args(["-B", "-c", build])
            .arg(&self.out)
            .env("STOCKADE_BINARY", self.files().join("stockade"))
            .folder(&self.root.join("packages/python"))
            .read();
        Ok(self.out.join(name.map_err(|error| Stop::failed(error.to_string()))?.trim()))
    }

    /// The package of this platform, the client that starts its program, and the plugin for OpenClaw.
    pub(crate) fn node(&self) -> Result<Vec<PathBuf>, Stop> {
        let platform = self.work.join("platform");
        let make = Program::new("node").arg(self.root.join("packages/node/scripts/platform.mjs"));
        succeed(&make.arg(self.files().join("stockade")).arg(&platform))?;
        let pack =
            Program::new("npm").args(["pack", "--silent", "--pack-destination"]).arg(&self.out).arg(platform);
        let pack = pack.args(["./packages/node", "./packages/openclaw"]).folder(&self.root);
        let names = pack.read().map_err(|error| Stop::failed(error.to_string()))?;
        Ok(names.lines().map(|name| self.out.join(name)).collect())
    }

    /// The package for Debian and Ubuntu.
    pub(crate) fn deb(&self) -> Result<PathBuf, Stop> {
        let tree = self.work.join("deb");
        self.distribution_tree(&tree)?;
        // Debian's zsh looks for those of packages in a directory of their own.
        let zsh = tree.join("usr/share/zsh");
        fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions"))
            .map_err(|error| failed(&zsh, &error))?;
        make_directory(&tree.join("DEBIAN"))?;
        self.values().write(&self.root, "control", &tree.join("DEBIAN/control"))?;
        // Debian 12 and Ubuntu 22.04 read zstd; xz takes fifty times as long to save a sixth.
        let name = format!("stockade_{}_{}.deb", self.facts.version, self.platform.debian);
        let build =
            Program::new("dpkg-deb").args(["--root-owner-group", "-Zzstd", "-z6", "--build"]).arg(&tree);
        succeed(&build.arg(self.out.join(&name)).env("SOURCE_DATE_EPOCH", self.facts.time.to_string()))?;
        Ok(self.out.join(name))
    }

    /// The package for Fedora, openSUSE and their relatives.
    pub(crate) fn rpm(&self) -> Result<PathBuf, Stop> {
        let (top, tree) = (self.work.join("rpm"), self.work.join("rpm-tree"));
        self.distribution_tree(&tree)?;
        make_directory(&top)?;
        self.values().write(&self.root, "stockade.spec", &top.join("stockade.spec"))?;
        let define = |name: &str, value: &str| ["--define".to_owned(), format!("{name} {value}")];
        let build = Program::new("rpmbuild")
            .args(["-bb", "--quiet", "--target", self.platform.rpm])
            .args(define("_topdir", &top.display().to_string()))
            .args(define("_rpmdir", &self.out.display().to_string()))
            .args(define("_build_name_fmt", "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"))
            .args(define("stockade_tree", &tree.display().to_string()))
            .args(define("_buildhost", "release"))
            .args(define("use_source_date_epoch_as_buildtime", "1"))
            .args(define("clamp_mtime_to_source_date_epoch", "1"))
            .args(define("_binary_payload", "w3.zstdio"))
            .arg(top.join("stockade.spec"))
            .env("SOURCE_DATE_EPOCH", self.facts.time.to_string());
        succeed(&build)?;
        Ok(self.out.join(format!("stockade-{}-1.{}.rpm", self.facts.version, self.platform.rpm)))
    }

    fn values(&self) -> Values {
        Values::new(&self.facts).with_platform(self.platform, self.linkage)
    }

    /// The files where a distribution has them.
    fn distribution_tree(&self, tree: &Path) -> Result<(), Stop> {
        let files = self.files();
        for program in ["stockade"].iter().chain(BACKENDS).filter(|name| files.join(name).exists()) {
            copy(&files.join(program), &tree.join("usr/bin").join(program), 0o755)?;
        }
        for (_, name, path) in COMPLETIONS {
            copy(&files.join("completions").join(name), &tree.join(path), 0o644)?;
        }
        let pages = fs::read_dir(files.join("man")).map_err(|error| failed(&files, &error))?;
        for page in pages.flatten() {
            let to = tree.join("usr/share/man/man1").join(page.file_name());
            copy(&page.path(), &to, 0o644)?;
            succeed(&Program::new("gzip").args(["-n", "-9", "-f"]).arg(to))?;
        }
        let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| fs::read_to_string(self.root.join(name)));
        let [mit, apache] = licences.map(Result::unwrap_or_default);
        let copyright = tree.join("usr/share/doc/stockade/copyright");
        make_directory(&tree.join("usr/share/doc/stockade"))?;
        let text =
            format!("stockade is licensed under MIT or Apache-2.0, at your option.\n\n{mit}\n\n{apache}");
        fs::write(&copyright, text).map_err(|error| failed(&copyright, &error))
    }
}

/// Runs a program that shall succeed.
pub(crate) fn succeed(program: &Program) -> Result<(), Stop> {
    program.read().map(drop).map_err(|error| Stop::failed(error.to_string()))
}

/// Makes a directory, and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), Stop> {
    fs::create_dir_all(path).map_err(|error| failed(path, &error))
}

/// Copies a file, with its directory and a mode that does not depend on the umask.
pub(crate) fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), Stop> {
    to.parent().map_or(Ok(()), make_directory)?;
    fs::copy(from, to).map_err(|error| failed(from, &error))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(|error| failed(to, &error))
}

/// The error of a file.
pub(crate) fn failed(path: &Path, error: &std::io::Error) -> Stop {
    Stop::failed(format!("{}: {error}", path.display()))
}
