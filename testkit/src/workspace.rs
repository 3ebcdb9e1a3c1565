//! The crates of the workspace, as cargo describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::json::Json;
use crate::nearest::nearest;
use crate::program::Program;
use crate::stop::Stop;

/// The checkout that this program belongs to.
#[derive(Debug, Default, Clone)]
pub struct Workspace {
    /// Its top folder.
    pub root: PathBuf,
    /// Where cargo puts what it builds.
    pub target: PathBuf,
    /// Its crates, by folder: `crates/cli`, …, `testkit`, `xtask`.
    pub crates: Vec<Crate>,
}

/// One crate of the workspace.
#[derive(Debug, Clone, Default)]
pub struct Crate {
    /// The package name, such as `stockade-scanner`.
    pub package: String,
    /// Its folder from the root, such as `crates/scanner`.
    pub folder: String,
    /// Its features, and what each turns on.
    pub features: BTreeMap<String, Vec<String>>,
    /// Its build targets, as (kind, name): `("bench", "scan")`.
    pub targets: Vec<(String, String)>,
    /// The packages that it names in its manifest, for builds and tests too.
    pub dependencies: BTreeSet<String>,
}

/// A choice of features to build with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSet {
    /// For people: `default`, `none`, `all`, or the one feature.
    pub name: String,
    /// For cargo.
    pub flags: Vec<String>,
    /// Whether everything is turned on.
    pub is_full: bool,
}

impl Workspace {
    /// Asks cargo.
    pub fn load() -> Result<Self, Stop> {
        let root = root();
        let metadata = Program::cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .folder(&root)
            .read()
            .map_err(|error| Stop::failed(format!("cannot read the workspace: {error}")))?;
        Self::from_metadata(root, &metadata)
            .ok_or_else(|| Stop::failed("cannot read the workspace: `cargo metadata` printed no JSON"))
    }

    /// Returns a workspace of crates by their short names and those of their dependencies, without asking cargo.
    pub fn of(crates: &[(&str, &[&str])]) -> Self {
        let package = |name: &&str| format!("stockade-{name}");
        let one = |(name, dependencies): &(&str, &[&str])| Crate {
            package: package(name),
            folder: format!("crates/{name}"),
            dependencies: dependencies.iter().map(package).collect(),
            ..Crate::default()
        };
        let mut crates: Vec<Crate> = crates.iter().map(one).collect();
        crates.sort_by(|a, b| a.folder.cmp(&b.folder));
        Self { crates, ..Self::default() }
    }

    fn from_metadata(root: PathBuf, metadata: &str) -> Option<Self> {
        let json = Json::parse(metadata)?;
        let target = PathBuf::from(json.at("target_directory").text());
        let mut crates: Vec<Crate> =
            json.at("packages").items().iter().map(|package| Crate::from_json(package, &root)).collect();
        crates.sort_by(|a, b| a.folder.cmp(&b.folder));
        Some(Self { root, target, crates })
    }

