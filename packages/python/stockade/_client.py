"""The client that waits."""

from __future__ import annotations

import os
import queue
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import IO, Any, Iterator, Mapping, Optional, Sequence, Union, cast

from ._connection import Connection, NotificationHandler, OutputPiece
from ._errors import StockadeError
from ._options import MAX_REQUEST, START_TIMEOUT, TIMEOUT, Options
from ._protocol import ExecResult, Methods
from ._start import Server
from ._waits import Deadline, given_up, late, wait


class Stockade(Methods):
    """A client of `stockade serve`, which is started with it and ends with it. Threads may share it.

    Every method of SERVE.md is a method here; a dot becomes an underscore, and parameters keep their names:
    `command.evaluate` is `command_evaluate(command="ls")`. Each waits `timeout` seconds at most, and raises a `StockadeError`
    where it has no result: treat it as a refusal. A server that was lost is started again by the next call; its sessions are gone.

    - `binary`: the program; `find_binary()` by default.
    - `arguments`: more arguments of `stockade serve`, such as `["--agent", "builder"]`.
    - `socket_path`: a server that is there already, in the place of one of its own.
    - `timeout`: seconds for every answer that says nothing else; `inf` for ever. Commands have their own time besides.
    - `start_timeout`: seconds that a server has to start. They count as those of the call that waits for it.
    - `on_notification`: called with each notification, such as `policy.changed`, on the thread that reads.
    """

    def __init__(
        self,
        *,
        binary: Optional[str] = None,
        arguments: Optional[Sequence[str]] = (),
        socket_path: Optional[Union[str, "os.PathLike[str]"]] = None,
        timeout: Optional[float] = TIMEOUT,
        start_timeout: Optional[float] = START_TIMEOUT,
        max_request: Optional[int] = MAX_REQUEST,
        on_notification: Optional[NotificationHandler] = None,
        cwd: Optional[Union[str, "os.PathLike[str]"]] = None,
        env: Optional[Mapping[str, str]] = None,
        stderr: Union[None, int, IO[Any]] = None,
    ) -> None:
        self._options = Options.of(
            binary, arguments, socket_path, timeout, start_timeout, max_request, on_notification, cwd, env, stderr
        )
        self._server = Server(self._options)

    def call(self, method: str, params: Optional[dict[str, Any]] = None, timeout: Optional[float] = None) -> Any:
        """Calls a method by its name on the wire."""
        return self._send(method, params or {}, timeout)

    def close(self) -> None:
        """Lets the server answer what is under way, and end."""
        self._server.close()

    def __enter__(self) -> Stockade:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _send(self, method: str, params: dict[str, Any], timeout: Optional[float]) -> Any:
        deadline = Deadline(self._options.seconds(method, params, timeout))
        connection = self._connected(method, deadline)
        return wait(connection, method, connection.start(method, params), deadline.left())

    def _stream(self, params: dict[str, Any], timeout: Optional[float]) -> ExecStream:
        deadline = Deadline(self._options.seconds("exec", params, timeout))
        return ExecStream(self._connected("exec", deadline), params, deadline)

    def _connected(self, method: str, deadline: Deadline) -> Connection:
        """Returns the server that runs; waits for one where there is none, as long as the call has time."""
        try:
            return self._server.reached().result(deadline.left())
        except StockadeError:
            raise
        except (FutureTimeout, TimeoutError):
            raise late(method) from None


class ExecStream:
    """A command that runs. Iterate over it for what it prints, then take its `result()`. Leaving a `with` block early cancels it."""

    def __init__(self, connection: Connection, params: dict[str, Any], deadline: Deadline) -> None:
        self._connection = connection
        self._pieces: queue.SimpleQueue[Optional[OutputPiece]] = queue.SimpleQueue()
        self._left = deadline.left
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
