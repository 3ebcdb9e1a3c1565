//! What a front end may set of [`ResourceLimits`].

use std::time::Duration;

use crate::limits::{Limit, Priority, ResourceLimits};
use crate::processors::Processors;

/// Resource limits of a command; each has the default of `stockade exec`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ResourceLimits"))]
pub struct LimitsPatch {
    /// Wall-clock time limit.
    #[cfg_attr(feature = "clap", arg(long = "timeout", value_name = "TIME", value_parser = super::cli::millis))]
    pub wall_time_ms: Option<u64>,

    /// CPU time limit per process.
    #[cfg_attr(feature = "clap", arg(long = "cpu-time", value_name = "TIME", value_parser = super::cli::millis))]
    pub cpu_time_ms: Option<u64>,

    /// Number of CPUs, such as 2 or 0.5.
    #[cfg_attr(feature = "clap", arg(long = "cpus", value_name = "N"))]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub processors: Option<Processors>,

    /// Memory limit.
    #[cfg_attr(feature = "clap", arg(long = "memory", value_name = "SIZE", value_parser = super::cli::memory))]
    pub memory_bytes: Option<u64>,

    /// Maximum number of concurrent processes and threads.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub processes: Option<u64>,

    /// Maximum size of a written file.
    #[cfg_attr(feature = "clap", arg(long = "file-size", value_name = "SIZE", value_parser = super::cli::size))]
    pub file_size_bytes: Option<u64>,

    /// Maximum growth of writable file systems.
    ///
    /// Writes of other programs to these file systems count too, since a file system does not record who wrote.
    #[cfg_attr(feature = "clap", arg(long = "disk", value_name = "SIZE", value_parser = super::cli::size))]
    pub disk_bytes: Option<u64>,

    /// Maximum number of new files and directories on writable file systems.
    #[cfg_attr(feature = "clap", arg(long = "files", value_name = "N"))]
    pub disk_files: Option<u64>,

    /// Maximum number of open files per process.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub open_files: Option<u64>,

    /// Size of the private `/tmp`.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub scratch_bytes: Option<u64>,

    /// Maximum output; by default 32 MiB, and no limit for `stockade exec` without `--format json`.
    ///
    /// Further output is dropped. `stockade exec` reports the number of dropped bytes on standard error even with --quiet, and a
    /// successful command exits with 122. With `--format json`, `droppedBytes` reports it, and the exit code is unchanged.
    #[cfg_attr(feature = "clap", arg(long = "max-output", value_name = "SIZE", value_parser = super::cli::size))]
    pub output_bytes: Option<u64>,

    /// CPU priority of the command; `low` by default.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PRIORITY"))]
    pub priority: Option<Priority>,
}

impl LimitsPatch {
    /// Returns the time limit of the command.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.wall_time_ms.map(Duration::from_millis)
    }

    /// Returns every limit, as a backend receives it; what is missing is unlimited.
    #[must_use]
    pub fn of(limits: &ResourceLimits) -> Self {
        let millis = |time: Limit<Duration>| {
            time.bound().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
        };
        // Every field by name, so that a new limit is not forgotten here.
        let &ResourceLimits {
            wall_time,
            cpu_time,
            processors,
            memory,
            processes,
            file_size,
            disk,
            files,
            open_files,
            scratch,
            output,
            priority,
        } = limits;
        Self {
            wall_time_ms: millis(wall_time),
            cpu_time_ms: millis(cpu_time),
            processors: processors.bound(),
            memory_bytes: memory.bound(),
            processes: processes.bound(),
            file_size_bytes: file_size.bound(),
            disk_bytes: disk.bound(),
            disk_files: files.bound(),
            open_files: open_files.bound(),
            scratch_bytes: Some(scratch),
            output_bytes: output.bound(),
            priority: Some(priority),
        }
    }

    /// Sets the limits that are named here; everything else stays.
    pub fn apply(self, limits: &mut ResourceLimits) {
        fn set<T: Copy>(limit: &mut Limit<T>, named: Option<T>) {
            *limit = named.map_or(*limit, Limit::AtMost);
        }
        set(&mut limits.wall_time, self.timeout());
        set(&mut limits.cpu_time, self.cpu_time_ms.map(Duration::from_millis));
        set(&mut limits.processors, self.processors);
        set(&mut limits.memory, self.memory_bytes);
        set(&mut limits.processes, self.processes);
        set(&mut limits.file_size, self.file_size_bytes);
        set(&mut limits.disk, self.disk_bytes);
        set(&mut limits.files, self.disk_files);
        set(&mut limits.open_files, self.open_files);
        limits.scratch = self.scratch_bytes.unwrap_or(limits.scratch);
        set(&mut limits.output, self.output_bytes);
        limits.priority = self.priority.unwrap_or(limits.priority);
    }
}
