"""Makes, opens and moves names in all ways, and prints how each call ended: the same whoever carries them out."""
import ctypes, errno, fcntl, os, stat, sys, threading

libc = ctypes.CDLL(None, use_errno=True)


def show(what, call):
    try:
        result = call()
        if isinstance(result, int) and result > 2:
            found = os.fstat(result)
            kept = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK
            flags = fcntl.fcntl(result, fcntl.F_GETFL) & kept
            inherited = os.get_inheritable(result)
            os.close(result)
            result = f"open {stat.S_IFMT(found.st_mode):o} {found.st_mode & 0o7777:o} {flags:o} {inherited}"
        print(what, "->", result)
    except OSError as error:
        print(what, "->", errno.errorcode.get(error.errno, error.errno))


def raw(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


os.umask(0o027)
os.mkdir("d", 0o777)
os.symlink("nowhere", "dangling")
os.symlink("loop", "loop")
os.symlink("d", "to-d")
os.symlink(os.getcwd() + "/d", "to-d-whole")
os.symlink("../d/../d", "d/up")
os.symlink("file", "to-file")
open("file", "w").write("text")
HERE = -100
W, C, X, T = os.O_WRONLY, os.O_CREAT, os.O_EXCL, os.O_TRUNC

for flags, name in [(W, "W"), (W | C, "WC"), (W | C | X, "WCX"), (os.O_RDWR | C | T, "RWCT"), (C, "C"), (W | T, "WT"),
                    (W | C | os.O_NOFOLLOW, "WCN"), (W | os.O_DIRECTORY, "WD"), (W | C | os.O_APPEND, "WCA"),
                    (W | C | os.O_CLOEXEC, "WCE"), (os.O_PATH | W | C, "PWC"), (W | C | os.O_NONBLOCK, "WCB")]:
    for path in ["file", "new-" + name, "dangling-" + name, "loop", "to-d", "to-file", "d", "d/", "d/.", "..", "/", "", "d/new-" + name,
                 "to-d/x-" + name, "to-d-whole/y-" + name, "d/up/z-" + name, "missing/x", "file/x", "new-" + name + "/",
                 "file/", "d//new2-" + name, "./d/./new3-" + name, "d/../new4-" + name, "x" * 300, "a/" * 2100 + "b",
                 "/usr/x", "/etc/hosts", "/tmp/t-" + name, "/dev/null", "/dev/full", "/dev/urandom"]:
        if path.startswith("dangling-"):
            os.symlink("target-" + name, path)
        show(f"open {name} {path[:40]}", lambda: os.open(path, flags, 0o777))

for path in ["m1", "m1", "m2/", "d", "d/m3", "to-d/m4", "dangling", "dangling/", "file", "file/x", ".", "..", "/", "", "missing/x",
             "/usr/m", "/tmp/m", "x" * 300]:
    show(f"mkdir {path[:40]}", lambda: os.mkdir(path, 0o1777))
    show(f"mode {path[:40]}", lambda: oct(os.lstat(path).st_mode))
for path in ["s1", "s1", "s2/", "d/s3", "dangling", "", "missing/x", ".", "/tmp/s"]:
    show(f"symlink {path}", lambda: os.symlink("to", path))
show("symlink empty", lambda: os.symlink("", "s9"))
for path in ["f1", "f1", "d/f2", "dangling", "f3/", "", "missing/f"]:
    show(f"mkfifo {path}", lambda: os.mkfifo(path, 0o666))
show("mknod file", lambda: os.mknod("k1", 0o666))
show("mknod file again", lambda: os.mknod("k1", 0o666))
show("mknod socket", lambda: os.mknod("k2", stat.S_IFSOCK | 0o600))
show("mknod device", lambda: os.mknod("k3", stat.S_IFCHR | 0o600, os.makedev(1, 3)))
show("open socket", lambda: os.open("k2", W))
for old, new in [("file", "l1"), ("file", "l1"), ("file", "d/l2"), ("missing", "l3"), ("d", "l4"), ("to-file", "l5"), ("file", "l6/"),
                 ("file", "/tmp/l7"), ("", "l8"), ("file", "")]:
    show(f"link {old} {new}", lambda: os.link(old, new, follow_symlinks=False))
show("link follow", lambda: raw("linkat", HERE, b"to-file", HERE, b"l9", 0x400))
show("kind of l9", lambda: stat.S_ISREG(os.lstat("l9").st_mode))
for old, new in [("l1", "r1"), ("missing", "r2"), ("d/l2", "r3"), ("d", "r1"), ("r1", "d"), ("m1", "m2"), ("m2", "m2/in"), ("r1", "r3"),
                 ("r3", "r4/"), ("m2", "m9/"), ("m9/", "m8"), (".", "x"), ("d/..", "x"), ("r3", "/tmp/r"), ("r3", "missing/x"),
                 ("dangling", "dangling2"), ("to-d/", "x"), ("r3", "x" * 300)]:
    show(f"rename {old} {new[:40]}", lambda: os.rename(old, new))
for flags in [0, 1, 2, 3, 8]:
    open("e1", "w"), open("e2", "w")
    show(f"renameat2 {flags}", lambda: raw("renameat2", HERE, b"e1", HERE, b"e2", flags))
    show(f"renameat2 to nothing {flags}", lambda: raw("renameat2", HERE, b"e2", HERE, b"e3", flags))
for length in [0, 10, -1]:
    show(f"truncate {length}", lambda: raw("truncate", b"file", ctypes.c_long(length)))
    show("size", lambda: os.stat("file").st_size + 100_000)
for path in [b"d", b"missing", b"dangling", b"to-file", b"/etc/hosts"]:
    show(f"truncate {path}", lambda: raw("truncate", path, ctypes.c_long(1)))
show("bad memory", lambda: raw("open", ctypes.c_void_p(1), W | C, 0o600))
show("bad folder", lambda: raw("openat", 77, b"x", W | C, 0o600))
show("bad folder, whole path", lambda: raw("openat", 77, b"/tmp/whole", W | C, 0o600))
show("file as folder", lambda: raw("openat", os.open("file", os.O_RDONLY), b"x", W | C, 0o600))
fd = os.open("d", os.O_RDONLY)
show("in a folder", lambda: os.open("in", W | C, 0o666, dir_fd=fd))
show("tmpfile", lambda: os.open("d", os.O_TMPFILE | os.O_RDWR, 0o640))
unnamed = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
show("link the kernel's link", lambda: os.link(f"/proc/self/fd/{unnamed}", "named"))
show("name it", lambda: raw("linkat", HERE, f"/proc/self/fd/{unnamed}".encode(), HERE, b"named", 0x400))
show("mode of it", lambda: oct(os.stat("named").st_mode))
gone = os.open("gone", os.O_RDWR | C, 0o600)
os.unlink("gone")
show("again what is gone", lambda: os.open(f"/proc/self/fd/{gone}", os.O_RDWR))
show("again", lambda: os.open(f"/dev/fd/{fd}/again", W | C, 0o600))
show("own number", lambda: os.open(f"/proc/{os.getpid()}/fd/1", W | os.O_APPEND) and None)
show("own folder", lambda: os.open("/proc/self/cwd/by-cwd", W | C, 0o600))
show("own score", lambda: open("/proc/self/oom_score_adj", "w").write("500") and None)
show("own name", lambda: open("/proc/self/comm", "w").write("calls") and None)
show("kernel", lambda: os.open("/proc/sys/kernel/hostname", W))
os.umask(0o077)
show("umask", lambda: os.open("masked", W | C, 0o777))
sys.stdout.flush()
if os.fork() == 0:
    os.umask(0)
    show("child's umask", lambda: os.open("child", W | C, 0o777))
    sys.stdout.flush()
    os._exit(0)
os.wait()
show("own umask still", lambda: os.open("parent", W | C, 0o777))
os.mkfifo("pipe")
show("pipe without a reader", lambda: os.open("pipe", W | os.O_NONBLOCK))
read = []
reader = threading.Thread(target=lambda: read.append(open("pipe").read()))
reader.start()
with open("pipe", "w") as pipe:
    pipe.write("through")
reader.join()
print("pipe", read)
several = [threading.Thread(target=lambda number=number: open(f"pipe{number}", "w").write(str(number))) for number in range(8)]
[os.mkfifo(f"pipe{number}") for number in range(8)]
[thread.start() for thread in several]
os.mkdir("meanwhile")
print("pipes", [open(f"pipe{number}").read() for number in range(8)])
[thread.join() for thread in several]
import resource

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
many = []
try:
    while True:
        many.append(os.open("many", W | C, 0o600))
except OSError as error:
    print("too many", errno.errorcode[error.errno])
