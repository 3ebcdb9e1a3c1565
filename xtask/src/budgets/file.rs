//! `budgets.toml`: which commands are measured, and what each may cost. Of TOML it uses sections, and on one line each: strings
//! without escapes, lists of strings and tables of whole numbers; only a script has lines of its own, between `'''`.

/// Begins and ends a script.
const SCRIPT: &str = "'''";

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// Instructions of the program itself, without the kernel's.
    Instructions,
    /// Calls of the kernel, of all processes that the program starts, but for those whose number depends on timing.
    SystemCalls,
    /// Calls that wait for the disk.
    Syncs,
    /// Pages that the kernel gave to the program.
    PageFaults,
    /// The memory at its peak, in KiB.
    PeakKib,
}

const COSTS: [(Cost, &str); 5] = [
    (Cost::Instructions, "instructions"),
    (Cost::SystemCalls, "system_calls"),
    (Cost::Syncs, "syncs"),
    (Cost::PageFaults, "page_faults"),
    (Cost::PeakKib, "peak_kib"),
];

/// What may be spent on one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Budget {
    /// What is counted.
    pub(super) cost: Cost,
    /// The figure at the last accepted change.
    pub(super) was: u64,
    /// What it may never pass.
    pub(super) limit: u64,
    /// What it should come down to.
    pub(super) goal: Option<u64>,
}

/// One command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// For the command line and the table.
    pub(super) name: String,
    /// For people.
    pub(super) what: String,
    /// Why the costs are what they were last accepted as.
    pub(super) why: String,
    /// The shell script that makes what the command works on.
    pub(super) prepare: String,
    /// The arguments of the program.
    pub(super) run: Vec<String>,
    /// The file that is its standard input.
    pub(super) input: Option<String>,
    /// The exit code that it ends with when it works.
    pub(super) exit: u64,
    /// What is measured.
    pub(super) budgets: Vec<Budget>,
}

impl Cost {
    /// Its key in the file.
    pub(super) fn name(self) -> &'static str {
        COSTS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    fn of_name(name: &str) -> Option<Self> {
        COSTS.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

impl Budget {
    /// Whether this is more by over a twentieth, and the same on every machine.
    pub(super) fn is_much_more(&self, now: u64) -> bool {
        let is_exact = matches!(self.cost, Cost::Instructions | Cost::Syncs);
        is_exact && u128::from(now) * 20 > u128::from(self.was) * 21
    }
}

/// Reads the file.
pub(super) fn parse(text: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line == format!("prepare = {SCRIPT}") {
            let script: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != SCRIPT).collect();
            sections.last_mut().ok_or("budgets.toml begins with a script")?.prepare = script.join("\n");
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = section_name(line) {
            sections.push(Section { name: name.to_owned(), ..Section::default() });
            continue;
        }
        let read = sections.last_mut().and_then(|section| section.set(line));
        read.ok_or_else(|| format!("budgets.toml:{number}: cannot read `{line}`"))?;
    }
    Ok(sections)
}

/// Writes what was measured into the text of the file, with the reason, and leaves every other line as it is.
pub(super) fn accept(text: &str, measured: &[(&str, Cost, u64)], reason: &str) -> String {
    let mut section = "";
    let mut accepted = String::new();
    for line in text.lines() {
        section = section_name(line).unwrap_or(section);
        let of_section: Vec<_> = measured.iter().filter(|(name, ..)| *name == section).collect();
        accepted.push_str(&accepted_line(line, &of_section, reason));
        accepted.push('\n');
    }
    accepted
}

fn accepted_line(line: &str, measured: &[&(&str, Cost, u64)], reason: &str) -> String {
    let Some((key, value)) = line.split_once(" = ") else { return line.to_owned() };
    if key == "why" && !measured.is_empty() {
        return format!("why = \"{}\"", reason.replace(['"', '\\', '\n'], " "));
    }
    let now = measured.iter().find(|(_, cost, _)| cost.name() == key).map(|(.., now)| *now);
    match (now, Cost::of_name(key).and_then(|cost| budget(cost, value))) {
        (Some(now), Some(budget)) => {
            let goal =
                budget.goal.map(|goal| format!(", goal = {}", super::grouped(goal))).unwrap_or_default();
            let limit = super::grouped(budget.limit.max(now));
            format!("{key} = {{ was = {}, limit = {limit}{goal} }}", super::grouped(now))
        }
        _ => line.to_owned(),
    }
}

/// The name in `[name]`. Lines of scripts may begin with a bracket, too.
fn section_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-').then_some(name)
}

