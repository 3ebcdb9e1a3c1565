//! Creates, renames and removes files in the place of a command.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, chmod, fstat, ftruncate, linkat, mkdirat, mknodat,
    openat, readlinkat, renameat_with, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::super::caller::Caller;
use super::open::{is_of_processes, is_read_only};
use super::publish::{Stopped, publish};
use super::rule::{Arrival, Verdict};
use super::target::{NameInFolder, Target, end_of, own_path, target};
use super::{Done, Names, Reply};

/// Flags for a handle to a file, without following a symlink.
const NAME_ALONE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Maximum number of followed symlinks, as in the kernel.
const LINKS: usize = 40;

/// Why a directory cannot be moved out of a package directory.
const ARMS: &str = "other programs would obey files in it outside of a package directory";

/// Why a directory cannot replace another one.
const REPLACES: &str = "it would replace an existing directory, and other programs would obey files in it";

/// A path argument: its directory descriptor and its text.
pub(super) struct Named {
    pub(super) begin: Option<i32>,
    pub(super) text: Vec<u8>,
}

impl Named {
    /// Opens the directory at which its resolution begins. For an absolute path this is the root.
    pub(super) fn begin(&self, caller: Caller<'_>) -> Result<OwnedFd, Errno> {
        match self.text.first() {
            Some(b'/') => caller.root(),
            _ => caller.begin(self.begin),
        }
    }

    /// Resolves it to a name in a directory; `otherwise` is the error for a path that does not end in a name.
    pub(super) fn place(&self, caller: Caller<'_>, otherwise: Errno) -> Result<NameInFolder, Errno> {
        match target(caller, &self.begin(caller)?, &self.text)? {
            Target::Name(place) if is_of_processes(place.folder.as_fd()) => Err(Errno::PERM),
            Target::Name(place) => Ok(place),
            Target::Folder | Target::Open(_) | Target::Own(_) => Err(otherwise),
        }
    }
}

/// Performs mkdirat(2).
pub(super) fn folder(names: &Names, caller: Caller<'_>, path: &Named, mode: Mode) -> Done {
    let place = path.place(caller, Errno::EXIST)?;
    // Recorded while renames are locked out, so that no other directory can take its place.
    let folder = |place: &NameInFolder| {
        mkdirat(&place.folder, place.as_named(), mode).map(|()| names.rules.made(place))
    };
    make(names, caller, place, Arrival::Folder, folder)?;
    Ok(Reply::Done)
}

/// Sets the set-group-ID bit of a directory, by which new files inherit its group. On other files the bit is refused.
pub(super) fn hand_group_on(caller: Caller<'_>, folder: Changed, mode: Mode) -> Done {
    const BITS: Mode = Mode::from_bits_retain(0o3777);
    let folder = match folder {
        Changed::Open(number) => caller.descriptor(number)?,
        Changed::Named(named, follows) => match end_of(caller, named.begin(caller)?, &named.text, follows)? {
            Target::Name(place) => openat(&place.folder, &place.name, NAME_ALONE, Mode::empty())?,
            Target::Open(open) => open,
            Target::Folder => super::target::folder(caller, &named.begin(caller)?, &named.text)?,
            Target::Own(_) => return Err(Errno::PERM),
        },
    };
    if FileType::from_raw_mode(fstat(&folder)?.st_mode) != FileType::Directory {
        return Err(Errno::PERM);
    }
    chmod(own_path(folder.as_fd()), mode & BITS)?;
    Ok(Reply::Done)
}

/// The file whose mode is changed.
pub(super) enum Changed {
    /// A file by its descriptor.
    Open(i32),
    /// A path, and whether a final symlink is followed.
    Named(Named, bool),
}

/// Performs mknodat(2).
pub(super) fn node(names: &Names, caller: Caller<'_>, path: &Named, mode: u32, device: u64) -> Done {
    let place = path.place(caller, Errno::EXIST)?;
    // Without a type, mknod(2) creates a regular file.
    let kind = match mode & libc::S_IFMT {
        0 => FileType::RegularFile,
        kind => FileType::from_raw_mode(kind),
    };
    let mode = Mode::from_raw_mode(mode & 0o7777);
    let node = |place: &NameInFolder| mknodat(&place.folder, place.as_named(), kind, mode, device);
    make(names, caller, place, Arrival::File, node)?;
    Ok(Reply::Done)
}

/// Performs symlinkat(2).
pub(super) fn link(names: &Names, caller: Caller<'_>, to: Vec<u8>, path: &Named) -> Done {
    let place = path.place(caller, Errno::EXIST)?;
    if to.is_empty() {
        return Err(Errno::NOENT);
    }
    let to = PathBuf::from(OsString::from_vec(to));
    let link = |place: &NameInFolder| symlinkat(&to, &place.folder, place.as_named());
    make(names, caller, place, Arrival::Link(&to), link)?;
    Ok(Reply::Done)
}

