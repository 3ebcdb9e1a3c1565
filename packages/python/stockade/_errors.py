"""What can go wrong. Every error of this package is a `StockadeError`; treat each of them as a refusal."""

from __future__ import annotations

from typing import Any


class StockadeError(Exception):
    """A request that has no result."""


class BinaryNotFoundError(StockadeError, FileNotFoundError):
    """There is no program `stockade`, or it cannot be started."""


class UnsendableError(StockadeError, ValueError):
    """A request that no server can read: NaN, broken text, too long, too deep; or a time that is none. Nothing was sent."""


class RequestTimeoutError(StockadeError, TimeoutError):
    """No answer within the time that was given. A command that was under way was cancelled."""


class ConnectionLostError(StockadeError, ConnectionError):
    """The server has ended, or cannot be reached. The next call starts it again."""


class ProtocolError(StockadeError):
    """The server said something that is no answer. It was ended; the next call starts it again."""


class VersionError(StockadeError):
    """The server is of another version than this package."""


class ClosedError(StockadeError):
    """The client was closed."""


class ServerError(StockadeError):
    """What the server answered in place of a result, with `code`, `message` and `data` as SERVE.md has them."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
