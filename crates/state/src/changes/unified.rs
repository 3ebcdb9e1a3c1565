//! The difference between two files, line by line, as diff(1) and git write it.
//!
//! Lines that both have are found by Myers' algorithm (1986), in time that grows with how much is different. Where that is very
//! much, everything between the first and the last difference is shown as replaced.

use std::fmt::Write as _;

use stockade_guard::exec::review::{Content, FileChange};
use stockade_text::{escape_lines, escape_path};

/// The longest file of which lines are shown.
pub const MAX_DIFFED_FILE: u64 = 1 << 20;

/// How many lines may be different before no others are looked for between them.
const MAX_DIFFERENT: usize = 1_000;

/// How many lines are shown around a difference.
const AROUND: usize = 3;

/// Formats one change. File contents are untrusted, because the command wrote them, so they are escaped.
pub fn diff(change: &FileChange, before: &Content, after: &Content) -> String {
    let path = escape_path(&change.path);
    let mut text = format!("--- {}\n+++ {}\n", side("a", &path, before), side("b", &path, after));
    if let (Some(old), Some(new)) = change.modes()
        && old != new
    {
        writeln!(text, "mode {old:04o} -> {new:04o}").ok();
    }
    if let Some(why) = &change.refused {
        writeln!(text, "never applied: {}", escape_lines(why)).ok();
    }
    match (lines_of(before), lines_of(after)) {
        (Some(old), Some(new)) => hunks(&old, &new, &mut text),
        _ => text.push_str("what is in it is too long, or is no text\n"),
    }
    text
}

fn side(letter: &str, path: &str, content: &Content) -> String {
    match content {
        Content::Nothing => "/dev/null".to_owned(),
        Content::Folder => format!("{letter}/{path}/"),
        _ => format!("{letter}/{path}"),
    }
}

/// Returns the lines of a file, each with its end: no lines without a file, and nothing if its bytes are not text.
fn lines_of(content: &Content) -> Option<Vec<&str>> {
    match content {
        Content::Nothing | Content::Folder => Some(Vec::new()),
        Content::File(bytes) => {
            let text = str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
            Some(text.split_inclusive('\n').collect())
        }
        Content::Link(bytes) => str::from_utf8(bytes).ok().map(|text| vec![text]),
        _ => None,
    }
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Kept,
    Gone,
    New,
}

impl Edit {
    const fn sign(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Gone => '-',
            Self::New => '+',
        }
    }
}

fn hunks(old: &[&str], new: &[&str], text: &mut String) {
    let edits = edits(old, new);
    let mut at = 0;
    while let Some(first) = edits.iter().skip(at).position(|edit| *edit != Edit::Kept).map(|next| at + next) {
        let begin = first.saturating_sub(AROUND).max(at);
        let end = end_of_hunk(&edits, first);
        let count = |until: usize, from: usize, without: Edit| {
            edits.iter().take(until).skip(from).filter(|edit| **edit != without).count()
        };
        let (old_from, new_from) = (count(begin, 0, Edit::New), count(begin, 0, Edit::Gone));
        let (old_count, new_count) = (count(end, begin, Edit::New), count(end, begin, Edit::Gone));
        let from = |from: usize, count: usize| if count == 0 { from } else { from + 1 };
        writeln!(
            text,
            "@@ -{},{old_count} +{},{new_count} @@",
            from(old_from, old_count),
            from(new_from, new_count)
        )
        .ok();
        let (mut old_at, mut new_at) = (old_from, new_from);
        for edit in edits.iter().take(end).skip(begin) {
            let line = match edit {
                Edit::New => new.get(new_at),
                Edit::Kept | Edit::Gone => old.get(old_at),
            };
            old_at += usize::from(*edit != Edit::New);
            new_at += usize::from(*edit != Edit::Gone);
            let line = line.copied().unwrap_or_default();
            text.push(edit.sign());
            text.push_str(&escape_lines(line.strip_suffix('\n').unwrap_or(line)));
            text.push('\n');
            if !line.ends_with('\n') {
                text.push_str("\\ No newline at end of file\n");
            }
        }
        at = end;
    }
}

/// Where a hunk ends that begins with a difference: behind the last one that is near to the one before.
fn end_of_hunk(edits: &[Edit], first: usize) -> usize {
    let mut last = first;
    for (at, edit) in edits.iter().enumerate().skip(first) {
        if at > last + 2 * AROUND {
            break;
        }
        if *edit != Edit::Kept {
            last = at;
        }
    }
    (last + 1 + AROUND).min(edits.len())
}

/// What becomes of each line, in the order of the result.
fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let begin = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(begin..).unwrap_or_default(), new.get(begin..).unwrap_or_default());
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let old_rest = old_rest.get(..old_rest.len() - end).unwrap_or_default();
    let new_rest = new_rest.get(..new_rest.len() - end).unwrap_or_default();
    let mut edits = vec![Edit::Kept; begin];
    edits.extend(shortest(old_rest, new_rest).unwrap_or_else(|| {
        let gone = old_rest.iter().map(|_| Edit::Gone);
        gone.chain(new_rest.iter().map(|_| Edit::New)).collect()
    }));
    edits.extend(std::iter::repeat_n(Edit::Kept, end));
    edits
}

