//! Admission of a skill before a model sees it: scan, clean, scan again.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Serialize;
use stockade_files::{FileOptions, Gap, TextFile};
use stockade_policy::SkillTools;
use stockade_sanitize::{DEFAULT_MAX_CHARS, SanitizeOptions, Sanitized, sanitize};
use stockade_scanner::{Scanner, Severity};
use stockade_skill::{
    Dialect, FilePosition, NAME_FIX, ProblemLevel, SkillFrame, SkillManifest, SkillProblem, SkillProblems,
    SurfaceKind, read_head, split_head, unix_lines, unusable,
};
use thiserror::Error;

use stockade_text::{Node, TextPosition};

use crate::canary::check_scanner;
use crate::skill::{
    Bundle, Findings, Others, PromptRefused, Reading, SkillFinding, SkillSource, Surface, Surfaces,
    check_tools, is_sweeping, one_line, prompt, read_bundle, tools_of,
};

/// How [`admit`] examines a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmitOptions {
    /// Dialect of the front matter.
    pub dialect: Dialect,
    /// Whether notes of the dialect are errors.
    pub strict: bool,
    /// Maximum number of characters of the text that reach a prompt.
    pub max_chars: usize,
    /// Handling of a skill with a critical finding.
    pub on_critical: OnCritical,
    /// Limits on reading.
    pub files: FileOptions,
    /// Locks that the skill must satisfy, all of them. A skill that differs from its lock, or is missing there, is
    /// rejected.
    #[cfg(feature = "lock")]
    pub locks: Vec<std::sync::Arc<crate::lock::SkillLock>>,
    /// The same as files, which are read again for every skill.
    #[cfg(feature = "lock")]
    pub lock_files: Vec<PathBuf>,
}

/// Handling of a skill with a critical finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnCritical {
    /// The skill is rejected.
    #[default]
    Block,
    /// Admit it, and flag it.
    Flag,
}

impl Default for AdmitOptions {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            strict: false,
            max_chars: DEFAULT_MAX_CHARS,
            on_critical: OnCritical::default(),
            files: FileOptions { max_entries: 10_000, ..FileOptions::default() },
            #[cfg(feature = "lock")]
            locks: Vec::new(),
            #[cfg(feature = "lock")]
            lock_files: Vec::new(),
        }
    }
}

/// Result of admitting a skill.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Admission {
    /// No problem was found, and it can be used.
    Accepted(Box<LoadedSkill>),
    /// It can be used, after a review of its report.
    Flagged(Box<LoadedSkill>),
    /// It cannot be used: its form is not permitted by its dialect, or is ambiguous. It is not an attack.
    Malformed(Box<SkillReport>),
    /// It must not be used: it attacks, runs a denied command, or differs from its lock.
    Blocked(Box<SkillReport>),
}

/// An admitted skill. The type proves that its text was scanned, cleaned and scanned again.
///
/// ```
/// use stockade_admission::{AdmitOptions, Admission, SkillSource, admit, scanner::Scanner};
///
/// let text = "---\nname: greet\ndescription: Greets a person.\n---\nSay hello to $1.<!-- quietly -->\n";
/// let source = SkillSource::Text { name: "SKILL.md", text };
/// let Admission::Accepted(skill) = admit(&source, Scanner::builtin(), &AdmitOptions::default())? else {
///     return Err("it was not accepted".into());
/// };
/// assert!(skill.prompt("Ada", Scanner::builtin())?.contains("Say hello to Ada."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LoadedSkill {
    manifest: SkillManifest,
    tools: SkillTools,
    frame: SkillFrame,
    report: SkillReport,
}

/// Report on a skill.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillReport {
    /// Its name, cleaned; that of its file or directory if it has none.
    pub name: String,
    /// The dialect in which it was read.
    pub dialect: Dialect,
    /// Its problems, worst first.
    pub problems: Vec<SkillProblem>,
    /// The scanner's findings, worst first.
    pub findings: Vec<SkillFinding>,
    /// The surfaces that run.
    pub surfaces: Vec<Surface>,
    /// Number of HTML comments that were removed from its text.
    pub comments_removed: usize,
    /// Number of invisible characters that were removed from its text.
    pub invisible_removed: usize,
    /// The message that these encode, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_text: Option<String>,
    /// Number of examined files.
    pub files: usize,
    /// Scanner rules that were off, each with the source of that setting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules_off: Vec<String>,
}

/// A skill could not be read, so that there is no verdict.
#[derive(Debug, Error)]
#[error("cannot read the skill {}: {gap}", path.display())]
#[non_exhaustive]
pub struct AdmitError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub gap: Gap,
}

