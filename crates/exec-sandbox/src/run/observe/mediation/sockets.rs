//! Connects sockets in the place of a command. It may connect to a socket in the workspace if it created that socket itself, or
//! was given it. Sockets of other programs and commands are refused.
//!
//! The judged socket is opened, and connected to through that descriptor, so it cannot be exchanged in between.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, openat};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, socket_timeout};

use super::super::caller::{Caller, argument, short};
use super::super::continued::Continued;
use super::make::{Named, make};
use super::open::is_of_processes;
use super::rule::Arrival;
use super::target::{NameInFolder, Target, end_of, own_path};
use super::{Done, Names, Reply, Waits};
use crate::explain::Denial;
use crate::host::FileIdentity;
use crate::mounts::MountKind;
use crate::plan::Plan;
use crate::seccomp::SocketAddress;
use crate::spec::Network;
use crate::sys::raw::{self, Notice};
use crate::workspace::walk::stamp_of;

/// The maximum length of an address, the size of its family field, and the maximum length of a Unix socket's path.
const ADDRESS: usize = 128;
const FAMILY: usize = 2;
const PATH: usize = 108;

/// Maximum number of recorded sockets of the command. Any other counts as another program's.
const MAX_OWN: usize = 10_000;

/// The state of socket mediation for one command.
#[derive(Debug)]
pub(super) struct Sockets {
    /// Directories in which sockets belong to other programs, unless the command created them.
    folders: Vec<PathBuf>,
    /// Sockets that are mounted for the command.
    given: Vec<PathBuf>,
    /// Whether the command shares the machine's network namespace, and so its abstract sockets. Landlock confines the command to
    /// its own ones, but not this thread.
    are_names_shared: bool,
    own: Mutex<Own>,
}

/// Sockets that the command created.
#[derive(Debug, Default)]
struct Own {
    files: HashSet<FileIdentity>,
    names: HashSet<Vec<u8>>,
    /// The paths by which the command bound its sockets, by inode number.
    called: HashMap<u64, Vec<u8>>,
}

