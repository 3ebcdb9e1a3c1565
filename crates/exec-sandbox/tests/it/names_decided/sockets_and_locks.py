"""Locks files and connects sockets in all ways, and prints how each call ended: the same whoever carries them out."""
import ctypes, errno, fcntl, multiprocessing, os, select, signal, socket, struct, threading, time

here = os.getcwd()


def show(what, call):
    try:
        print(what, "->", call())
    except (OSError, ValueError) as error:
        print(what, "->", errno.errorcode.get(getattr(error, "errno", None), error))


def child(what):
    pid = os.fork()
    if pid == 0:
        show(*what)
        os._exit(0)
    os.waitpid(pid, 0)


# Locks of a whole file.
one, two = [os.open("lock", os.O_RDWR | os.O_CREAT) for _ in "ab"]
EX, SH, UN, NB = fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_UN, fcntl.LOCK_NB
for how in (SH, SH | NB, EX, EX | NB, UN, UN | NB, EX | SH, 0, NB, 64):
    show(f"flock {how}", lambda: fcntl.flock(one, how))
show("closed", lambda: fcntl.flock(99, EX))
show("pipe", lambda: fcntl.flock(os.pipe()[0], EX))
fcntl.flock(one, EX)
show("taken", lambda: fcntl.flock(two, EX | NB))
show("taken shared", lambda: fcntl.flock(two, SH | NB))
threading.Timer(0.1, lambda: fcntl.flock(one, UN)).start()
show("waits", lambda: fcntl.flock(two, EX))
show("taken by the other", lambda: fcntl.flock(one, EX | NB))
os.close(two)
show("given back by closing", lambda: fcntl.flock(one, EX | NB))
two = os.open("lock", os.O_RDWR)
os.set_inheritable(one, True)
os.system(f"flock -n {one} && echo inherited")
show("still taken", lambda: fcntl.flock(two, SH | NB))


class Tick(Exception):
    pass


def tick(*_):
    raise Tick


signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    fcntl.flock(two, EX)
    print("not interrupted")
except Tick:
    print("interrupted")
# A program whose handler says so waits on.
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)
libc = ctypes.CDLL(None, use_errno=True)
if os.fork() == 0:
    time.sleep(0.2)
    fcntl.flock(one, UN)
    os._exit(0)
signal.setitimer(signal.ITIMER_REAL, 0.1)
print("goes on", libc.flock(two, EX))
os.wait()
os.system("flock -w 0.1 lock true; echo without luck $?")

# Locks of parts.
three = os.open("parts", os.O_RDWR | os.O_CREAT)
for request in (fcntl.LOCK_EX | NB, SH | NB, UN):
    show(f"lockf {request}", lambda: fcntl.lockf(three, request, 10, 5))
fcntl.lockf(three, EX | NB, 10)
child(("part taken", lambda: fcntl.lockf(three, EX | NB, 10)))
child(("part free", lambda: fcntl.lockf(three, EX | NB, 10, 20)))
read_only = os.open("parts", os.O_RDONLY)
show("part of what is only read", lambda: fcntl.lockf(read_only, EX | NB))
record = struct.pack("hhqqi4x", 1, 0, 0, 0, 0)
show("of whoever has it open", lambda: len(fcntl.fcntl(three, 37, record)))
show("nowhere", lambda: libc.fcntl(three, 6, ctypes.c_void_p(1)))

# Sockets with a name on a disk.
os.makedirs("deep/er"), os.symlink("deep", "way"), os.symlink("nowhere", "lost"), open("file", "w").close()
names = ["plain", "deep/in", "./deep/er/dots", here + "/whole", "way/linked", "deep/../up", "/tmp/private", "lost", "file", "deep", "",
         "deep/", "missing/x", "file/x", "x" * 107, "/usr/x", "plain"]
listening = []
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    for name in names:
        server = socket.socket(socket.AF_UNIX, kind)
        name = f"{name}-{kind}" if name in ("plain", "deep/in", here + "/whole", "way/linked", "/tmp/private", "./deep/er/dots") else name
        show(f"bind {name[:40]}", lambda: server.bind(name))
        show(f"called {name[:40]}", lambda: server.getsockname() if name else "by the kernel")
        show(f"listens {name[:40]}", lambda: server.listen(1))
        listening.append(server)
        client = socket.socket(socket.AF_UNIX, kind)
        show(f"connect {name[:40]}", lambda: client.connect(name))
        show(f"says {name[:40]}", lambda: client.send(b"text"))
        if client.fileno() >= 0 and name and os.path.exists(name) and not os.path.isdir(name) and name != "file":
            show(f"hears {name[:40]}", lambda: server.accept()[0].recv(10))
        show(f"again {name[:40]}", lambda: client.connect(name))