impl Section {
    fn set(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once(" = ")?;
        match key {
            "what" => self.what = string(value)?.to_owned(),
            "why" => self.why = string(value)?.to_owned(),
            "input" => self.input = Some(string(value)?.to_owned()),
            "run" => self.run = strings(value)?,
            "exit" => self.exit = number(value)?,
            cost => self.budgets.push(budget(Cost::of_name(cost)?, value)?),
        }
        Some(())
    }
}

fn budget(cost: Cost, value: &str) -> Option<Budget> {
    let fields = value.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut budget = Budget { cost, was: 0, limit: 0, goal: None };
    for field in fields.split(',') {
        let (key, value) = field.split_once('=')?;
        let value = number(value)?;
        match key.trim() {
            "was" => budget.was = value,
            "limit" => budget.limit = value,
            "goal" => budget.goal = Some(value),
            _ => return None,
        }
    }
    Some(budget)
}

fn number(text: &str) -> Option<u64> {
    text.trim().replace('_', "").parse().ok()
}

/// A string in either kind of quotes, without escapes.
fn string(text: &str) -> Option<&str> {
    let text = text.trim();
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let has_escape = quote == '"' && inner.contains('\\');
    (!has_escape && !inner.contains(quote)).then_some(inner)
}

fn strings(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut found = Vec::new();
    while let Some(quote) = rest.chars().next() {
        let end = rest.get(1..)?.find(quote)? + 2;
        found.push(string(rest.get(..end)?)?.to_owned());
        rest = rest.get(end..)?.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# A comment.
[scan]
what = "a clean file"
why = "first measured"
prepare = '''
echo "a, b" > x
[ -f x ]
'''
run = ["scan", "x"]
input = "x"
exit = 1
instructions = { was = 5_900_000, limit = 6_000_000, goal = 2_500_000 }
syncs = { was = 0, limit = 0 }

[other]
run = []
why = "first measured"
"#;

    #[test]
    fn sections_are_read() {
        let sections = parse(TEXT).unwrap();
        assert_eq!(sections.len(), 2);
        let scan = &sections[0];
        assert_eq!((scan.name.as_str(), scan.what.as_str(), scan.exit), ("scan", "a clean file", 1));
        assert_eq!(scan.prepare, "echo \"a, b\" > x\n[ -f x ]");
        assert_eq!(sections[1].prepare, "");
        assert_eq!(scan.run, ["scan", "x"]);
        assert_eq!(scan.input.as_deref(), Some("x"));
        assert_eq!(
            scan.budgets,
            [
                Budget { cost: Cost::Instructions, was: 5_900_000, limit: 6_000_000, goal: Some(2_500_000) },
                Budget { cost: Cost::Syncs, was: 0, limit: 0, goal: None },
            ]
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for line in ["speed = 3", "syncs = 3", "run = scan", "what = \"a\"b\"", "syncs = { is = 3 }"] {
            let error = parse(&format!("[scan]\n{line}\n")).unwrap_err();
            assert!(error.contains("budgets.toml:2:"), "{error}");
        }
        assert!(parse("run = []\n").is_err(), "before any section");
    }

    #[test]
    fn what_is_accepted_changes_its_own_lines_alone() {
        let measured = [("scan", Cost::Instructions, 4_000_000), ("scan", Cost::Syncs, 1)];
        let accepted = accept(TEXT, &measured, "the table is \"constant\"");
        let expected = TEXT
            .replacen("first measured", "the table is  constant ", 1)
            .replace("was = 5_900_000", "was = 4_000_000")
            .replace("was = 0, limit = 0", "was = 1, limit = 1");
        assert_eq!(accepted, expected);
    }
}
