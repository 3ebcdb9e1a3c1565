//! Gives back the memory of code that ran once, in a program that only waits. What is needed again is read from its file.

#![expect(clippy::disallowed_methods, reason = "asks what lies where in the memory of this program")]

use std::fs;

use super::raw;

/// Gives back what the heap has no use for, and code and constants that are as they are in their files.
///
/// It is done where this is the only thread. Another one could put something else in the place of what is given back.
pub(crate) fn give_back() {
    let is_alone = fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    let Some(mappings) = fs::read_to_string("/proc/self/smaps").ok().filter(|_| is_alone) else { return };
    let unchanged = unchanged(&mappings);
    drop(mappings);
    raw::trim_heap();
    for (start, length) in unchanged {
        // SAFETY: what lies there is the same as in the file, and nobody else is there who could have changed it since.
        unsafe { raw::give_back(start, length) };
    }
}

/// What is shown of files, cannot be written, and has no page of its own: a debugger may have put something into code, and
/// the linker has into tables that nobody may write from then on.
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

/// Reads a line like `55d0-55e1 r-xp 00001000 fe:00 131 /usr/bin/x`. The inner value is nothing where that is of no interest,
/// the outer one where the line says something about the one before.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_as_in_its_file_is_given_back() {
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
            // What is said twice counts once, and what is said of nothing not at all.
            assert_eq!(
                unchanged(&format!("Anonymous: 0 kB\n{text}Anonymous: 0 kB\n")),
                expected,
                "{line} {own}"
            );
        }
    }
}