/// Judges a new name, and creates it with `make` if it is permitted.
pub(super) fn make(
    names: &Names,
    caller: Caller<'_>,
    mut place: NameInFolder,
    what: Arrival<'_>,
    make: impl FnOnce(&NameInFolder) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let _turn = names.turn(&place);
    place.look_again()?;
    let place = &place;
    match names.rules.arrives(place, what) {
        Verdict::Fine => {}
        Verdict::Completes => names.complete(place)?,
        Verdict::Published(_) => {
            return names.refuse(place, "git replaces its settings by a rename").map(|_| ());
        }
        // The kernel reports an existing file first.
        Verdict::Refused(_) | Verdict::Written(_) if place.kind().is_some() => return Err(Errno::EXIST),
        Verdict::Refused(why) | Verdict::Written(why) => return names.refuse(place, why).map(|_| ()),
    }
    names.umask(caller);
    make(place)?;
    names.wrote(place);
    Ok(())
}

/// Performs linkat(2).
pub(super) fn hard_link(names: &Names, caller: Caller<'_>, from: &Named, to: &Named, flags: AtFlags) -> Done {
    let place = to.place(caller, Errno::EXIST)?;
    let source = source(names, caller, from, flags)?;
    // A hard link to a symlink: it is opened, so that it cannot be exchanged after its target was judged.
    let source = match source {
        Source::Named(from) if from.kind() == Some(FileType::Symlink) => {
            Source::Open(openat(&from.folder, &from.name, NAME_ALONE, Mode::empty())?)
        }
        source => source,
    };
    let text = match &source {
        Source::Open(open) => text_of_a_link(open)?,
        Source::Named(_) => None,
    };
    let what = text.as_deref().map_or(Arrival::HardLink, Arrival::LinkOnceMore);
    let link = |place: &NameInFolder| match &source {
        Source::Named(from) => {
            linkat(&from.folder, &from.name, &place.folder, place.as_named(), AtFlags::empty())
        }
        Source::Open(open) => {
            linkat(CWD, own_path(open.as_fd()), &place.folder, place.as_named(), AtFlags::SYMLINK_FOLLOW)
        }
    };
    make(names, caller, place, what, link)?;
    Ok(Reply::Done)
}