/// The shortest way from one to the other, if it is no longer than what is looked for.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    // `furthest[k]` is how far one comes in the old lines on the diagonal k, which is counted from the middle.
    let middle = MAX_DIFFERENT + 1;
    let mut furthest = vec![0_usize; 2 * middle + 1];
    let mut steps: Vec<Vec<usize>> = Vec::new();
    for length in 0..=MAX_DIFFERENT {
        let around = furthest.get(middle - length.min(middle)..=middle + length).unwrap_or_default();
        steps.push(around.to_vec());
        for k in (middle - length..=middle + length).step_by(2) {
            let x = start(&furthest, k, middle, length)?;
            let y = (x + middle).checked_sub(k)?;
            let same = old.iter().skip(x).zip(new.iter().skip(y)).take_while(|(old, new)| old == new).count();
            *furthest.get_mut(k)? = x + same;
            if x + same >= old.len() && y + same >= new.len() {
                return way_back(&steps, old.len(), new.len());
            }
        }
    }
    None
}

/// Where one begins on a diagonal: below what came furthest above it, or right of what came furthest beside it.
fn start(furthest: &[usize], k: usize, middle: usize, length: usize) -> Option<usize> {
    let (lower, upper) = (*furthest.get(k - 1)?, *furthest.get(k + 1)?);
    let is_down = k == middle - length || (k != middle + length && lower < upper);
    Some(if is_down { upper } else { lower + 1 })
}

/// Walks back from the end, and returns the edits on the way.
fn way_back(steps: &[Vec<usize>], mut x: usize, mut y: usize) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    for (length, around) in steps.iter().enumerate().skip(1).rev() {
        // What was kept of that step begins `length` diagonals before the middle.
        let at = |k: isize| around.get(usize::try_from(k + length as isize).ok()?).copied();
        let (signed, long) = (x as isize - y as isize, length as isize);
        let (lower, upper) = (at(signed - 1), at(signed + 1));
        let is_down = signed == -long || (signed != long && lower < upper);
        let before_x = if is_down { upper? } else { lower? };
        let before_k = if is_down { signed + 1 } else { signed - 1 };
        let before_y = usize::try_from(before_x as isize - before_k).ok()?;
        let (from_x, from_y) = if is_down { (before_x, before_y + 1) } else { (before_x + 1, before_y) };
        while x > from_x && y > from_y {
            edits.push(Edit::Kept);
            (x, y) = (x - 1, y - 1);
        }
        edits.push(if is_down { Edit::New } else { Edit::Gone });
        (x, y) = (before_x, before_y);
    }
    edits.extend(std::iter::repeat_n(Edit::Kept, x));
    edits.reverse();
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one becomes by the edits.
    fn applied<'l>(old: &[&'l str], new: &[&'l str], edits: &[Edit]) -> Vec<&'l str> {
        let (mut old_at, mut new_at, mut out) = (0, 0, Vec::new());
        for edit in edits {
            match edit {
                Edit::Kept => {
                    assert_eq!(old[old_at], new[new_at]);
                    out.push(old[old_at]);
                    (old_at, new_at) = (old_at + 1, new_at + 1);
                }
                Edit::Gone => old_at += 1,
                Edit::New => {
                    out.push(new[new_at]);
                    new_at += 1;
                }
            }
        }
        assert_eq!(old_at, old.len());
        out
    }

    #[test]
    fn edits_lead_from_one_to_the_other_and_are_the_fewest() {
        let mut seed = 7_u64;
        let mut next = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for _ in 0..2_000 {
            let mut lines = || -> Vec<&str> {
                let count = next(9);
                (0..count).map(|_| ["a", "b", "c"][next(3) as usize]).collect()
            };
            let (old, new) = (lines(), lines());
            let edits = edits(&old, &new);
            assert_eq!(applied(&old, &new, &edits), new);
            let kept = edits.iter().filter(|edit| **edit == Edit::Kept).count();
            assert_eq!(kept, longest(&old, &new), "{old:?} {new:?} {edits:?}");
        }
    }

    /// How many lines both have in the same order, by trying everything.
    fn longest(old: &[&str], new: &[&str]) -> usize {
        match (old.split_first(), new.split_first()) {
            (Some((one, old_rest)), Some((other, new_rest))) if one == other => {
                1 + longest(old_rest, new_rest)
            }
            (Some((_, old_rest)), Some((_, new_rest))) => longest(old_rest, new).max(longest(old, new_rest)),
            _ => 0,
        }
    }

    #[test]
    fn much_that_is_different_is_shown_as_replaced() {
        let many = |letter: &str| (0..20_000).map(|at| format!("{letter}{at}\n")).collect::<String>();
        let (old, new) = (many("a"), many("b"));
        let lines = |text: &'static str| text.split_inclusive('\n').collect::<Vec<_>>();
        let (old, new) = (lines(old.leak()), lines(new.leak()));
        assert_eq!(edits(&old, &new).len(), 40_000);
    }

    #[test]
    fn hunks_are_written_as_git_writes_them() {
        let old: Vec<String> = (1..=20).map(|at| format!("{at}\n")).collect();
        let mut new = old.clone();
        new[1] = "two\n".to_owned();
        new.push("end".to_owned());
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let mut text = String::new();
        hunks(&old, &new, &mut text);
        let wanted = "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -18,3 +18,4 @@\n 18\n 19\n 20\n+end\n\\ No newline at end of file\n";
        assert_eq!(text, wanted);
        let mut text = String::new();
        hunks(&[], &["a\n"], &mut text);
        assert_eq!(text, "@@ -0,0 +1,1 @@\n+a\n");
    }
}
