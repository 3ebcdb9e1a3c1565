//! The process that becomes the command. It must not allocate, lock or unwind, see the parent module.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::RawFd;

use super::drop_inherited_memory::drop_inherited_memory;
use super::launch::{Launch, REPORT_EXEC, REPORT_READY, REPORT_SETUP, Stage};
use super::raw::{self, Errno, Result};

/// Becomes the command, or reports why it cannot.
pub(super) fn run(launch: &Launch, go: RawFd, reports: RawFd) -> ! {
    if let Err((stage, errno)) = prepare(launch) {
        raw::write_words(reports, &[REPORT_SETUP, stage as i32, 0, errno, 0, 0, 0, 0]);
        raw::exit(1);
    }
    match launch.argv_mailbox {
        None => {
            let programs = launch.programs.iter().map(CString::as_c_str);
            let lists = (launch.arguments.as_ptr(), launch.environment.as_ptr());
            start(programs, lists, launch.secret, reports)
        }
        Some(mailbox) => {
            let secret = launch.secret;
            raw::close_all_from_but(3, go, reports);
            // SAFETY: from here on there are numbers on the stack, and the piece of memory that is shared.
            unsafe { drop_inherited_memory() };
            raw::write_words(reports, &[REPORT_READY, 0, 0, 0, 0, 0, 0, 0]);
            if raw::read_byte(go).is_none() {
                raw::exit(1);
            }
            start(mailbox.programs(), (mailbox.arguments(), mailbox.environment()), secret, reports)
        }
    }
}

/// Executes the first of these programs that exists, or reports an error.
fn start<'p>(
    programs: impl Iterator<Item = &'p CStr>,
    (arguments, environment): (*const *const c_char, *const *const c_char),
    secret: [u64; 3],
    reports: RawFd,
) -> ! {
    let mut error = libc::ENOENT;
    for program in programs {
        // SAFETY: both lists end in null, and their texts live as long as `launch`, or the mailbox that it names.
        let errno = unsafe { raw::execute(program, arguments, environment, secret) };
        match errno {
            libc::ENOENT | libc::ENOTDIR => {}
            // As in execvp(3): a later directory may contain an executable program; otherwise this is the error to report.
            // EACCES for an unreadable directory does not mean that the program exists there.
            libc::EACCES if raw::is_there(program) => error = errno,
            libc::EACCES => {}
            _ => {
                error = errno;
                break;
            }
        }
    }
    raw::write_words(reports, &[REPORT_EXEC, error, 0, 0, 0, 0, 0, 0]);
    raw::exit(1)
}

fn prepare(launch: &Launch) -> Result<(), (Stage, Errno)> {
    let at = |stage: Stage| move |errno| (stage, errno);
    for (number, stream) in launch.streams.into_iter().enumerate() {
        raw::duplicate(stream, number as RawFd).map_err(at(Stage::Streams))?;
    }
    // Marked instead of closed, because `reports` must stay open until execve(2) succeeds.
    raw::close_on_exec(3).map_err(at(Stage::Streams))?;
    // A new session has no controlling terminal, and an autogroup of its own for scheduling. The priority is lowered here and not
    // earlier, so that the set-up runs at full speed.
    raw::new_session().map_err(at(Stage::Streams))?;
    if launch.terminal {
        raw::take_terminal(0).map_err(at(Stage::Streams))?;
    }
    if launch.nice > 0 {
        raw::lower_priority(0, launch.nice).map_err(at(Stage::Limits))?;
    }
    raw::change_folder(&launch.cwd).map_err(at(Stage::Cwd))?;
    for limit in &launch.limits {
        raw::set_limit(limit).map_err(at(Stage::Limits))?;
    }
    if launch.namespaces == 0 {
        super::landlock_init::restrict(launch)?;
    }
    // The mask of the fork is inherited across execve(2), and most programs do not reset it.
    raw::set_signal_mask(0).map_err(at(Stage::Streams))?;
    if !launch.last_filter.is_empty() {
        raw::install_filter(&launch.last_filter).map_err(at(Stage::Filter))?;
    }
    if let Some(observed) = &launch.observed {
        observed.begin().map_err(at(Stage::Observe))?;
    }
    Ok(())
}
