//! Where needs are found: the audit trail, and transcripts of harnesses.
#![expect(clippy::disallowed_methods, reason = "walks and reads transcripts")]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stockade_guard::audit::{AuditRecord, Timestamp};
use stockade_guard::policy::Access;
use stockade_harness::TEST_COMMAND;
use stockade_harness::requests::{Requested, requested};
use stockade_harness::transcripts::{MAX_LINE, RecordedCall, TranscriptReader};
use stockade_state::approvals::{ApprovalSubject, ApprovedPath, host_entry};
use stockade_state::learn::Need;
use stockade_text::escape_path;

use super::counted::{Counted, Needs, SeenIn};
use super::{LearnArgs, home};
use crate::commands::approval::needs_of;
use crate::commands::audit;
use crate::failure::{Failure, with_causes};
use crate::report::record_facts::{about, detail};

/// Maximum number of files of transcripts, of lines in all of them, and of different needs.
const MAX_FILES: usize = 5000;
const MAX_LINES: usize = 2_000_000;
const MAX_NEEDS: usize = 2000;

/// Maximum depth of the directories of transcripts.
const MAX_DEPTH: usize = 6;

/// A source of needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Trail,
    Claude,
    Codex,
    File(PathBuf),
}

/// Parses a source.
pub(super) fn parse(text: &str) -> Result<Source, String> {
    Ok(match text {
        "trail" => Source::Trail,
        "claude" => Source::Claude,
        "codex" => Source::Codex,
        file if Path::new(file).is_file() => Source::File(file.into()),
        _ => return Err("expected trail, claude, codex, or a file".to_owned()),
    })
}

/// Returns the sources to read: those that are named, or the trail and the transcripts of the agent.
fn wanted(args: &LearnArgs) -> Vec<Source> {
    if !args.from.is_empty() {
        return args.from.clone();
    }
    let transcripts = [(Source::Claude, "claude"), (Source::Codex, "codex")].into_iter();
    let of_agent =
        transcripts.filter(|(_, agent)| args.agent.as_deref().is_none_or(|wanted| wanted == *agent));
    [Source::Trail].into_iter().chain(of_agent.map(|(source, _)| source)).collect()
}

/// What the sources have.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) by_agent: Vec<(String, Vec<Counted>)>,
    /// What could not be read.
    pub(super) problems: Vec<String>,
}

/// Reads the sources.
pub(super) fn read(args: &LearnArgs, here: &Path) -> Result<Seen, Failure> {
    let agent = args.agent.as_deref();
    let (needs, problems) = (Needs::default(), Vec::new());
    let mut reader = Reader { agent, since: args.since, here, needs, lines: 0, problems };
    for source in wanted(args) {
        match source {
            Source::Trail => reader.trail(args.from.contains(&Source::Trail))?,
            Source::File(file) => reader.file(&file, agent.unwrap_or("claude"))?,
            Source::Claude => reader.folder(".claude/projects", agent.unwrap_or("claude")),
            Source::Codex => reader.folder(".codex/sessions", agent.unwrap_or("codex")),
        }
    }
    Ok(Seen { by_agent: reader.needs.by_agent(), problems: reader.problems })
}