/// Admits or rejects a skill. Nothing in it is run.
///
/// # Errors
/// When it cannot be read. Callers treat that as a rejection.
pub fn admit(
    source: &SkillSource<'_>,
    scanner: &Scanner,
    options: &AdmitOptions,
) -> Result<Admission, AdmitError> {
    let admission = admit_unlocked(source, scanner, options)?;
    #[cfg(feature = "lock")]
    if let Some(drift) = crate::lock::first_drift(source, &admission, options)? {
        return Ok(admission.turned_away(&drift));
    }
    Ok(admission)
}

/// The same, without checking locks.
pub(crate) fn admit_unlocked(
    source: &SkillSource<'_>,
    scanner: &Scanner,
    options: &AdmitOptions,
) -> Result<Admission, AdmitError> {
    check_scanner(scanner).map_err(|blind| AdmitError {
        path: source.name().to_owned(),
        gap: Gap::Unreadable(std::io::Error::other(blind)),
    })?;
    let bundle = match *source {
        SkillSource::Text { name, text } => Bundle {
            name: name.to_owned(),
            main: TextFile::stored(text),
            folder: None,
            others: Default::default(),
        },
        SkillSource::Path(path) => {
            read_bundle(path, scanner, &options.files).map_err(|(path, gap)| AdmitError { path, gap })?
        }
    };
    Ok(Examination {
        scanner,
        options,
        problems: SkillProblems::new(options.dialect, options.strict),
        findings: Findings::default(),
    }
    .judge(bundle))
}

impl LoadedSkill {
    /// Returns its name, cleaned.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.frame.name
    }

    /// Returns its purpose, cleaned and on one line.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.frame.description
    }

    /// Returns its claims about itself, uncleaned.
    #[must_use]
    pub const fn manifest(&self) -> &SkillManifest {
        &self.manifest
    }

    /// Returns the tools that it lists: an upper bound on its permissions.
    #[must_use]
    pub const fn tools(&self) -> &SkillTools {
        &self.tools
    }

    /// Returns its report.
    #[must_use]
    pub const fn report(&self) -> &SkillReport {
        &self.report
    }

    /// Returns its text, cleaned. For a prompt, use [`LoadedSkill::prompt`].
    #[must_use]
    pub fn body(&self) -> &str {
        &self.frame.body
    }

    /// Returns its entry in a list, for a model to choose from: `<skill>` with name and purpose.
    #[must_use]
    pub fn listing(&self) -> String {
        self.frame.listing()
    }

    /// Returns the skill as a model reads it: its text with arguments, in a frame that it cannot leave.
    ///
    /// # Errors
    /// When the arguments turn it into an attack, or the result is too long.
    pub fn prompt(&self, arguments: &str, scanner: &Scanner) -> Result<String, PromptRefused> {
        prompt(&self.frame, arguments, scanner)
    }
}

impl Admission {
    /// Returns the report of any result.
    #[must_use]
    pub fn report(&self) -> &SkillReport {
        match self {
            Self::Accepted(skill) | Self::Flagged(skill) => &skill.report,
            Self::Malformed(report) | Self::Blocked(report) => report,
        }
    }

    /// Returns the skill, if it was admitted.
    #[must_use]
    pub fn loaded(self) -> Option<Box<LoadedSkill>> {
        match self {
            Self::Accepted(skill) | Self::Flagged(skill) => Some(skill),
            Self::Malformed(_) | Self::Blocked(_) => None,
        }
    }

    /// Returns the name: `accepted`, `flagged`, `malformed` or `blocked`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Flagged(_) => "flagged",
            Self::Malformed(_) => "malformed",
            Self::Blocked(_) => "blocked",
        }
    }
}

#[cfg(feature = "lock")]
impl Admission {
    /// Rejects the skill, since it differs from its lock.
    fn turned_away(self, drift: &crate::lock::SkillDrift) -> Self {
        let mut report = match self {
            Self::Accepted(skill) | Self::Flagged(skill) => Box::new(skill.report),
            Self::Malformed(report) | Self::Blocked(report) => report,
        };
        let position =
            FilePosition { path: drift.first_file().unwrap_or("SKILL.md"), at: TextPosition::START };
        let mut problems = SkillProblems::new(report.dialect, false);
        let rule = if drift.is_new { "not-locked" } else { "changed-since-locked" };
        problems.add(rule, position, drift, "review the changes, then run `stockade skill lock` on it");
        let (told, _) = problems.end();
        report.problems.splice(0..0, told);
        Self::Blocked(report)
    }
}

/// State of one admission.
struct Examination<'d> {
    scanner: &'d Scanner,
    options: &'d AdmitOptions,
    problems: SkillProblems,
    findings: Findings,
}

