//! `stockade ui`: the content of `stockade watch` as a page of this machine alone.
#![expect(clippy::disallowed_methods, reason = "serves a page on a loopback address")]

mod page;
mod recorded;
mod request;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use stockade_guard::audit::new_name;
use stockade_state::agents::parse_name;
use stockade_state::questions::{self, Answered, QuestionAnswer, Watching};

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use page::{Notice, Shown};
use recorded::Recorded;
use request::{MAX_REQUEST, Refused, Request, Wanted};

const EXAMPLES: &str = "\
Examples:
  stockade ui              print the address of the page, and serve it until interrupted
  stockade ui --port 8123  always at the same port
  stockade ui codex        only decisions and questions of one agent";

const MORE: &str = "\
Exit codes:
  2  the command line is wrong
  3  the page cannot be served

The page shows decisions, waiting questions, refusals, hosts and what agents spent. It listens on 127.0.0.1 only, and its address has a random
token, which is all that is needed to answer questions. It needs no script, loads nothing, and reloads every five seconds. While it is open in
a browser, the hooks of agents whose own program cannot ask wait for an answer there, as with 'stockade watch'.";

/// Maximum number of connections at a time, and how long a browser may take for a request.
const MAX_CONNECTIONS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(5);

/// How long after the page was loaded questions are asked there. It reloads more often.
const OPEN_FOR: Duration = Duration::from_secs(15);

/// Serve a page with decisions and waiting questions on 127.0.0.1
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct UiArgs {
    /// Agent [default: all agents]
    #[arg(value_name = "AGENT", value_parser = parse_name)]
    agent: Option<String>,

    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// What every connection uses.
struct Served {
    agent: Option<String>,
    token: String,
    port: u16,
    /// The lock that makes hooks ask, and when the page was loaded last.
    open: Mutex<Option<(Watching, Instant)>>,
    recorded: Mutex<Recorded>,
}

/// Runs the command.
pub(crate) fn run(args: &UiArgs) -> Result<Exit, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::incomplete(format_args!("cannot serve the page: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|error| failed(&error))?;
    let port = listener.local_addr().map_err(|error| failed(&error))?.port();
    let token = new_name().map_err(|error| failed(&error))?;
    let (agent, recorded) = (args.agent.clone(), Mutex::new(Recorded::of(args.agent.clone())));
    let served = Arc::new(Served { agent, token, port, open: Mutex::default(), recorded });
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&format!(
        "http://127.0.0.1:{port}/{}/\n  = keep the address to yourself: it is all that is needed to answer questions; end it: Ctrl-C\n",
        served.token
    ));
    let _: ControlFlow<()> = output.flush();
    let closes = Arc::clone(&served);
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            closes.close();
        }
    });
    let slots = Arc::new(());
    for connection in listener.incoming() {
        // One that is aborted before it is accepted is no error.
        let Ok(connection) = connection else { continue };
        if Arc::strong_count(&slots) > MAX_CONNECTIONS {
            continue;
        }
        let (served, slot) = (Arc::clone(&served), Arc::clone(&slots));
        thread::spawn(move || {
            served.answer(connection).ok();
            drop(slot);
        });
    }
    output.finish(Exit::Clean)
}

impl Served {
    fn answer(&self, mut connection: TcpStream) -> io::Result<()> {
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        let bytes = read(&mut connection)?;
        let response = match Request::parse(&bytes).and_then(|request| request.wanted(&self.token, self.port))
        {
            Ok(wanted) => self.response(wanted),
            Err(refused) => page::refused(&refused),
        };
        connection.write_all(response.as_bytes())?;
        connection.flush()
    }

    fn response(&self, wanted: Wanted) -> String {
        match wanted {
            Wanted::Page(notice) => {
                let asked = self.opened().and_then(|()| Ok(questions::pending()?));
                let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
                let (agent, token) = (self.agent.as_deref(), self.token.as_str());
                page::whole(&Shown { agent, token, notice, asked, recorded: recorded.update() })
            }
            Wanted::Answer { question, answer } => {
                let notice = match questions::answer(&question, answer) {
                    Ok(Answered::Now(_)) if answer == QuestionAnswer::Allow => Notice::Allowed,
                    Ok(Answered::Now(_)) => Notice::Denied,
                    Ok(Answered::Before(_)) => Notice::Before,
                    Ok(Answered::Expired) => Notice::Expired,
                    Err(_) => Notice::Failed,
                };
                page::moved(&self.token, notice)
            }
        }
    }

    /// Makes hooks ask, since the page is open.
    fn opened(&self) -> Result<(), Failure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let watching = match open.take() {
            Some((watching, _)) => watching,
            None => questions::start_watching()?,
        };
        *open = Some((watching, Instant::now()));
        Ok(())
    }

    /// Stops that after the page was closed.
    fn close(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|(_, loaded)| loaded.elapsed() > OPEN_FOR) {
            *open = None;
        }
    }
}

/// Reads a request: up to the end of its head and its body.
fn read(connection: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (mut bytes, mut piece, begin) = (Vec::new(), [0_u8; 2048], Instant::now());
    while bytes.len() <= MAX_REQUEST && begin.elapsed() < PATIENCE && !Request::is_whole(&bytes) {
        match connection.read(&mut piece)? {
            0 => break,
            read => bytes.extend_from_slice(piece.get(..read).unwrap_or_default()),
        }
    }
    Ok(bytes)
}

impl From<Refused> for page::Status {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Invalid => (400, "Bad Request"),
            Refused::Token | Refused::Origin => (403, "Forbidden"),
            Refused::Path => (404, "Not Found"),
            Refused::Method => (405, "Method Not Allowed"),
            Refused::Host => (421, "Misdirected Request"),
        }
    }
}
