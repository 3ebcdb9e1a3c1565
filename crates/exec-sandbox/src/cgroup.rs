//! Limits for all processes of a sandbox together, by control groups of version 1, version 2, or both (hybrid mode). A
//! controller belongs to one of them.
//!
//! Delegated groups of version 2 are used as they are: no controller is enabled for sibling groups. Groups of a killed
//! supervisor are removed by the next one that creates groups in the same place.

#![expect(clippy::disallowed_methods, reason = "makes and removes control groups")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stockade_files::read_kernel_file;

use crate::enforcement::{Enforcement, Property};
use crate::limits::{Priority, ResourceLimits};

const MOUNTED: &str = "/sys/fs/cgroup";

/// Where version 2 is mounted beside version 1.
const UNIFIED: &str = "unified";

/// The prefix of group names, followed by the process ID of their creator.
const NAME: &str = "stockade-";

/// A group whose creator is gone is stale if it is older than this.
const OLD: Duration = Duration::from_secs(10);

/// Files of a group, and the numbers to write to them.
type Settings = Vec<(&'static str, u64)>;

/// The limits of one controller.
#[derive(Debug)]
struct Controller {
    name: &'static str,
    /// Required settings in each version; empty if there is no limit.
    settings: fn(&ResourceLimits) -> [Settings; 2],
    /// Settings that are written only where the kernel has the file.
    more: fn(&ResourceLimits) -> [Settings; 2],
    /// The enforced properties.
    properties: fn(&ResourceLimits) -> &'static [Property],
}

const CONTROLLERS: &[Controller] = &[
    Controller {
        name: "memory",
        settings: |limits| {
            let bytes = limits.memory.bound();
            let one = |file: &'static str| bytes.map(|bytes| (file, bytes)).into_iter().collect();
            [one("memory.limit_in_bytes"), one("memory.max")]
        },
        // Otherwise a command could exceed the limit with memory that is swapped out.
        more: |limits| {
            let both = limits.memory.bound().map(|bytes| ("memory.memsw.limit_in_bytes", bytes));
            [both.into_iter().collect(), vec![("memory.swap.max", 0)]]
        },
        properties: |_| &[Property::Memory, Property::TotalMemory],
    },
    Controller {
        name: "pids",
        // One more, for the init process of the sandbox.
        settings: |limits| {
            let most = limits.processes.bound().map(|most| ("pids.max", most + 1));
            [most, most].map(|most| most.into_iter().collect())
        },
        more: |_| [Vec::new(), Vec::new()],
        properties: |_| &[Property::ProcessCount],
    },
    Controller {
        name: "cpu",
        // The defaults are 1024 shares in version 1 and a weight of 100 in version 2. A group with default weight is created
        // nevertheless, because it reports the CPU time.
        settings: |limits| {
            let is_idle = limits.priority == Priority::Idle;
            let weight = if is_idle { [15, 2] } else { [1024, 100] };
            let both = [("cpu.shares", "cpu.cfs_quota_us", weight[0]), ("cpu.weight", "cpu.max", weight[1])];
            both.map(|(share, quota, weight)| {
                let most = part(limits).map(|micros| (quota, micros));
                [(share, weight)].into_iter().chain(most).collect()
            })
        },
        more: |_| [Vec::new(), Vec::new()],
        properties: |limits| match (limits.priority, part(limits)) {
            (Priority::Idle, Some(_)) => &[Property::Priority, Property::Processors],
            (Priority::Idle, None) => &[Property::Priority],
            (Priority::Normal | Priority::Low, Some(_)) => &[Property::Processors],
            (Priority::Normal | Priority::Low, None) => &[],
        },
    },
];

/// Microseconds that all processes together may run in each tenth of a second, which is the default period of both versions.
/// Whole processors are bounded by the CPU affinity, which costs nothing.
fn part(limits: &ResourceLimits) -> Option<u64> {
    limits.processors.bound().filter(|most| most.has_part()).map(|most| u64::from(most.thousandths()) * 100)
}

/// A version of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    fn of<T>(self, [one, two]: [T; 2]) -> T {
        match self {
            Self::One => one,
            Self::Two => two,
        }
    }

    fn means(self) -> &'static str {
        self.of(["a control group of version 1", "a control group of version 2"])
    }
}

/// A group and its controller. In version 2, several controllers share a group.
#[derive(Debug)]
struct Made {
    controller: &'static Controller,
    version: Version,
    path: PathBuf,
    properties: &'static [Property],
}