impl Examination<'_> {
    fn judge(mut self, bundle: Bundle) -> Admission {
        let Bundle { name: path, main, folder, mut others } = bundle;
        let start = FilePosition { path: &path, at: TextPosition::START };
        if !main.as_stored {
            let message = "the file is not plain UTF-8: other programs may decode it differently";
            self.problems.add("not-plain-text", start, message, "save it as UTF-8, without NUL bytes");
        }
        self.findings.add(&self.scanner.scan(&main.text), &path, 0, Reading::Written);
        for (name, gap) in &others.gaps {
            let position = FilePosition { path: name, at: TextPosition::START };
            self.problems.add("not-read", position, gap, "remove it, or make it readable");
        }
        let (found, cut) = std::mem::take(&mut others.findings).end();
        self.findings.extend(found, cut || others.cut);

        let text = unix_lines(&main.text);
        let split = split_head(&text);
        let (mut manifest, head) = read_head(&split, &path, &check_tools, &mut self.problems);
        self.values(&manifest, head.as_ref(), &path);
        self.tools(&manifest, head.as_ref(), &path);
        let cleaned = self.body(split.body, &path, split.lines_before);
        let surfaces =
            self.surfaces(head.as_ref(), split.body, &cleaned.body, &path, split.lines_before, &others);
        self.name_and_use(&mut manifest, head.is_some(), &cleaned.body, folder.as_deref(), &path);
        let worst = self.findings.worst();
        let (findings, cut) = std::mem::take(&mut self.findings).end();
        if cut {
            let message = "there are more findings than listed";
            self.problems.add(
                "too-many-findings",
                start,
                message,
                "fix the listed findings, then scan again",
            );
        }

        let frame = SkillFrame {
            name: one_line(manifest.name.as_deref().unwrap_or(&path), 64),
            description: one_line(manifest.description.as_deref().unwrap_or_default(), 1024),
            folder: folder.map(|folder| one_line(&folder.to_string_lossy(), 4096)),
            files: others.names.iter().map(|name| one_line(name, 1024)).collect(),
            arguments: manifest.arguments.clone(),
            body: cleaned.body.trim().to_owned(),
        };
        let attacks = self.problems.attacks();
        let (problems, level) = self.problems.end();
        let report = SkillReport {
            name: frame.name.clone(),
            dialect: self.options.dialect,
            problems,
            findings,
            surfaces,
            comments_removed: cleaned.html_comments_stripped,
            invisible_removed: cleaned.invisible_stripped.count,
            hidden_text: cleaned.hidden_text,
            files: others.count + 1,
            rules_off: self.scanner.rules_off().map(ToString::to_string).collect(),
        };
        let refused = worst == Some(Severity::Critical) && self.options.on_critical == OnCritical::Block;
        if refused || attacks {
            return Admission::Blocked(Box::new(report));
        }
        if level == ProblemLevel::Error {
            return Admission::Malformed(Box::new(report));
        }
        let flagged = worst.is_some() || level == ProblemLevel::Warning;
        let skill = Box::new(LoadedSkill { tools: tools_of(&manifest), manifest, frame, report });
        if flagged { Admission::Flagged(skill) } else { Admission::Accepted(skill) }
    }

    /// Scans the front matter values that reach a prompt: YAML quotes and escapes may have hidden them until here.
    fn values(&mut self, manifest: &SkillManifest, head: Option<&Node>, path: &str) {
        let texts = [
            ("name", &manifest.name),
            ("description", &manifest.description),
            ("when_to_use", &manifest.when_to_use),
            ("argument-hint", &manifest.argument_hint),
        ];
        for (key, text) in texts {
            let Some(text) = text else { continue };
            let line = head.and_then(|head| head.value.get(key)).map_or(0, |entry| entry.at.line - 1);
            self.findings.add(&self.scanner.scan(text), path, line, Reading::Value);
            let cleaned = sanitize(text, &SanitizeOptions::default());
            self.findings.add(&self.scanner.scan(&cleaned.body), path, line, Reading::Value);
        }
    }

    /// Reports a skill that asks for every command or tool. Its list only narrows here, but may grant elsewhere.
    fn tools(&mut self, manifest: &SkillManifest, head: Option<&Node>, path: &str) {
        let tools = tools_of(manifest);
        let Some(broad) = tools.listed().and_then(|tools| tools.iter().find(|tool| tool.is_broad())) else {
            return;
        };
        let keys = ["allowed-tools", "allowedTools", "allowed_tools"];
        let entry = head.and_then(|head| keys.iter().find_map(|key| head.value.get(key)));
        let at = entry.map_or(TextPosition::START, |entry| entry.at);
        let position = FilePosition { path, at };
        let message = format_args!("the skill requests every use of `{}` without asking", broad.name());
        let fix = "list the required commands, such as `Bash(git:*)`";
        match is_sweeping(&manifest.tools) {
            true => self.problems.add("broad-tools", position, message, fix),
            false => self.problems.add("whole-shell", position, message, fix),
        }
    }

    fn body<'t>(&mut self, body: &'t str, path: &str, lines_before: usize) -> Sanitized<'t> {
        let at = TextPosition::START.below(lines_before);
        let position = FilePosition { path, at };
        let options = SanitizeOptions { max_chars: self.options.max_chars, ..SanitizeOptions::default() };
        let cleaned = sanitize(body, &options);
        self.findings.add(&self.scanner.scan(&cleaned.body), path, lines_before, Reading::Cleaned);
        if let Some(hidden) = &cleaned.hidden_text {
            self.findings.add(&self.scanner.scan(hidden), path, lines_before, Reading::Hidden);
        }
        if cleaned.tag_block_detected || cleaned.hidden_text.is_some() {
            let message = "invisible characters contain a message";
            self.problems.add(
                "hidden-text",
                position,
                message,
                "write it in visible characters, or remove it",
            );
        }
        if cleaned.body.trim().is_empty() {
            self.problems.add(
                "empty-body",
                position,
                "no text after the front matter",
                "add instructions for a model",
            );
        }
        if cleaned.truncated {
            let message = format_args!("the model only gets the first {} characters", self.options.max_chars);
            let fix = "move parts of the text to files, and refer to them";
            self.problems.add("body-truncated", position, message, fix);
        }
        cleaned
    }

    fn surfaces(
        &mut self,
        head: Option<&Node>,
        body: &str,
        cleaned: &str,
        path: &str,
        lines_before: usize,
        others: &Others,
    ) -> Vec<Surface> {
        let mut surfaces =
            Surfaces { scanner: self.scanner, findings: &mut self.findings, list: Vec::new(), commands: 0 };
        if let Some(head) = head {
            surfaces.of_head(&head.value, path, &mut self.problems);
        }
        surfaces.of_text(body, path, lines_before, &mut self.problems);
        surfaces.of_text(cleaned, path, lines_before, &mut self.problems);
        // The list is bounded: surfaces that run without being called must not be displaced by many scripts.
        let (scripts, rest): (Vec<_>, Vec<_>) =
            others.surfaces.iter().partition(|surface| surface.kind == SurfaceKind::Script);
        rest.into_iter().chain(scripts).for_each(|surface| surfaces.of_file(surface, &mut self.problems));
        surfaces.list
    }

    /// Checks the two things that a list of skills needs.
    fn name_and_use(
        &mut self,
        manifest: &mut SkillManifest,
        has_head: bool,
        body: &str,
        folder: Option<&std::path::Path>,
        path: &str,
    ) {
        let position = FilePosition { path, at: TextPosition::START };
        let folder = folder.and_then(|folder| folder.file_name()).map(|name| name.to_string_lossy());
        match (&manifest.name, &folder) {
            (None, _) => {
                // Missing front matter is reported once.
                if has_head {
                    let fix = "add `name: …` to its front matter";
                    self.problems.add("missing-name", position, "the skill has no name", fix);
                }
                manifest.name = folder.map(Cow::into_owned);
                if let Some(why) = manifest.name.as_deref().and_then(unusable) {
                    let message = format_args!("its directory name is not usable as a skill name: {why}");
                    self.problems.add("unusable-name", position, message, NAME_FIX);
                }
            }
            (Some(name), Some(folder)) if name != folder => {
                let message =
                    format_args!("the name of the skill is `{name}`, and that of its directory `{folder}`");
                self.problems.add("name-not-folder", position, message, "use the same name for both");
            }
            _ => {}
        }
        if manifest.description.as_deref().is_none_or(|text| text.trim().is_empty()) {
            if has_head {
                let message = "the skill has no description";
                let fix = "add `description: …` to its front matter";
                self.problems.add("missing-description", position, message, fix);
            }
            let first = body.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
            manifest.description = first.map(|line| line.chars().take(1024).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use stockade_skill::Dialect;

    /// Every problem that the sources mention has its levels.
    #[test]
    fn every_rule_has_its_levels() {
        let mut seen = 0;
        for source in [include_str!("admit.rs"), include_str!("skill/surface.rs")] {
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            for (at, call) in source.match_indices("problems.add(") {
                let rest = source.get(at + call.len()..).unwrap_or_default().trim_start();
                let Some(rule) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                    continue;
                };
                assert!(Dialect::rules().any(|known| known == rule), "{rule}");
                seen += 1;
            }
        }
        assert!(seen >= 12, "only {seen} rules were found in the sources");
    }
}
