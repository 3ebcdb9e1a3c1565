//! Returns the memory of code that ran once to the kernel, in a program that only waits. Needed pages are read from the file
//! again.

#![expect(clippy::disallowed_methods, reason = "asks what lies where in the memory of this program")]

use std::fs;

use stockade_files::read_kernel_line;

use super::raw;

/// Unchanged file-backed mappings (code and constants) of this program.
#[derive(Default)]
pub(crate) struct Code {
    ranges: Vec<(usize, usize)>,
}

impl Code {
    /// Finds these mappings, and trims the heap. In a program with several threads it finds none, because another thread could
    /// replace a mapping meanwhile.
    pub(crate) fn find() -> Self {
        let is_alone = fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
        let mappings =
            if is_alone { fs::read_to_string("/proc/self/smaps") } else { return Self::default() };
        let ranges = mappings.map(|mappings| unchanged(&mappings)).unwrap_or_default();
        raw::trim_heap();
        Self { ranges }
    }

    /// Drops these pages, then calls `wait`, whose code is the only one that is loaded again. The program must still be
    /// single-threaded and must not have loaded a library since.
    #[inline(never)]
    pub(crate) fn give_back_and<T>(&self, wait: impl FnOnce() -> T) -> T {
        for (start, length) in &self.ranges {
            // SAFETY: the mapping is unchanged from its file, and the only thread is here and has not changed it since.
            unsafe { raw::give_back(*start, *length) };
        }
        wait()
    }
}

/// Returns read-only private file mappings without anonymous pages. Anonymous pages are changed ones: breakpoints of a debugger,
/// or relocations that the dynamic linker has written and then made read-only.
fn unchanged(mappings: &str) -> Vec<(usize, usize)> {
    let (mut found, mut last) = (Vec::new(), None);
    for line in mappings.lines() {
        last = mapping(line).or(last);
        if let Some(own) = line.strip_prefix("Anonymous:") {
            let mapping = last.take().flatten();
            found.extend(mapping.filter(|_| own.trim() == "0 kB"));
        }
    }
    found
}

/// Parses a line like `55d0-55e1 r-xp 00001000 fe:00 131 /usr/bin/x`. Returns `None` for a field of the previous mapping, and
/// `Some(None)` for a mapping to skip.
fn mapping(line: &str) -> Option<Option<(usize, usize)>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let place = |digits| usize::from_str_radix(digits, 16).ok();
    let (start, end) = (place(start)?, place(end)?);
    let access = fields.next()?;
    let is_of_a_file = fields.nth(2).is_some_and(|number| number != "0");
    let is_wanted = access.starts_with("r-") && access.ends_with('p') && is_of_a_file;
    Some((is_wanted && end > start).then(|| (start, end - start)))
}

/// Returns where the arguments and variables of this program lie in memory.
pub(crate) fn own_arguments_and_variables() -> Vec<(usize, usize)> {
    // The first two fields may hold blanks and brackets; the others are numbers. See proc_pid_stat(5).
    const FIRST: usize = 3;
    let Ok(text) = read_kernel_line("/proc/self/stat") else { return Vec::new() };
    let Some((_, rest)) = text.rsplit_once(')') else { return Vec::new() };
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |number: usize| fields.get(number - FIRST)?.parse::<usize>().ok();
    let range = |start: usize, end: usize| {
        let (start, end) = (field(start)?, field(end)?);
        (start > 0 && end > start).then(|| (start, end - start))
    };
    [range(48, 49), range(50, 51)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unmodified_file_mappings_are_dropped() {
        let rows = [
            ("1000-3000 r-xp 00001000 fe:00 131 /usr/bin/x", "0 kB", true),
            ("1000-3000 r--p 00000000 fe:00 131 /usr/bin/x", "0 kB", true),
            ("1000-3000 r--p 00000000 fe:00 131 /usr/bin/x", "32 kB", false),
            ("1000-3000 r-xp 00001000 fe:00 131 /usr/bin/x", "4 kB", false),
            ("1000-3000 rw-p 00000000 fe:00 131 /usr/bin/x", "0 kB", false),
            ("1000-3000 r--s 00000000 fe:00 131 /usr/bin/x", "0 kB", false),
            ("1000-3000 ---p 00000000 fe:00 131 /usr/bin/x", "0 kB", false),
            ("1000-3000 r-xp 00000000 00:00 0 [vdso]", "0 kB", false),
            ("1000-3000 r--p 00000000 00:00 0", "0 kB", false),
        ];
        for (line, own, is_given_back) in rows {
            let text = format!("{line}\nSize: 8 kB\nPss_Anon: 0 kB\nAnonymous: {own}\nVmFlags: rd mr\n");
            let expected: &[_] = if is_given_back { &[(0x1000, 0x2000)] } else { &[] };
            assert_eq!(unchanged(&text), expected, "{line} {own}");
            // A repeated field counts once, and a field without a mapping is ignored.
            assert_eq!(
                unchanged(&format!("Anonymous: 0 kB\n{text}Anonymous: 0 kB\n")),
                expected,
                "{line} {own}"
            );
        }
    }
}