/// The control groups of one sandbox, removed on drop.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    made: Vec<Made>,
}

impl Groups {
    /// Creates the groups that this user may create.
    pub(crate) fn make(limits: &ResourceLimits, number: u32) -> Self {
        let own = read_kernel_file("/proc/self/cgroup").unwrap_or_default();
        Self::make_in(Path::new(MOUNTED), &own, limits, &format!("{NAME}{}-{number}", std::process::id()))
    }

    fn make_in(mounted: &Path, own: &str, limits: &ResourceLimits, name: &str) -> Self {
        let mut groups = Self::default();
        for controller in CONTROLLERS {
            let parents = parents(mounted, own, controller.name);
            let made = parents.into_iter().find_map(|(version, parent)| {
                let settings = version.of((controller.settings)(limits));
                if settings.is_empty() {
                    return None;
                }
                let path = groups.group(&parent, name).ok()?;
                groups.bound(controller, version, path, &settings, limits)
            });
            groups.made.extend(made);
        }
        groups
    }

    /// Creates a group, unless another controller created it already.
    fn group(&self, parent: &Path, name: &str) -> io::Result<PathBuf> {
        let path = parent.join(name);
        if !self.made.iter().any(|made| made.path == path) {
            remove_what_was_left(parent);
            fs::create_dir(&path)?;
        }
        Ok(path)
    }

    /// Writes the limits. If that fails, it removes the group and returns nothing.
    fn bound(
        &self,
        controller: &'static Controller,
        version: Version,
        path: PathBuf,
        settings: &Settings,
        limits: &ResourceLimits,
    ) -> Option<Made> {
        let write = |(file, value): &(&str, u64)| fs::write(path.join(file), value.to_string());
        if settings.iter().try_for_each(write).is_err() {
            if !self.made.iter().any(|made| made.path == path) {
                fs::remove_dir(&path).ok();
            }
            return None;
        }
        let more = version.of((controller.more)(limits));
        more.iter().filter(|(file, _)| path.join(file).exists()).for_each(|setting| {
            write(setting).ok();
        });
        Some(Made { controller, version, path, properties: (controller.properties)(limits) })
    }

    /// Records what the groups enforce.
    pub(crate) fn promise(&self, enforcement: &mut Enforcement) {
        for made in &self.made {
            made.properties.iter().for_each(|one| enforcement.enforce(*one, made.version.means()));
        }
    }

    fn of(&self, name: &str) -> Option<&Made> {
        self.made.iter().find(|made| made.controller.name == name)
    }

    /// Whether memory is limited for all processes together.
    pub(crate) fn bound_memory(&self) -> bool {
        self.of("memory").is_some()
    }

    /// Adds a process, and thereby all its descendants, to the groups.
    pub(crate) fn add(&self, pid: i32) -> io::Result<()> {
        let mut paths: Vec<&Path> = self.made.iter().map(|made| made.path.as_path()).collect();
        paths.dedup();
        paths.into_iter().try_for_each(|path| fs::write(path.join("cgroup.procs"), pid.to_string()))
    }

    /// Returns whether the OOM killer ended a process, and the peak memory, where the kernel reports them.
    pub(crate) fn memory(&self) -> Option<(bool, Option<u64>)> {
        let made = self.of("memory")?;
        let peak = made.version.of(["memory.max_usage_in_bytes", "memory.peak"]);
        let peak = read_kernel_file(made.path.join(peak)).ok().and_then(|text| text.trim().parse().ok());
        let killed = made.count(made.version.of(["memory.oom_control", "memory.events"]), "oom_kill ")?;
        Some((killed > 0, peak))
    }

    /// Returns the CPU time, where the kernel reports it for the group.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.made.iter().find_map(Made::cpu_time)
    }

    /// Whether the limit on processes made a fork fail.
    pub(crate) fn ran_out_of_processes(&self) -> bool {
        self.of("pids").and_then(|made| made.count("pids.events", "max ")).is_some_and(|count| count > 0)
    }
}

impl Made {
    fn cpu_time(&self) -> Option<Duration> {
        match self.version {
            // The file exists where `cpu` and `cpuacct` are mounted together, as is usual.
            Version::One => {
                let text = read_kernel_file(self.path.join("cpuacct.usage")).ok()?;
                text.trim().parse().ok().map(Duration::from_nanos)
            }
            Version::Two => self.count("cpu.stat", "usage_usec ").map(Duration::from_micros),
        }
    }

