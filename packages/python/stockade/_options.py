"""What both clients are set up with, and how long they wait."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, Any, Mapping, Optional, Sequence, Union

from ._binary import find_binary
from ._connection import Connection, NotificationHandler
from ._errors import ClosedError, ConnectionLostError, ProtocolError, UnsendableError, VersionError
from ._protocol import VERSION

#: What holds where nothing else is said: seconds for an answer, seconds for a start, and the bytes of a request.
TIMEOUT = 30.0
START_TIMEOUT = 10.0
MAX_REQUEST = 4 << 20

#: More seconds than this are for ever: no timer of this machine is sure to know them.
LONGEST = 1e8

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
    timeout: Optional[float]
    start_timeout: Optional[float]
    max_request: int
    on_notification: Optional[NotificationHandler]
    cwd: Optional[Union[str, "os.PathLike[str]"]]
    env: Optional[Mapping[str, str]]
    stderr: Union[None, int, IO[Any]]

    @classmethod
    def of(
        cls,
        binary: Optional[str],
        arguments: Optional[Sequence[str]],
        socket_path: Optional[Union[str, "os.PathLike[str]"]],
        timeout: Optional[float],
        start_timeout: Optional[float],
        max_request: Optional[int],
        *others: Any,
    ) -> Options:
        """What is nothing is what it is by default, and never without a limit."""
        return cls(
            binary,
            () if arguments is None else arguments,
            socket_path,
            checked("timeout", TIMEOUT if timeout is None else timeout),
            checked("start_timeout", START_TIMEOUT if start_timeout is None else start_timeout),
            MAX_REQUEST if max_request is None else max_request,
            *others,
        )

    def connect(self) -> Connection:
        """Starts or reaches a server. What it is was not asked yet."""
        if self.socket_path is not None:
            return Connection.to_socket(
                os.fspath(self.socket_path), self.max_request, self.on_notification, self.start_timeout
            )
        program = self.binary or find_binary()
        command = [program, "serve", "--max-request", str(self.max_request), *self.arguments]
        return Connection.to_process(
            command, self.max_request, self.on_notification, cwd=self.cwd, env=self.env, stderr=self.stderr
        )

    def seconds(self, method: str, params: Mapping[str, Any], timeout: Optional[float]) -> Optional[float]:
        """How long to wait for an answer; nothing for ever."""
        if timeout is not None:
            return checked("timeout", timeout)
        if method != "exec" or self.timeout is None:
            return self.timeout
        given = params.get("timeoutMs")
        # What is no time is refused when it is sent, or by the server.
        milliseconds = given if isinstance(given, (int, float)) and 0 <= given <= LONGEST else COMMAND
        return checked("timeout", self.timeout + milliseconds / 1000)


def checked(name: str, seconds: Any) -> Optional[float]:
    """Returns how many seconds to wait; nothing for ever."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise UnsendableError(f"{name} is {seconds!r}, which is no time; give seconds, or `inf` for ever")
    return None if seconds > LONGEST else float(seconds)


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