impl Sockets {
    pub(super) fn of(plan: &Plan) -> Self {
        let (_, others) = plan.guarded();
        let is_bind = |kind: &MountKind| matches!(kind, MountKind::Bind { .. });
        let mounts = plan.mounts.iter().filter(|mount| is_bind(&mount.kind));
        Self {
            folders: std::iter::once(plan.workspace.clone()).chain(others).collect(),
            given: mounts.map(|mount| mount.target.clone()).collect(),
            are_names_shared: plan.network == Network::Open,
            own: Mutex::default(),
        }
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_among_others(&self, folder: &Path) -> bool {
        self.folders.iter().any(|around| folder.starts_with(around))
    }
}

/// Performs connect(2).
pub(super) fn connect(names: &Names, caller: Caller<'_>, notice: &Notice, at: SocketAddress) -> Done {
    let address = address(caller, notice, at)?;
    let socket = caller.taken(short(notice, at.socket).cast_signed())?;
    match Address::of(&address) {
        Address::Path(path) => {
            let there = find(names, caller, path)?;
            let path = own_path(there.as_fd());
            connect_to(socket, unix(path.as_bytes()), Some(there))
        }
        Address::Name(name)
            if names.sockets.are_names_shared && !names.sockets.own().names.contains(name) =>
        {
            names.tell(Denial::Socket(format!("@{}", String::from_utf8_lossy(name)).into()));
            Err(Errno::CONNREFUSED)
        }
        Address::Name(_) | Address::Other => connect_to(socket, address, None),
    }
}

/// A parsed socket address.
enum Address<'a> {
    /// The path of a Unix socket.
    Path(&'a [u8]),
    /// The name of an abstract Unix socket.
    Name(&'a [u8]),
    /// An address of another family, or an invalid one.
    Other,
}

impl<'a> Address<'a> {
    fn of(address: &'a [u8]) -> Self {
        let (family, rest) = address.split_at_checked(FAMILY).unwrap_or((address, &[]));
        match rest {
            _ if family != (libc::AF_UNIX as u16).to_ne_bytes() => Self::Other,
            [] => Self::Other,
            // An abstract name starts with a NUL, and ends with the length of the address, not at the next NUL
            // (unix(7)).
            [0, name @ ..] => Self::Name(name),
            // Too long: the kernel rejects it.
            path if path.len() > PATH => Self::Other,
            // The kernel takes a path up to its first NUL, whatever the length says.
            path => Self::Path(path.split(|byte| *byte == 0).next().unwrap_or_default()),
        }
    }
}

fn address(caller: Caller<'_>, notice: &Notice, at: SocketAddress) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(short(notice, at.length)).unwrap_or(usize::MAX);
    if length > ADDRESS {
        return Err(Errno::INVAL);
    }
    let mut address = vec![0; length];
    let read = raw::read_memory(caller.thread(), argument(notice, at.address), &mut address);
    match read {
        _ if length == 0 => Ok(address),
        Ok(read) if read == length => Ok(address),
        _ => Err(Errno::FAULT),
    }
}

/// Returns the address of a Unix socket.
fn unix(path: &[u8]) -> Vec<u8> {
    let family = (libc::AF_UNIX as u16).to_ne_bytes();
    [&family[..], path].concat()
}

/// Opens a handle to the socket at a path, if the command may connect to it.
fn find(names: &Names, caller: Caller<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    let named = Named { begin: None, text: path.to_vec() };
    match end_of(caller, named.begin(caller)?, path, true)? {
        Target::Name(place) if is_of_processes(place.folder.as_fd()) => Err(Errno::ACCESS),
        Target::Name(place) => reached(names, &place),
        Target::Folder | Target::Open(_) | Target::Own(_) => Err(Errno::CONNREFUSED),
    }
}

fn reached(names: &Names, place: &NameInFolder) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let there = openat(&place.folder, &place.name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&there)?.st_mode) != FileType::Socket {
        return Err(Errno::CONNREFUSED);
    }
    let sockets = &names.sockets;
    let is_own =
        || stamp_of(there.as_fd(), Path::new("")).is_ok_and(|it| sockets.own().files.contains(&it.file));
    let whole = place.whole();
    if !sockets.is_among_others(&place.path) || sockets.given.contains(&whole) || is_own() {
        return Ok(there);
    }
    names.tell(Denial::Socket(whole));
    Err(Errno::CONNREFUSED)
}

/// Connects without blocking this thread. The handle to the socket stays open meanwhile, because the address refers to it.
fn connect_to(socket: OwnedFd, address: Vec<u8>, there: Option<OwnedFd>) -> Done {
    let flags = fcntl_getfl(&socket)?;
    let waits = !flags.contains(OFlags::NONBLOCK);
    let begin = move |socket: BorrowedFd<'_>, address: &[u8]| {
        if !waits {
            return raw::connect(socket, address);
        }
        // The flag is on the shared open file description, so the command could observe it for a moment.
        fcntl_setfl(socket, flags | OFlags::NONBLOCK).map_err(Errno::raw_os_error)?;
        let begun = raw::connect(socket, address);
        fcntl_setfl(socket, flags).map_err(Errno::raw_os_error)?;
        begun
    };
    match begin(socket.as_fd(), &address) {
        Ok(()) => Ok(Reply::Done),
        // The backlog of the listening socket is full.
        Err(libc::EAGAIN) if waits => Ok(Reply::Waits(Waits::until(move || {
            let _there = &there;
            match begin(socket.as_fd(), &address) {
                Err(libc::EAGAIN) => None,
                ended => Some(ended.map(|()| Reply::Done).map_err(Errno::from_raw_os_error)),
            }
        }))),
        Err(libc::EINPROGRESS) if waits => {
            let patience = socket_timeout(&socket, Timeout::Send).ok().flatten();
            let begun = Instant::now();
            Ok(Reply::Waits(Waits::until(move || is_connected(&socket, &address, begun, patience))))
        }
        Err(error) => Err(Errno::from_raw_os_error(error)),
    }
}

