"""The server of a client: started when it is needed, once for all who wait, and again when it was lost."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Optional

from ._connection import Connection
from ._options import Options, closed
from ._waits import Deadline, started


class Server:
    """Nothing here waits for the server but `close`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._started: Optional[Future[Connection]] = None
        self._connection: Optional[Connection] = None
        self._is_closed = False

    def reached(self) -> Future[Connection]:
        """Returns the server that runs or is about to; begins to start one where there is none."""
        with self._lock:
            if self._is_closed:
                raise closed()
            if self._started is not None and (not self._started.done() or _runs(self._started)):
                return self._started
            future: Future[Connection] = Future()
            self._started = future
            # Many wait for it, and none of them ends it.
            future.set_running_or_notify_cancel()
            threading.Thread(target=self._begin, args=(future,), name="stockade-start", daemon=True).start()
            return future

    def close(self) -> None:
        """Lets the server answer what is under way, and end. One that is not there yet is given up."""
        with self._lock:
            self._is_closed = True
            future, self._started = self._started, None
            connection, self._connection = self._connection, None
        if connection is None:
            return
        if future is not None and not future.done():
            connection.lose(closed())
        connection.close(closed())

    def _begin(self, future: Future[Connection]) -> None:
        deadline = Deadline(self._options.start_timeout)
        try:
            connection = self._options.connect()
            with self._lock:
                self._connection = connection
                is_closed = self._is_closed
            if is_closed:
                connection.lose(closed())
            future.set_result(started(connection, deadline.left()))
        except BaseException as error:
            # Whoever waits is told.
            future.set_exception(error)


def _runs(future: Future[Connection]) -> bool:
    return future.exception() is None and not future.result().is_lost