struct Reader<'r> {
    agent: Option<&'r str>,
    since: Timestamp,
    here: &'r Path,
    needs: Needs,
    /// Number of lines that were read.
    lines: usize,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// Reads the decisions of the trail that stopped something. A trail that does not exist yet has none, unless it was named.
    fn trail(&mut self, is_named: bool) -> Result<(), Failure> {
        let path = audit::path(None)?;
        if !is_named && !path.exists() {
            return Ok(());
        }
        let since = self.since.to_string();
        let read = audit::open(Some(path))?.each(|record| {
            let is_stop = ["ask", "deny"].contains(&record.decision.as_deref().unwrap_or_default());
            let is_wanted = self.agent.is_none_or(|agent| record.agent.as_deref() == Some(agent));
            // Times are written in one form, so that their order is that of the texts.
            if is_stop && is_wanted && record.timestamp >= since {
                self.record(&record);
            }
            self.is_full()
        });
        read.map_err(|error| Failure::incomplete(with_causes(&error)))
    }

    fn record(&mut self, record: &AuditRecord) {
        let (Some(agent), Some(subject)) = (&record.agent, about(record)) else { return };
        // A limit is no rule, and a test call is made in order to be refused.
        if record.event == "limit_reached" || subject == TEST_COMMAND {
            return;
        }
        let line = detail(record, "toAllow").unwrap_or_default();
        if let Some((_, workspace, needs)) = needs_of(&line, self.here).filter(|(named, ..)| named == agent) {
            for need in needs {
                self.needs.add(agent, Counted::of(need, workspace.clone()), SeenIn::Trail);
            }
            return;
        }
        let is_command =
            record.event == "command_denied" || record.event == "approval_asked" && !is_path(record);
        let seen = match is_command {
            true => Counted::of(Need::Command(subject), self.here.to_owned()),
            false => {
                Counted::stopped(subject, detail(record, "reason").unwrap_or_default(), self.here.to_owned())
            }
        };
        self.needs.add(agent, seen, SeenIn::Trail);
    }

    /// Reads the transcripts below a directory of the home, of which nothing need exist.
    fn folder(&mut self, name: &str, agent: &str) {
        let Some(folder) = home().map(|home| home.join(name)) else { return };
        let mut files = Vec::new();
        if let Err(error) = files_below(&folder, MAX_DEPTH, self.since, &mut files)
            && error.kind() != io::ErrorKind::NotFound
        {
            self.problems.push(format!("{}: {error}", escape_path(&folder)));
        }
        if files.len() > MAX_FILES {
            self.problems.push(format!("{}: more than {MAX_FILES} transcripts", escape_path(&folder)));
        }
        files.sort();
        for file in files.iter().take(MAX_FILES) {
            if let Err(error) = self.lines_of(file, agent) {
                self.problems.push(format!("{}: {error}", escape_path(file)));
            }
        }
    }

    fn file(&mut self, file: &Path, agent: &str) -> Result<(), Failure> {
        self.lines_of(file, agent)
            .map_err(|error| Failure::incomplete(format_args!("{}: {error}", escape_path(file))))
    }

    fn lines_of(&mut self, file: &Path, agent: &str) -> io::Result<()> {
        let mut lines = BufReader::new(File::open(file)?);
        let (mut transcript, mut left_out) = (TranscriptReader::default(), 0_u64);
        let mut bytes = Vec::new();
        while self.is_full().is_continue() && read_line(&mut lines, &mut bytes)? {
            self.lines += 1;
            let text = String::from_utf8_lossy(&bytes);
            if text.trim().is_empty() {
                continue;
            }
            match transcript.calls(text.trim()) {
                Ok(calls) => calls.iter().for_each(|call| self.call(call, agent)),
                Err(_) => left_out += 1,
            }
        }
        if left_out > 0 {
            self.problems.push(format!("{}: {left_out} lines could not be parsed", escape_path(file)));
        }
        Ok(())
    }

    fn call(&mut self, recorded: &RecordedCall, agent: &str) {
        if recorded.at.is_some_and(|at| at < self.since) {
            return;
        }
        // A call with arguments that do not fit is refused for its form, which no rule changes.
        let Ok(all) = requested(&recorded.call) else { return };
        let cwd = &recorded.call.origin.cwd;
        let workspace = if is_workspace(cwd) { cwd } else { self.here };
        for need in all.into_iter().filter_map(|one| need_of(one, workspace)) {
            self.needs.add(agent, Counted::of(need, workspace.to_owned()), SeenIn::Transcript);
        }
    }

    /// Stops reading at the limits, and reports that once.
    fn is_full(&mut self) -> ControlFlow<()> {
        if self.lines < MAX_LINES && self.needs.len() < MAX_NEEDS {
            return ControlFlow::Continue(());
        }
        let problem =
            format!("more than {MAX_NEEDS} different calls or {MAX_LINES} lines: use a later --since");
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
        ControlFlow::Break(())
    }
}

/// Whether a question is about a path that no approval allows.
fn is_path(record: &AuditRecord) -> bool {
    detail(record, "reason").is_some_and(|reason| reason == "the user must be asked")
}

/// Returns what an approval could be about. A file of the workspace is only stopped for its name, and a file elsewhere that is
/// written for being there: no approval changes either.
fn need_of(requested: Requested, workspace: &Path) -> Option<Need> {
    Some(match requested {
        Requested::Command(text) => Need::Command(text),
        Requested::Url(url) => Need::Subject(ApprovalSubject::Host(host_entry(&url).ok()?)),
        Requested::Tool(name) => Need::Subject(ApprovalSubject::Tool(name)),
        Requested::Path(_, Access::Write) => return None,
        Requested::Path(path, access) => {
            let path = fs::canonicalize(path).ok().filter(|path| !path.starts_with(workspace))?;
            Need::Subject(ApprovalSubject::Path(ApprovedPath { path, access }))
        }
    })
}

/// Whether a directory exists and can be a workspace.
fn is_workspace(folder: &Path) -> bool {
    folder.is_absolute() && folder.parent().is_some() && folder.is_dir()
}

/// Reads the next line. Of a line that is too long, only the beginning is kept, which the parser refuses for its length.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut is_any = false;
    loop {
        let buffer = lines.fill_buf()?;
        if buffer.is_empty() {
            return Ok(is_any);
        }
        is_any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        let room = (MAX_LINE + 1).saturating_sub(line.len()).min(taken);
        line.extend_from_slice(buffer.get(..room).unwrap_or_default());
        lines.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Lists the transcripts below a directory that were changed since. Links are not followed.
fn files_below(folder: &Path, depth: usize, since: Timestamp, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let changed: SystemTime = UNIX_EPOCH + Duration::from_micros(since.micros());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
        if kind.is_dir() && depth > 0 && found.len() <= MAX_FILES {
            files_below(&path, depth - 1, since, found)?;
        } else if kind.is_file() && is_transcript && entry.metadata()?.modified()? >= changed {
            found.push(path);
        }
    }
    Ok(())
}
