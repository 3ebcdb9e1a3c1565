"""The client that waits."""

from __future__ import annotations

import os
import queue
import threading
import time
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import IO, Any, Iterator, Mapping, Optional, Sequence, Union, cast

from ._connection import Connection, NotificationHandler, OutputPiece, Pending
from ._errors import RequestTimeoutError, StockadeError
from ._options import PROBE, Options, check_version, closed, stuck
from ._protocol import ExecResult, Methods


class Stockade(Methods):
    """A client of `stockade serve`, which is started with it and ends with it. Threads may share it.

    Every method of SERVE.md is a method here; a dot becomes an underscore, and parameters keep their names:
    `command.evaluate` is `command_evaluate(command="ls")`. Each waits `timeout` seconds at most, and raises a `StockadeError`
    where it has no result: treat it as a refusal. A server that was lost is started again by the next call; its sessions are gone.

    - `binary`: the program; `find_binary()` by default.
    - `arguments`: more arguments of `stockade serve`, such as `["--agent", "builder"]`.
    - `socket_path`: a server that is there already, in the place of one of its own.
    - `timeout`: seconds for every answer that says nothing else. Commands have their own time besides.
    - `on_notification`: called with each notification, such as `policy.changed`, on the thread that reads.
    """

    def __init__(
        self,
        *,
        binary: Optional[str] = None,
        arguments: Sequence[str] = (),
        socket_path: Optional[Union[str, "os.PathLike[str]"]] = None,
        timeout: float = 30.0,
        start_timeout: float = 10.0,
        max_request: int = 4 << 20,
        on_notification: Optional[NotificationHandler] = None,
        cwd: Optional[Union[str, "os.PathLike[str]"]] = None,
        env: Optional[Mapping[str, str]] = None,
        stderr: Union[None, int, IO[Any]] = None,
    ) -> None:
        self._options = Options(
            binary, arguments, socket_path, timeout, start_timeout, max_request, on_notification, cwd, env, stderr
        )
        self._lock = threading.Lock()
        self._connection: Optional[Connection] = None
        self._is_closed = False

    def call(self, method: str, params: Optional[dict[str, Any]] = None, timeout: Optional[float] = None) -> Any:
        """Calls a method by its name on the wire."""
        return self._send(method, params or {}, timeout)

    def close(self) -> None:
        """Lets the server answer what is under way, and end."""
        with self._lock:
            self._is_closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(closed())

    def __enter__(self) -> Stockade:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _send(self, method: str, params: dict[str, Any], timeout: Optional[float]) -> Any:
        seconds = self._options.seconds(method, params, timeout)
        connection = self._connected()
        return wait(connection, method, connection.start(method, params), seconds)

    def _stream(self, params: dict[str, Any], timeout: Optional[float]) -> ExecStream:
        seconds = self._options.seconds("exec", params, timeout)
        return ExecStream(self._connected(), params, seconds)

    def _connected(self) -> Connection:
        """Returns the server that runs; starts one where there is none."""
        with self._lock:
            if self._is_closed:
                raise closed()
            if self._connection is None or self._connection.is_lost:
                self._connection = started(self._options)
            return self._connection


class ExecStream:
    """A command that runs. Iterate over it for what it prints, then take its `result()`. Leaving a `with` block early cancels it."""

    def __init__(self, connection: Connection, params: dict[str, Any], seconds: Optional[float]) -> None:
        self._connection = connection
        self._pieces: queue.SimpleQueue[Optional[OutputPiece]] = queue.SimpleQueue()
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._pending = connection.start("exec", {**params, "stream": True}, self._pieces.put)
        self._pending.future.add_done_callback(lambda _: self._pieces.put(None))

    def __iter__(self) -> Iterator[OutputPiece]:
        while True:
            try:
                piece = self._pieces.get(timeout=self._left())
            except queue.Empty:
                raise given_up(self._connection, "exec", self._pending) from None
            if piece is None:
                self._pieces.put(None)
                self.result()
                return
            yield piece

    def result(self) -> ExecResult:
        """Waits for the end of the command. What it printed is not in the result."""
        return cast(ExecResult, wait(self._connection, "exec", self._pending, self._left()))

    def cancel(self) -> None:
        """Ends the command. Its result says so."""
        if not self._pending.future.done():
            self._connection.start("cancel", {"id": self._pending.number})

    def __enter__(self) -> ExecStream:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            self.cancel()
        except StockadeError:
            # There is no server any more, and no command either.
            pass

    def _left(self) -> Optional[float]:
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())


def started(options: Options) -> Connection:
    """Starts a server, and sees that it is one."""
    connection = options.connect()
    try:
        check_version(wait(connection, "version", connection.start("version", {}), options.start_timeout, probe=False))
    except BaseException as error:
        connection.lose(error if isinstance(error, StockadeError) else stuck())
        raise
    return connection


def wait(
    connection: Connection, method: str, pending: Pending, seconds: Optional[float], probe: bool = True
) -> Any:
    """Waits for an answer, and lets no command go on for which nobody waits."""
    try:
        return pending.future.result(seconds)
    except StockadeError:
        raise
    except (FutureTimeout, TimeoutError):
        raise given_up(connection, method, pending, probe) from None
    except BaseException:
        abandon(connection, method, pending)
        raise


def given_up(connection: Connection, method: str, pending: Pending, probe: bool = True) -> RequestTimeoutError:
    """Says that an answer did not come. A server that says nothing else either is ended, so that the next call has a new one."""
    abandon(connection, method, pending)
    try:
        if probe:
            connection.start("ping", {}).future.result(PROBE)
    except (FutureTimeout, TimeoutError, StockadeError):
        connection.lose(stuck())
    return RequestTimeoutError(f"`{method}` was not answered in time")


def abandon(connection: Connection, method: str, pending: Pending) -> None:
    """Forgets a request, and ends its command."""
    connection.forget(pending)
    if method == "exec":
        try:
            connection.start("cancel", {"id": pending.number})
        except StockadeError:
            # There is no server any more, and no command either.
            pass
