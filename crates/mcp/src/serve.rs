//! Stockade as an MCP server: some methods of `stockade serve` as tools, implemented by the same code.
//!
//! ```text
//!  client ──► speech ──► requests of `stockade serve` ──► Server
//!         ◄── speech ◄── its answers                  ◄──
//! ```
//!
//! Tools are called by a model. So they have only parameters that cannot loosen the policy: answers of the user, rules, and the
//! visible part of the file system come only from the agent's configuration.
#![expect(clippy::disallowed_methods, reason = "reads and writes on threads of their own")]

mod speech;
mod tools;

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::message::MAX_MESSAGE;
use speech::{Reply, Speech};
use stockade_files::{BoundedLine, BoundedLines};
use stockade_serve::{Server, converse};

/// Serves a client until its input ends and every request is answered.
pub fn serve(server: &Arc<Server>, agent: &str, from: impl Read, to: impl Write + Send) -> io::Result<()> {
    let (ours, theirs) = UnixStream::pair()?;
    let (speech, to) = (Mutex::new(Speech::new(agent)), Mutex::new(to));
    thread::scope(|scope| {
        let works = thread::Builder::new().spawn_scoped(scope, || {
            let worked = theirs.try_clone().and_then(|read| converse(server, read, &theirs, &|| true));
            theirs.shutdown(Shutdown::Both).ok();
            worked
        })?;
        let answers = BoundedLines::new(ours.try_clone()?, usize::MAX >> 1);
        let (speech, to) = (&speech, &to);
        let writes = thread::Builder::new().spawn_scoped(scope, move || answer(answers, speech, to))?;
        let asked = ask(BoundedLines::new(from, MAX_MESSAGE), speech, to, &ours);
        ours.shutdown(Shutdown::Write).ok();
        let ended = || io::Error::other("internal error; see standard error");
        writes.join().map_err(|_| ended())??;
        works.join().map_err(|_| ended())??;
        asked
    })
}

fn ask<W: Write>(
    mut lines: BoundedLines<impl Read>,
    speech: &Mutex<Speech>,
    to: &Mutex<W>,
    mut server: &UnixStream,
) -> io::Result<()> {
    loop {
        let reply = match lines.next_line()? {
            BoundedLine::End => return Ok(()),
            BoundedLine::Whole(line) if line.trim_ascii().is_empty() => continue,
            BoundedLine::Whole(line) => speech.lock().unwrap_or_else(PoisonError::into_inner).asked(line),
            BoundedLine::TooLong => Reply::Client(Speech::too_long()),
        };
        match reply {
            Reply::Nothing => {}
            Reply::Client(line) => write(to, &line)?,
            Reply::Server(line) => server.write_all(format!("{line}\n").as_bytes())?,
        }
    }
}

fn answer<W: Write>(
    mut lines: BoundedLines<impl Read>,
    speech: &Mutex<Speech>,
    to: &Mutex<W>,
) -> io::Result<()> {
    while let BoundedLine::Whole(line) = lines.next_line()? {
        let answer = speech.lock().unwrap_or_else(PoisonError::into_inner).answered(line);
        if let Some(answer) = answer {
            write(to, &answer)?;
        }
    }
    Ok(())
}

fn write<W: Write>(to: &Mutex<W>, line: &str) -> io::Result<()> {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    to.write_all(format!("{line}\n").as_bytes())?;
    to.flush()
}