    /// Finds a crate by its folder or its package name: `scanner` or `stockade-scanner`.
    pub fn find(&self, name: &str) -> Result<&Crate, Stop> {
        if let Some(found) = self.crates.iter().find(|c| c.short() == name || c.package == name) {
            return Ok(found);
        }
        let names: Vec<&str> = self.crates.iter().map(Crate::short).collect();
        let hint = nearest(name, names.iter().copied()).map_or_else(
            || format!("there are: {}", names.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(Stop::usage(format!("there is no crate `{name}`; {hint}")))
    }

    /// Returns the crate named, or every crate when none is.
    pub fn chosen(&self, name: Option<&str>) -> Result<Vec<&Crate>, Stop> {
        match name {
            Some(name) => self.find(name).map(|found| vec![found]),
            None => Ok(self.crates.iter().collect()),
        }
    }

    /// Returns crates and all that depend on them, directly or through others.
    pub fn with_dependants(&self, crates: &[&Crate]) -> Vec<&Crate> {
        let mut reached: BTreeSet<&str> = crates.iter().map(|one| one.package.as_str()).collect();
        loop {
            let names_one =
                |one: &&Crate| one.dependencies.iter().any(|name| reached.contains(name.as_str()));
            let next: BTreeSet<&str> =
                self.crates.iter().filter(names_one).map(|one| one.package.as_str()).collect();
            if next.is_subset(&reached) {
                break;
            }
            reached.extend(next);
        }
        self.crates.iter().filter(|one| reached.contains(one.package.as_str())).collect()
    }

    /// Cargo, started at the root, with the dependencies of the lock file and no others. What is no command of Cargo itself, such as
    /// clippy, takes `--locked` behind its name.
    pub fn cargo(&self) -> Program {
        Program::cargo().folder(&self.root).arg("--locked")
    }

    /// Cargo, building the examples of all crates together, so that what they share with the tests is built once.
    pub fn build_examples(&self) -> Program {
        self.cargo().args(["build", "--quiet", "--workspace", "--all-features", "--examples", "--bins"])
    }

    /// The program `testkit`, as [`Self::build_examples`] built it.
    pub fn testkit(&self) -> Program {
        Program::new(self.target.join("debug/testkit")).folder(&self.root)
    }

    /// An example that was built.
    pub fn example(&self, name: &str) -> Program {
        Program::new(self.target.join("debug/examples").join(name)).folder(&self.root)
    }

    /// Whether a file or folder exists, by its path from the root.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}

impl Crate {
    fn from_json(package: &Json, root: &Path) -> Self {
        let manifest = Path::new(package.at("manifest_path").text());
        let folder = manifest.parent().and_then(|folder| folder.strip_prefix(root).ok());
        let features = match package.at("features") {
            Json::Object(features) => {
                features.iter().map(|(name, enables)| (name.clone(), enables.texts())).collect()
            }
            _ => BTreeMap::new(),
        };
        let kind_of = |target: &Json| target.at("kind").texts().first().cloned().unwrap_or_default();
        Self {
            package: package.at("name").text().to_owned(),
            folder: folder.map(|folder| folder.display().to_string()).unwrap_or_default(),
            features,
            targets: package
                .at("targets")
                .items()
                .iter()
                .map(|target| (kind_of(target), target.at("name").text().to_owned()))
                .collect(),
            dependencies: package
                .at("dependencies")
                .items()
                .iter()
                .map(|dependency| dependency.at("name").text().to_owned())
                .collect(),
        }
    }

    /// The last part of its folder: `scanner`.
    pub fn short(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or_default()
    }

    /// The names of its targets of one kind: `bench`, `example`, `lib` …
    pub fn targets_of(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(move |target| target.0 == kind).map(|target| target.1.as_str())
    }

    /// Every set of features worth building alone: the default one, none, each single one, and all.
    /// Sets that turn on the same things appear once.
    pub fn feature_sets(&self) -> Vec<FeatureSet> {
        let names = || self.features.keys().map(String::as_str).filter(|&name| name != "default");
        let no_default = || vec!["--no-default-features".to_owned()];
        let single = |name: &str| [no_default(), vec!["--features".to_owned(), name.to_owned()]].concat();
        let all = self.closure(names());

        let default = ("default", Vec::new(), self.closure(["default"]));
        let none = ("none", no_default(), self.closure([]));
        let singles = names().map(|name| (name, single(name), self.closure([name])));
        let every = ("all", vec!["--all-features".to_owned()], all.clone());

        let mut seen = BTreeSet::new();
        let sets = [default, none].into_iter().chain(singles).chain([every]);
        sets.filter(|(_, _, turned_on)| seen.insert(turned_on.clone()))
            .map(|(name, flags, turned_on)| FeatureSet {
                name: name.into(),
                flags,
                is_full: turned_on == all,
            })
            .collect()
    }

    /// Everything that some features turn on, directly or through each other.
    fn closure<'a>(&'a self, features: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut turned_on = BTreeSet::new();
        let mut waiting: Vec<&str> = features.into_iter().collect();
        while let Some(feature) = waiting.pop() {
            if turned_on.insert(feature) {
                waiting.extend(self.features.get(feature).into_iter().flatten().map(String::as_str));
            }
        }
        turned_on.remove("default");
        turned_on
    }
}

/// The top folder of the checkout. `cargo run` tells where it is; the path known from the build serves a binary that
/// is started by hand.
fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map(Path::to_owned).unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_features(features: &[(&str, &[&str])]) -> Crate {
        let owned = |enables: &[&str]| enables.iter().map(|&name| name.to_owned()).collect();
        let features = features.iter().map(|&(name, enables)| (name.to_owned(), owned(enables))).collect();
        Crate { features, ..Crate::default() }
    }

    fn set_names(of: &Crate) -> Vec<String> {
        of.feature_sets().into_iter().map(|set| set.name).collect()
    }

    #[test]
    fn a_crate_without_features_has_one_set() {
        assert_eq!(set_names(&with_features(&[])), ["default"]);
    }

    #[test]
    fn sets_that_mean_the_same_appear_once() {
        let one_on = with_features(&[("default", &["simd"]), ("simd", &[])]);
        assert_eq!(set_names(&one_on), ["default", "none"]);
        let one_off = with_features(&[("default", &[]), ("serde", &["dep:serde"])]);
        assert_eq!(set_names(&one_off), ["default", "serde"]);
        let several = with_features(&[("default", &["simd"]), ("simd", &[]), ("serde", &["dep:serde"])]);
        assert_eq!(set_names(&several), ["default", "none", "serde", "all"]);
    }

    #[test]
    fn one_set_is_full() {
        let full = |of: &Crate| -> Vec<String> {
            of.feature_sets().into_iter().filter(|set| set.is_full).map(|set| set.name).collect()
        };
        assert_eq!(full(&with_features(&[])), ["default"]);
        assert_eq!(full(&with_features(&[("default", &[]), ("a", &[]), ("b", &["a"])])), ["b"]);
        assert_eq!(full(&with_features(&[("default", &["a"]), ("a", &[]), ("b", &[])])), ["all"]);
    }

    #[test]
    fn features_that_turn_on_others_are_followed() {
        let chain = with_features(&[("full", &["a", "b"]), ("a", &[]), ("b", &["a"])]);
        assert_eq!(set_names(&chain), ["default", "a", "b", "full"]);
    }

    #[test]
    fn metadata_is_read() {
        let metadata = r#"{"target_directory": "/t", "packages": [
            {"name": "xtask", "manifest_path": "/r/xtask/Cargo.toml", "features": {}, "targets": []},
            {"name": "stockade-cli", "manifest_path": "/r/crates/cli/Cargo.toml", "features": {"x": ["dep:y"]},
             "dependencies": [{"name": "stockade-guard"}], "targets": [{"kind": ["bin"], "name": "stockade"}, {"kind": ["bench"], "name": "cold"}]}]}"#;
        let workspace = Workspace::from_metadata("/r".into(), metadata).unwrap();
        assert_eq!(workspace.target, PathBuf::from("/t"));
        let cli = workspace.find("cli").unwrap();
        assert_eq!((cli.package.as_str(), cli.folder.as_str()), ("stockade-cli", "crates/cli"));
        assert_eq!(cli.targets_of("bench").collect::<Vec<_>>(), ["cold"]);
        assert_eq!(cli.features.get("x").unwrap(), &["dep:y"]);
        assert_eq!(workspace.find("stockade-cli").unwrap().folder, "crates/cli");
        assert!(cli.dependencies.contains("stockade-guard"));
        let stop = workspace.find("clii").unwrap_err();
        assert_eq!(stop.message(), "there is no crate `clii`; did you mean `cli`?");
    }
}