/// Returns the result of a connection in progress; nothing while it is pending.
fn is_connected(
    socket: &OwnedFd,
    address: &[u8],
    begun: Instant,
    patience: Option<Duration>,
) -> Option<Done> {
    let mut fds = [PollFd::new(socket, PollFlags::OUT)];
    match poll(&mut fds, Some(&Timespec::default())) {
        Ok(0) if patience.is_some_and(|patience| begun.elapsed() >= patience) => Some(Err(Errno::INPROGRESS)),
        Ok(0) | Err(Errno::INTR) => None,
        // A second connect(2) returns the result, and moves the socket to its final state.
        Ok(_) => match raw::connect(socket.as_fd(), address) {
            Err(libc::EALREADY) => None,
            ended => Some(ended.map(|()| Reply::Done).map_err(Errno::from_raw_os_error)),
        },
        Err(error) => Some(Err(error)),
    }
}

/// Performs bind(2), and records the socket as one of the command.
pub(super) fn bind(names: &Names, caller: Caller<'_>, notice: &Notice, at: SocketAddress) -> Done {
    let address = address(caller, notice, at)?;
    match Address::of(&address) {
        Address::Other => {
            let socket = caller.taken(short(notice, at.socket).cast_signed())?;
            raw::bind(socket.as_fd(), &address).map_err(Errno::from_raw_os_error)?;
            Ok(Reply::Done)
        }
        Address::Name(name) => {
            let socket = caller.taken(short(notice, at.socket).cast_signed())?;
            raw::bind(socket.as_fd(), &address).map_err(Errno::from_raw_os_error)?;
            let mut own = names.sockets.own();
            if own.names.len() < MAX_OWN {
                own.names.insert(name.to_vec());
            }
            Ok(Reply::Done)
        }
        Address::Path(path) => {
            let place = Named { begin: None, text: path.to_vec() }.place(caller, Errno::ADDRINUSE)?;
            let socket = caller.taken(short(notice, at.socket).cast_signed())?;
            let made = |place: &NameInFolder| bind_in(names, &socket, place, path);
            make(names, caller, place, Arrival::File, made).map_err(|error| match error {
                Errno::EXIST => Errno::ADDRINUSE,
                error => error,
            })?;
            Ok(Reply::Done)
        }
    }
}

/// Binds a socket to a name in an open directory. bind(2) has no directory argument, so this thread, which does not share its
/// working directory (CLONE_FS), changes to the directory and uses a relative path.
fn bind_in(names: &Names, socket: &OwnedFd, place: &NameInFolder, called: &[u8]) -> Result<(), Errno> {
    rustix::process::fchdir(&place.folder)?;
    let bound = raw::bind(socket.as_fd(), &unix(place.name.as_bytes())).map_err(Errno::from_raw_os_error);
    rustix::process::chdir("/")?;
    bound?;
    let (made, number) = (stamp_of(place.folder.as_fd(), Path::new(&place.name)), fstat(socket)?.st_ino);
    let mut own = names.sockets.own();
    if own.files.len() < MAX_OWN {
        own.files.extend(made.map(|made| made.file));
        own.called.insert(number, called.to_vec());
    }
    Ok(())
}

/// Performs getsockname(2) for sockets that were bound here by a relative path: it returns the path that the command used.
pub(super) fn own_address(names: &Names, caller: Caller<'_>, notice: &Notice, at: SocketAddress) -> Done {
    let called = || -> Result<Option<Vec<u8>>, Errno> {
        if names.sockets.own().called.is_empty() {
            return Ok(None);
        }
        let socket = caller.descriptor(short(notice, at.socket).cast_signed())?;
        Ok(names.sockets.own().called.get(&fstat(&socket)?.st_ino).cloned())
    };
    let Some(called) = called()? else { return Ok(Reply::GoesOn(Continued::OwnAddress)) };
    let mut address = unix(&called);
    address.push(0);
    let mut room = [0; 4];
    let write = |at, bytes: &[u8]| raw::write_memory(caller.thread(), at, bytes).map_err(|_| Errno::FAULT);
    raw::read_memory(caller.thread(), argument(notice, at.length), &mut room).map_err(|_| Errno::FAULT)?;
    let room = usize::try_from(i32::from_ne_bytes(room)).map_err(|_| Errno::INVAL)?;
    write(argument(notice, at.address), address.get(..room).unwrap_or(&address))?;
    let length = i32::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    write(argument(notice, at.length), &length.to_ne_bytes())?;
    Ok(Reply::Done)
}