for name in ("link-to-it", "lost", "file", "deep", "gone", "", "plain-1/", "file/x"):
    if name == "link-to-it":
        os.symlink("plain-1", name)
    show(f"connect to {name}", lambda: socket.socket(socket.AF_UNIX).connect(name))
os.rename("plain-1", "moved")
[listening[0].accept() for _ in "ab"]
show("moved", lambda: socket.socket(socket.AF_UNIX).connect("moved"))
os.chmod("moved", 0)
show("mode", lambda: oct(os.stat("moved").st_mode))
os.unlink("moved")
show("gone", lambda: socket.socket(socket.AF_UNIX).connect("moved"))
os.umask(0o077)
server = socket.socket(socket.AF_UNIX)
server.bind("masked")
show("mask", lambda: oct(os.stat("masked").st_mode))
show("bound twice", lambda: server.bind("masked2"))
# There is no room for more who want to be connected.
server.listen(0)
first, second = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
first.connect("masked")
second.setblocking(False)
show("no room", lambda: second.connect("masked"))
second.setblocking(True)
threading.Timer(0.1, lambda: listening.append(server.accept())).start()
show("room", lambda: second.connect("masked"))
show("flags", lambda: fcntl.fcntl(second, fcntl.F_GETFL) & os.O_NONBLOCK)

# Names that lie on none.
server = socket.socket(socket.AF_UNIX)
show("abstract", lambda: server.bind(b"\0name"))
show("abstract called", lambda: server.getsockname())
server.listen(1)
show("abstract connects", lambda: socket.socket(socket.AF_UNIX).connect(b"\0name"))
show("abstract lost", lambda: socket.socket(socket.AF_UNIX).connect(b"\0other"))
show("chosen", lambda: socket.socket(socket.AF_UNIX).bind(""))

# Machines.
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)
port = server.getsockname()[1]
client = socket.socket()
show("machine", lambda: client.connect(("127.0.0.1", port)))
show("machine again", lambda: client.connect(("127.0.0.1", port)))
show("peer", lambda: client.getpeername() == ("127.0.0.1", port))
client = socket.socket()
client.setblocking(False)
show("machine at once", lambda: client.connect_ex(("127.0.0.1", port)) in (0, errno.EINPROGRESS))
show("machine connected", lambda: bool(select.select([], [client], [], 5)[1]))
show("nobody", lambda: socket.socket().connect(("127.0.0.1", 1)))
show("nowhere", lambda: socket.socket().connect(("192.0.2.1", 1)))
show("six", lambda: socket.socket(socket.AF_INET6).connect(("::1", port)))
datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
show("datagram", lambda: datagram.connect(("127.0.0.1", port)))
show("not connected", lambda: libc.connect(datagram.fileno(), struct.pack("H14x", 0), 16))
for length in (0, 1, 2, 3, 15, 16, 110, 128, 129, -1):
    for family in (0, 1, 2, 99):
        client = socket.socket(socket.AF_UNIX)
        text = struct.pack("H", family) + b"f" * 130
        show(f"odd {family} {length}", lambda: (libc.connect(client.fileno(), text, length), errno.errorcode.get(ctypes.get_errno())))
        show(f"odd bind {family} {length}", lambda: (libc.bind(client.fileno(), text, length), errno.errorcode.get(ctypes.get_errno())))
        for name in (b"f" * 106, b"f" * 107, b"f" * 108, b"f" * 12, b"f" * 13, b"f"):
            if os.path.exists(name):
                os.unlink(name)
show("no memory", lambda: (libc.connect(client.fileno(), ctypes.c_void_p(1), 16), errno.errorcode.get(ctypes.get_errno())))
show("no socket", lambda: (libc.connect(0, text, 16), errno.errorcode.get(ctypes.get_errno())))
show("not open", lambda: (libc.connect(99, text, 16), errno.errorcode.get(ctypes.get_errno())))
show("a pair", lambda: len(socket.socketpair()))

# What others build upon it.
with multiprocessing.Manager() as manager:
    show("manager", lambda: manager.dict(a=1)["a"])
