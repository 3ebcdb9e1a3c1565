"""One server that runs: a thread writes to it, another reads from it, and both end with it."""

from __future__ import annotations

import base64
import binascii
import itertools
import logging
import queue
import socket
import subprocess
import threading
import time
from concurrent.futures import Future
from typing import Any, BinaryIO, Callable, Literal, NamedTuple, Optional, Sequence, cast

from ._errors import BinaryNotFoundError, ConnectionLostError, ProtocolError, ServerError, StockadeError
from ._wire import Notification, decode, encode

#: The longest line that is read from a server, which holds no more than that for a client.
MAX_ANSWER = 128 << 20

#: How long a server that was told to end may take.
ENDING = 5.0

#: How long to wait before a server whose queue is full is asked again.
QUEUED = 0.02

#: Called with the method and the parameters of a notification, on the thread that reads. It must not wait for the client.
NotificationHandler = Callable[[str, dict[str, Any]], None]

log = logging.getLogger("stockade")


class OutputPiece(NamedTuple):
    """A piece of what a command printed."""

    stream: Literal["stdout", "stderr"]
    data: bytes
    seq: int


class Pending:
    """A request that waits for its answer."""

    def __init__(self, number: int, method: str, on_piece: Optional[Callable[[OutputPiece], None]]) -> None:
        self.number = number
        self.method = method
        self.future: Future[Any] = Future()
        self._on_piece = on_piece
        self._pieces = 0

    def add(self, params: dict[str, Any]) -> None:
        """Takes a piece of output; none may be missing, and none may come twice."""
        stream, seq = params.get("stream"), params.get("seq")
        if self._on_piece is None or stream not in ("stdout", "stderr") or seq != self._pieces:
            raise ProtocolError(f"the output of a command is not what follows: {stream!r}, piece {seq!r} after {self._pieces}")
        try:
            data = base64.b64decode(params.get("dataBase64", ""), validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise ProtocolError("the output of a command is no Base64") from error
        self._pieces += 1
        self._on_piece(OutputPiece(cast(Literal["stdout", "stderr"], stream), data, self._pieces - 1))

    def end(self, outcome: Any) -> None:
        """Gives the answer to whoever waits."""
        if isinstance(outcome, StockadeError):
            self.future.set_exception(outcome)
            return
        if self._on_piece is not None and (not isinstance(outcome, dict) or outcome.get("pieces") != self._pieces):
            self.future.set_exception(ProtocolError(f"the output of a command is not whole: {self._pieces} pieces came"))
            return
        self.future.set_result(outcome)


class Connection:
    """A server over its pipes or a socket."""

    def __init__(self, longest: int, on_notification: Optional[NotificationHandler]) -> None:
        self._longest = longest
        self._on_notification = on_notification
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._socket: Optional[socket.socket] = None
        self._lock = threading.Lock()
        self._waiting: dict[int, Pending] = {}
        self._numbers = itertools.count(1)
        self._lines: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._lost: Optional[StockadeError] = None
        self._reader: Optional[threading.Thread] = None

    @classmethod
    def to_process(
        cls, command: Sequence[str], longest: int, on_notification: Optional[NotificationHandler], **process: Any
    ) -> Connection:
        """Starts a server."""
        connection = cls(longest, on_notification)
        try:
            server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **process)
        except OSError as error:
            raise BinaryNotFoundError(f"`{command[0]}` cannot be started: {error}") from error
        connection._process = server
        connection._run(cast(BinaryIO, server.stdin), cast(BinaryIO, server.stdout))
        return connection

    @classmethod
    def to_socket(
        cls, path: str, longest: int, on_notification: Optional[NotificationHandler], seconds: Optional[float]
    ) -> Connection:
        """Reaches a server that is there already."""
        connection = cls(longest, on_notification)
        connection._socket = socket.socket(socket.AF_UNIX)
        try:
            _connect(connection._socket, path, seconds)
        except OSError as error:
            connection._socket.close()
            raise ConnectionLostError(f"there is no server at {path}: {error}") from error
        connection._run(connection._socket.makefile("wb"), connection._socket.makefile("rb"))
        return connection

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    def start(
        self, method: str, params: dict[str, Any], on_piece: Optional[Callable[[OutputPiece], None]] = None
    ) -> Pending:
        """Sends a request. Nothing here waits for the server."""
        with self._lock:
            if self._lost is not None:
                raise self._lost
            pending = Pending(next(self._numbers), method, on_piece)
            line = encode(pending.number, method, params, self._longest)
            self._waiting[pending.number] = pending
            self._lines.put(line)
        return pending

    def forget(self, pending: Pending) -> None:
        """Nobody waits for this answer any more."""
        with self._lock:
            self._waiting.pop(pending.number, None)

    def cancel(self, pending: Pending) -> None:
        """Ends the command of a request, where it is one."""
        if pending.method == "exec":
            try:
                self.start("cancel", {"id": pending.number})
            except StockadeError:
                # There is no server any more, and no command either.
                pass

    def lose(self, error: StockadeError) -> None:
        """Gives the server up: whoever waits for it gets the error, and so does whoever asks it anything."""
        with self._lock:
            if self._lost is not None:
                return
            self._lost = error
            waiting, self._waiting = list(self._waiting.values()), {}
        self._lines.put(None)
        if self._process is not None:
            self._process.kill()
        if self._socket is not None:
            _shut(self._socket, socket.SHUT_RDWR)
        for pending in waiting:
            pending.end(error)

    def close(self, error: StockadeError) -> None:
        """Lets the server answer what is under way, and end."""
        # The thread that writes ends its side, the server answers and ends its own, and the thread that reads has it all.
        self._lines.put(None)
        if self._reader is not None and self._reader is not threading.current_thread():
            self._reader.join(ENDING)
        self.lose(error)
        if self._process is not None:
            self._process.wait()

    def _run(self, to: BinaryIO, source: BinaryIO) -> None:
        threading.Thread(target=self._write, args=(to,), name="stockade-write", daemon=True).start()
        self._reader = threading.Thread(target=self._read, args=(source,), name="stockade-read", daemon=True)
        self._reader.start()

    def _write(self, to: BinaryIO) -> None:
        try:
            with to:
                while (line := self._lines.get()) is not None:
                    to.write(line)
                    to.flush()
        except (OSError, ValueError) as error:
            self.lose(ConnectionLostError(f"the server reads no more: {error}"))
        if self._socket is not None and not self.is_lost:
            _shut(self._socket, socket.SHUT_WR)

    def _read(self, source: BinaryIO) -> None:
        try:
            with source:
                while line := source.readline(MAX_ANSWER + 1):
                    if len(line) > MAX_ANSWER:
                        raise ProtocolError(f"the server wrote a line of more than {MAX_ANSWER} bytes")
                    self._take(line)
            self.lose(ConnectionLostError(f"the server has ended{self._how()}"))
        except StockadeError as error:
            self.lose(error)
        except (OSError, ValueError) as error:
            self.lose(ConnectionLostError(f"the server cannot be read: {error}"))
        if self._process is not None:
            self._process.wait()
        if self._socket is not None:
            self._socket.close()

    def _take(self, line: bytes) -> None:
        message = decode(line)
        if isinstance(message, Notification):
            self._notify(message)
            return
        if message.number is None and isinstance(message.outcome, ServerError):
            # It could not read the request, so nobody knows which one that was.
            self._fail_all(message.outcome)
            return
        with self._lock:
            pending = self._waiting.pop(message.number, None) if isinstance(message.number, int) else None
        if pending is not None:
            pending.end(message.outcome)

    def _fail_all(self, error: ServerError) -> None:
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
        for pending in waiting:
            # Nobody waits for its command any more.
            self.cancel(pending)
            pending.end(error)

    def _notify(self, message: Notification) -> None:
        if message.method == "exec.output":
            number = message.params.get("id")
            with self._lock:
                pending = self._waiting.get(number) if isinstance(number, int) else None
            if pending is not None:
                pending.add(message.params)
        elif self._on_notification is not None:
            try:
                self._on_notification(message.method, message.params)
            except Exception:
                log.exception("the handler of notifications failed at %s", message.method)

    def _how(self) -> str:
        if self._process is None:
            return ""
        try:
            return f" with exit code {self._process.wait(1.0)}"
        except subprocess.TimeoutExpired:
            return ""


def _connect(to: socket.socket, path: str, seconds: Optional[float]) -> None:
    """Connects within this time. A server whose queue is full says so at once to whoever does not wait for ever."""
    ends = None if seconds is None else time.monotonic() + seconds
    to.settimeout(seconds)
    while True:
        try:
            to.connect(path)
            break
        except BlockingIOError:
            if ends is not None and time.monotonic() >= ends:
                raise
            time.sleep(QUEUED)
    to.settimeout(None)


def _shut(connection: socket.socket, how: int) -> None:
    try:
        connection.shutdown(how)
    except OSError:
        pass
