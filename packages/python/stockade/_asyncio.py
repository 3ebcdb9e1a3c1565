"""The client for asyncio. The same threads talk to the server; nothing here blocks the loop."""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import IO, Any, AsyncIterator, Mapping, Optional, Sequence, Union, cast

from ._connection import Connection, NotificationHandler, OutputPiece, Pending
from ._errors import StockadeError
from ._options import MAX_REQUEST, START_TIMEOUT, TIMEOUT, Options
from ._protocol import AsyncMethods, ExecResult
from ._start import Server
from ._waits import Deadline, abandon, given_up, late


class AsyncStockade(AsyncMethods):
    """The same as `Stockade`, to be awaited. A task that is cancelled ends the command that it waits for."""

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

    async def call(self, method: str, params: Optional[dict[str, Any]] = None, timeout: Optional[float] = None) -> Any:
        """Calls a method by its name on the wire."""
        return await self._send(method, params or {}, timeout)

    async def close(self) -> None:
        """Lets the server answer what is under way, and end."""
        await asyncio.get_running_loop().run_in_executor(None, self._server.close)

    async def __aenter__(self) -> AsyncStockade:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def _send(self, method: str, params: dict[str, Any], timeout: Optional[float]) -> Any:
        deadline = Deadline(self._options.seconds(method, params, timeout))
        connection = await self._connected(method, deadline)
        return await wait(connection, method, connection.start(method, params), deadline.left())

    async def _stream(self, params: dict[str, Any], timeout: Optional[float]) -> AsyncExecStream:
        deadline = Deadline(self._options.seconds("exec", params, timeout))
        return AsyncExecStream(await self._connected("exec", deadline), params, deadline)

    async def _connected(self, method: str, deadline: Deadline) -> Connection:
        """Returns the server that runs; waits for one where there is none, as long as the call has time."""
        reached = asyncio.wrap_future(self._server.reached())
        # Whoever gave up before it failed hears nothing of it.
        reached.add_done_callback(lambda one: one.cancelled() or one.exception())
        done, _ = await asyncio.wait({reached}, timeout=deadline.left())
        if not done:
            raise late(method)
        return reached.result()


class AsyncExecStream:
    """A command that runs. Iterate over it for what it prints, then await its `result()`. Leaving an `async with` block early cancels it."""

    def __init__(self, connection: Connection, params: dict[str, Any], deadline: Deadline) -> None:
        self._connection = connection
        self._pieces: asyncio.Queue[Optional[OutputPiece]] = asyncio.Queue()
        self._left = deadline.left
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


async def wait(connection: Connection, method: str, pending: Pending, seconds: Optional[float]) -> Any:
    """Waits for an answer, and lets no command go on for which nobody waits."""
    answer = asyncio.wrap_future(pending.future)
    try:
        done, _ = await asyncio.wait({answer}, timeout=seconds)
    except asyncio.CancelledError:
        abandon(connection, pending)
        raise
    if not done:
        raise await _given_up(connection, method, pending)
    return answer.result()


async def _given_up(connection: Connection, method: str, pending: Pending) -> StockadeError:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, given_up, connection, method, pending)