/// Returns the target of an open symlink; `None` for any other file.
fn text_of_a_link(open: &OwnedFd) -> Result<Option<PathBuf>, Errno> {
    if FileType::from_raw_mode(fstat(open)?.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    let text = readlinkat(open, c"", Vec::new())?;
    Ok(Some(PathBuf::from(OsString::from_vec(text.into_bytes()))))
}

enum Source {
    Named(NameInFolder),
    Open(OwnedFd),
}

/// Returns the file to link. A file that other programs obey is refused, because it could be changed through the new name.
fn source(names: &Names, caller: Caller<'_>, from: &Named, flags: AtFlags) -> Result<Source, Errno> {
    if from.text.is_empty() && flags.contains(AtFlags::EMPTY_PATH) {
        return opened(names, caller, caller.begin(from.begin)?);
    }
    let mut begin = from.begin(caller)?;
    let mut text = from.text.clone();
    for _ in 0..LINKS {
        let place = match target(caller, &begin, &text)? {
            Target::Name(place) => place,
            Target::Open(open) if flags.contains(AtFlags::SYMLINK_FOLLOW) => {
                return opened(names, caller, open);
            }
            Target::Folder => return Err(Errno::PERM),
            // Like the kernel, which finds the magic link on another file system (procfs).
            Target::Open(_) | Target::Own(_) => return Err(Errno::XDEV),
        };
        if is_of_processes(place.folder.as_fd()) {
            return Err(Errno::PERM);
        }
        if names.rules.is_obeyed(&place) {
            return Err(refused(names, &place));
        }
        if place.kind() != Some(FileType::Symlink) || !flags.contains(AtFlags::SYMLINK_FOLLOW) {
            return Ok(Source::Named(place));
        }
        text = readlinkat(&place.folder, &place.name, Vec::new())?.into_bytes();
        begin = place.folder;
    }
    Err(Errno::LOOP)
}

/// Returns an open file to link, if other programs do not obey its current name.
fn opened(names: &Names, caller: Caller<'_>, open: OwnedFd) -> Result<Source, Errno> {
    if fstat(&open)?.st_nlink > 0 {
        let place = super::open::named(caller, &open)?;
        if names.rules.is_obeyed(&place) {
            return Err(refused(names, &place));
        }
    }
    Ok(Source::Open(open))
}

fn refused(names: &Names, place: &NameInFolder) -> Errno {
    names.note(place, "a file that other programs obey cannot get a second name");
    Errno::PERM
}

/// Performs renameat2(2).
pub(super) fn rename(
    names: &Names,
    caller: Caller<'_>,
    from: &Named,
    to: &Named,
    flags: RenameFlags,
) -> Done {
    let (mut from, mut to) = (from.place(caller, Errno::BUSY)?, to.place(caller, Errno::BUSY)?);
    let _turn = names.alone();
    from.look_again()?;
    to.look_again()?;
    let kind = FileType::from_raw_mode(from.found()?.st_mode);
    let is_exchange = flags.contains(RenameFlags::EXCHANGE);
    // A mount point only blocks a rename in its own mount namespace, so the check of the kernel does not apply to this thread.
    if from.is_mounted() {
        return stays(names, &from, Errno::BUSY);
    }
    if let Some(why) = names.rules.leaves(&from) {
        return names.refuse(&from, why);
    }
    if kind == FileType::Directory && names.rules.arms(&from, &to) {
        return names.refuse(&to, ARMS);
    }
    let comes_to_others = kind == FileType::Directory && names.rules.is_of_others(&to);
    match names.rules.arrives(&to, Arrival::Moved(&from, kind)) {
        Verdict::Published(settings) if !is_exchange && !is_read_only(to.folder.as_fd()) => {
            if flags.contains(RenameFlags::NOREPLACE) && to.kind().is_some() {
                return Err(Errno::EXIST);
            }
            return match publish(&names.rules, &from, &to, settings) {
                Ok(()) => Ok(Reply::Done),
                Err(Stopped::Error(error)) => Err(error),
                Err(Stopped::Refused(why)) => names.refuse(&to, why),
            };
        }
        Verdict::Published(_) => return stays(names, &to, Errno::PERM),
        Verdict::Completes => names.complete(&to)?,
        Verdict::Fine => {}
        Verdict::Refused(why) | Verdict::Written(why) => return names.refuse(&to, why),
    }
    if to.is_mounted() {
        return stays(names, &to, Errno::BUSY);
    }
    if is_exchange {
        let there = FileType::from_raw_mode(to.found()?.st_mode);
        if let Some(why) = names.rules.leaves(&to) {
            return names.refuse(&to, why);
        }
        match names.rules.arrives(&from, Arrival::Moved(&to, there)) {
            Verdict::Fine => {}
            Verdict::Refused(why) | Verdict::Written(why) => return names.refuse(&from, why),
            Verdict::Completes | Verdict::Published(_) => return stays(names, &from, Errno::PERM),
        }
        if there == FileType::Directory && names.rules.arms(&to, &from) {
            return names.refuse(&from, ARMS);
        }
        if there == FileType::Directory && names.rules.is_of_others(&from) && names.rules.hands_over(&to) {
            return names.refuse(&from, REPLACES);
        }
    }
    if comes_to_others && names.rules.hands_over(&from) {
        return names.refuse(&to, REPLACES);
    }
    let leave = [Some(&from).filter(|_| kind == FileType::Directory), Some(&to).filter(|_| comes_to_others)];
    leave.into_iter().flatten().for_each(|place| names.rules.leaves_empty(place));
    renameat_with(&from.folder, from.as_named(), &to.folder, to.as_named(), flags)?;
    names.wrote(&to);
    if is_exchange {
        names.wrote(&from);
    }
    Ok(Reply::Done)
}

/// Performs rmdir(2), and records the path: a new directory there may still be used by other programs.
pub(super) fn remove_folder(names: &Names, caller: Caller<'_>, path: &Named) -> Done {
    let ends_in =
        |name: &[u8]| path.text.split(|byte| *byte == b'/').rfind(|part| !part.is_empty()) == Some(name);
    let otherwise = if ends_in(b".") {
        Errno::INVAL
    } else if ends_in(b"..") {
        Errno::NOTEMPTY
    } else {
        Errno::BUSY
    };
    let mut place = path.place(caller, otherwise)?;
    if place.is_mounted() && !is_read_only(place.folder.as_fd()) {
        return Err(Errno::BUSY);
    }
    let _turn = names.alone();
    place.look_again()?;
    names.rules.leaves_empty(&place);
    unlinkat(&place.folder, place.as_named(), AtFlags::REMOVEDIR)?;
    Ok(Reply::Done)
}

fn stays(names: &Names, place: &NameInFolder, error: Errno) -> Done {
    names.note(place, "it cannot be renamed or replaced");
    Err(error)
}

/// Performs truncate(2).
pub(super) fn cut(names: &Names, caller: Caller<'_>, path: &Named, length: u64) -> Done {
    if length.cast_signed() < 0 {
        return Err(Errno::INVAL);
    }
    if length > names.largest {
        return Err(Errno::FBIG);
    }
    let how = super::how::How { flags: OFlags::WRONLY | OFlags::NONBLOCK, mode: Mode::empty() };
    match super::open::open(names, caller, path.begin, &path.text, how)? {
        Reply::File(file, _) => ftruncate(&file, length).map(|()| Reply::Done),
        _ => Err(Errno::INVAL),
    }
}