    /// Returns the number on the line that begins with a name.
    fn count(&self, file: &str, name: &str) -> Option<u64> {
        let text = read_kernel_file(self.path.join(file)).ok()?;
        text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for made in &self.made {
            // Ignored: all processes have ended by now, and a leftover empty group is removed by the next run.
            fs::remove_dir(&made.path).ok();
        }
    }
}

/// Returns where groups with this controller may be created, best first. `own` has lines such as `4:memory:/user.slice` and
/// `0::/user.slice`.
///
/// In version 2, a group cannot contain both processes and child groups with controllers (the rule of "no internal
/// processes"), so the new group is a sibling of this program's group.
fn parents(mounted: &Path, own: &str, controller: &str) -> Vec<(Version, PathBuf)> {
    let below = |mount: PathBuf, path: &str| {
        let plain = !path.split('/').any(|part| part == "..");
        plain.then(|| mount.join(path.trim_start_matches('/')))
    };
    let mut found = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(names), Some(path)) = (fields.next(), fields.next()) else { continue };
        if names.split(',').any(|name| name == controller) {
            found.extend(below(mounted.join(controller), path).map(|folder| (Version::One, folder)));
        } else if names.is_empty() {
            let unified = mounted.join(UNIFIED);
            let mount = if unified.is_dir() { unified } else { mounted.to_path_buf() };
            let folder = below(mount.clone(), path);
            let beside = folder.as_deref().and_then(Path::parent).filter(|beside| beside.starts_with(&mount));
            let places = beside.map(Path::to_path_buf).into_iter().chain(folder.clone());
            found.extend(places.filter(|it| gives(it, controller)).map(|it| (Version::Two, it)));
        }
    }
    found.retain(|(_, folder)| folder.is_dir());
    found
}

/// Whether the child groups of a group have a controller.
fn gives(group: &Path, controller: &str) -> bool {
    let names = read_kernel_file(group.join("cgroup.subtree_control")).unwrap_or_default();
    names.split_whitespace().any(|name| name == controller)
}

