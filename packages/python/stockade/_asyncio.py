"""The client for asyncio. The same threads talk to the server; nothing here blocks the loop."""

from __future__ import annotations

import asyncio
import os
import time
from types import TracebackType
from typing import IO, Any, AsyncIterator, Mapping, Optional, Sequence, Union, cast

from ._client import abandon, given_up, started
from ._connection import Connection, NotificationHandler, OutputPiece, Pending
from ._errors import StockadeError
from ._options import Options, closed
from ._protocol import AsyncMethods, ExecResult


class AsyncStockade(AsyncMethods):
    """The same as `Stockade`, to be awaited. A task that is cancelled ends the command that it waits for."""

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
        self._lock = asyncio.Lock()
        self._connection: Optional[Connection] = None
        self._is_closed = False

    async def call(self, method: str, params: Optional[dict[str, Any]] = None, timeout: Optional[float] = None) -> Any:
        """Calls a method by its name on the wire."""
        return await self._send(method, params or {}, timeout)

    async def close(self) -> None:
        """Lets the server answer what is under way, and end."""
        self._is_closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            await asyncio.get_running_loop().run_in_executor(None, connection.close, closed())

    async def __aenter__(self) -> AsyncStockade:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def _send(self, method: str, params: dict[str, Any], timeout: Optional[float]) -> Any:
        seconds = self._options.seconds(method, params, timeout)
        connection = await self._connected()
        return await wait(connection, method, connection.start(method, params), seconds)

    async def _stream(self, params: dict[str, Any], timeout: Optional[float]) -> AsyncExecStream:
        seconds = self._options.seconds("exec", params, timeout)
        return AsyncExecStream(await self._connected(), params, seconds)

    async def _connected(self) -> Connection:
        async with self._lock:
            if self._is_closed:
                raise closed()
            if self._connection is None or self._connection.is_lost:
                connection = await asyncio.get_running_loop().run_in_executor(None, started, self._options)
                if self._is_closed:
                    connection.lose(closed())
                    raise closed()
                self._connection = connection
            return self._connection


class AsyncExecStream:
    """A command that runs. Iterate over it for what it prints, then await its `result()`. Leaving an `async with` block early cancels it."""

    def __init__(self, connection: Connection, params: dict[str, Any], seconds: Optional[float]) -> None:
        self._connection = connection
        self._pieces: asyncio.Queue[Optional[OutputPiece]] = asyncio.Queue()
        self._ends = None if seconds is None else time.monotonic() + seconds
        loop = asyncio.get_running_loop()

        def put(piece: Optional[OutputPiece]) -> None:
            try:
                loop.call_soon_threadsafe(self._pieces.put_nowait, piece)
            except RuntimeError:
                # The loop is closed, so nobody reads.
                pass

        self._pending = connection.start("exec", {**params, "stream": True}, put)
        self._pending.future.add_done_callback(lambda _: put(None))

    async def __aiter__(self) -> AsyncIterator[OutputPiece]:
        while True:
            try:
                piece = await asyncio.wait_for(self._pieces.get(), self._left())
            except (asyncio.TimeoutError, TimeoutError):
                raise await _given_up(self._connection, "exec", self._pending) from None
            if piece is None:
                self._pieces.put_nowait(None)
                await self.result()
                return
            yield piece

    async def result(self) -> ExecResult:
        """Waits for the end of the command. What it printed is not in the result."""
        return cast(ExecResult, await wait(self._connection, "exec", self._pending, self._left()))

    async def cancel(self) -> None:
        """Ends the command. Its result says so."""
        if not self._pending.future.done():
            self._connection.start("cancel", {"id": self._pending.number})

    async def __aenter__(self) -> AsyncExecStream:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        try:
            await self.cancel()
        except StockadeError:
            # There is no server any more, and no command either.
            pass

    def _left(self) -> Optional[float]:
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())


async def wait(connection: Connection, method: str, pending: Pending, seconds: Optional[float]) -> Any:
    """Waits for an answer, and lets no command go on for which nobody waits."""
    answer = asyncio.wrap_future(pending.future)
    try:
        done, _ = await asyncio.wait({answer}, timeout=seconds)
    except asyncio.CancelledError:
        abandon(connection, method, pending)
        raise
    if not done:
        raise await _given_up(connection, method, pending)
    return answer.result()


async def _given_up(connection: Connection, method: str, pending: Pending) -> StockadeError:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, given_up, connection, method, pending)
