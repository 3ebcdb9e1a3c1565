"""How long anybody waits, and what becomes of what nobody waits for any more."""

from __future__ import annotations

import time
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Optional

from ._connection import Connection, Pending
from ._errors import RequestTimeoutError, StockadeError
from ._options import PROBE, check_version, stuck


class Deadline:
    """When the time of a call is over. It counts from here, whatever the call waits for."""

    def __init__(self, seconds: Optional[float]) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds

    def left(self) -> Optional[float]:
        """The seconds that are left; nothing for ever."""
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())


def started(connection: Connection, seconds: Optional[float]) -> Connection:
    """Sees that what was started is a server."""
    try:
        check_version(wait(connection, "version", connection.start("version", {}), seconds, probe=False))
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
        abandon(connection, pending)
        raise


def given_up(connection: Connection, method: str, pending: Pending, probe: bool = True) -> RequestTimeoutError:
    """Says that an answer did not come. A server that says nothing else either is ended, so that the next call has a new one."""
    abandon(connection, pending)
    try:
        if probe:
            connection.start("ping", {}).future.result(PROBE)
    except (FutureTimeout, TimeoutError, StockadeError):
        connection.lose(stuck())
    return late(method)


def abandon(connection: Connection, pending: Pending) -> None:
    """Forgets a request, and ends its command."""
    connection.forget(pending)
    connection.cancel(pending)


def late(method: str) -> RequestTimeoutError:
    return RequestTimeoutError(f"`{method}` was not answered in time")