/// Removes stale groups. The kernel refuses to remove one that still contains a process.
fn remove_what_was_left(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split_once('-'));
        let Some((pid, _)) = maker.filter(|(pid, _)| pid.parse::<u32>().is_ok()) else { continue };
        let made = entry.metadata().and_then(|data| data.modified());
        let is_old = made.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD));
        if is_old && !Path::new("/proc").join(pid).exists() {
            fs::remove_dir(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;
    use crate::processors::Processors;

    /// A folder that looks like a mounted hierarchy of version 2, whose groups give these controllers to theirs.
    fn version_2(controllers: &str) -> tempfile::TempDir {
        let mounted = tempfile::tempdir().unwrap();
        for group in ["", "user", "user/app"] {
            let group = mounted.path().join(group);
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join("cgroup.subtree_control"), controllers).unwrap();
        }
        mounted
    }

    fn limits() -> ResourceLimits {
        ResourceLimits {
            memory: Limit::AtMost(4096),
            processes: Limit::AtMost(7),
            priority: Priority::Idle,
            ..ResourceLimits::default()
        }
    }

    #[test]
    fn a_missing_controller_has_no_group() {
        let none = tempfile::tempdir().unwrap();
        for own in ["3:none:/x\n0::/y\n", "", "4:memory:/../..\n", "0::/../..\n", "odd", "4:memory:/x\n"] {
            assert_eq!(parents(none.path(), own, "memory"), [], "{own}");
        }
        let mounted = version_2("cpu");
        let groups = Groups::make_in(mounted.path(), "0::/user/app\n", &limits(), "stockade-1-1");
        let made: Vec<&str> = groups.made.iter().map(|made| made.controller.name).collect();
        assert_eq!((made, groups.bound_memory()), (vec!["cpu"], false));
    }

    /// At an ordinary priority the group counts and weighs as much as any other.
    #[test]
    fn an_ordinary_priority_has_an_ordinary_weight() {
        let mounted = version_2("cpu memory pids\n");
        let limits = ResourceLimits { priority: Priority::Low, ..limits() };
        let groups = Groups::make_in(mounted.path(), "0::/user/app\n", &limits, "stockade-1-1");
        let weight = mounted.path().join("user/stockade-1-1/cpu.weight");
        assert_eq!(fs::read_to_string(weight).unwrap(), "100");
        let mut enforcement = Enforcement::default();
        groups.promise(&mut enforcement);
        assert!(!enforcement.holds(Property::Priority));
    }

    /// Half of each period, which is a tenth of a second.
    #[test]
    fn a_part_of_a_processor_is_a_quota() {
        let limits = ResourceLimits { processors: Limit::AtMost(Processors::HALF), ..limits() };
        let mounted = version_2("cpu memory pids\n");
        let groups = Groups::make_in(mounted.path(), "0::/user/app\n", &limits, "stockade-1-1");
        let read = |path: &str| fs::read_to_string(mounted.path().join(path)).unwrap();
        assert_eq!(read("user/stockade-1-1/cpu.max"), "50000");
        let mut enforcement = Enforcement::default();
        groups.promise(&mut enforcement);
        assert!(enforcement.holds(Property::Processors));
        let mounted = tempfile::tempdir().unwrap();
        fs::create_dir_all(mounted.path().join("cpu/job")).unwrap();
        let _groups = Groups::make_in(mounted.path(), "4:cpu:/job\n", &limits, "stockade-1-1");
        let quota = fs::read_to_string(mounted.path().join("cpu/job/stockade-1-1/cpu.cfs_quota_us"));
        assert_eq!(quota.unwrap(), "50000");
    }

    #[test]
    fn in_version_2_one_group_beside_that_of_this_program_has_all_bounds() {
        let mounted = version_2("cpu memory pids\n");
        let groups = Groups::make_in(mounted.path(), "0::/user/app\n", &limits(), "stockade-1-1");
        let group = mounted.path().join("user/stockade-1-1");
        for (file, text) in [("memory.max", "4096"), ("pids.max", "8"), ("cpu.weight", "2")] {
            assert_eq!(fs::read_to_string(group.join(file)).unwrap(), text, "{file}");
        }
        groups.add(42).unwrap();
        assert_eq!(fs::read_to_string(group.join("cgroup.procs")).unwrap(), "42");
        let mut enforcement = Enforcement::default();
        groups.promise(&mut enforcement);
        assert!(enforcement.enforced.contains(&(Property::TotalMemory, "a control group of version 2")));
        assert!(enforcement.enforced.contains(&(Property::Priority, "a control group of version 2")));
        fs::write(group.join("memory.events"), "low 0\noom 1\noom_kill 1\noom_group_kill 0\n").unwrap();
        fs::write(group.join("memory.peak"), "4000\n").unwrap();
        fs::write(group.join("pids.events"), "max 3\n").unwrap();
        assert_eq!(groups.memory(), Some((true, Some(4000))));
        assert_eq!(groups.cpu_time(), None);
        fs::write(group.join("cpu.stat"), "usage_usec 1500000\nuser_usec 1\n").unwrap();
        assert_eq!(groups.cpu_time(), Some(Duration::from_millis(1500)));
        assert!(groups.ran_out_of_processes());
    }

    #[test]
    fn with_both_versions_mounted_each_controller_is_found() {
        let mounted = tempfile::tempdir().unwrap();
        fs::create_dir_all(mounted.path().join("memory/job")).unwrap();
        fs::create_dir_all(mounted.path().join("unified/user/app")).unwrap();
        fs::write(mounted.path().join("unified/user/cgroup.subtree_control"), "pids").unwrap();
        let own = "4:memory:/job\n0::/user/app\n";
        let groups = Groups::make_in(mounted.path(), own, &limits(), "stockade-1-1");
        fs::write(mounted.path().join("memory/job/stockade-1-1/cpuacct.usage"), "250000000\n").unwrap();
        assert_eq!(groups.cpu_time(), Some(Duration::from_millis(250)));
        let made: Vec<_> = groups.made.iter().map(|made| (made.controller.name, made.version)).collect();
        assert_eq!(made, [("memory", Version::One), ("pids", Version::Two)]);
        let text = fs::read_to_string(mounted.path().join("memory/job/stockade-1-1/memory.limit_in_bytes"));
        assert_eq!(text.unwrap(), "4096");
    }

    #[test]
    fn what_was_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let (own, other) = (format!("{NAME}{}-1", std::process::id()), format!("{NAME}4294967295-1"));
        for name in [own.as_str(), &other, "stockade-x-1", "stockade", "another"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        remove_what_was_left(parent.path());
        assert!(parent.path().join(&other).exists(), "it may have just been made");
        let long_ago = std::time::SystemTime::now() - OLD * 2;
        for entry in fs::read_dir(parent.path()).unwrap() {
            fs::File::open(entry.unwrap().path()).unwrap().set_modified(long_ago).unwrap();
        }
        remove_what_was_left(parent.path());
        assert!(!parent.path().join(&other).exists());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 4);
    }
}
