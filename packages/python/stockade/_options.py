"""What both clients are set up with, and how long they wait."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, Any, Mapping, Optional, Sequence, Union

from ._binary import find_binary
from ._connection import Connection, NotificationHandler
from ._errors import ClosedError, ConnectionLostError, ProtocolError, VersionError
from ._protocol import VERSION

#: How long a command runs that says nothing about it, in milliseconds.
COMMAND = 120_000

#: How long a server has for saying that it is there, where it did not answer something else.
PROBE = 2.0


@dataclass(frozen=True)
class Options:
    """How a server is reached."""

    binary: Optional[str]
    arguments: Sequence[str]
    socket_path: Optional[Union[str, "os.PathLike[str]"]]
    timeout: float
    start_timeout: float
    max_request: int
    on_notification: Optional[NotificationHandler]
    cwd: Optional[Union[str, "os.PathLike[str]"]]
    env: Optional[Mapping[str, str]]
    stderr: Union[None, int, IO[Any]]

    def connect(self) -> Connection:
        """Starts or reaches a server. What it is was not asked yet."""
        if self.socket_path is not None:
            return Connection.to_socket(os.fspath(self.socket_path), self.max_request, self.on_notification)
        program = self.binary or find_binary()
        command = [program, "serve", "--max-request", str(self.max_request), *self.arguments]
        return Connection.to_process(
            command, self.max_request, self.on_notification, cwd=self.cwd, env=self.env, stderr=self.stderr
        )

    def seconds(self, method: str, params: Mapping[str, Any], timeout: Optional[float]) -> Optional[float]:
        """How long to wait for an answer; nothing for ever."""
        if timeout is None:
            timeout = self.timeout
            if method == "exec":
                given = params.get("timeoutMs")
                timeout += (COMMAND if given is None else given) / 1000
        return None if timeout == float("inf") else timeout


def check_version(answer: Any) -> None:
    """Refuses a server that is none of ours, or that speaks another version."""
    if not isinstance(answer, dict) or answer.get("name") != "stockade":
        raise ProtocolError("what was started is no `stockade serve`")
    version = str(answer.get("version"))
    if version.split(".")[:2] != VERSION.split(".")[:2]:
        raise VersionError(f"the server is of version {version}, and this package of {VERSION}; install the same of both")


CLOSED = "the client was closed"


def closed() -> ClosedError:
    return ClosedError(CLOSED)


def stuck() -> ConnectionLostError:
    return ConnectionLostError("the server did not answer, and was ended")
