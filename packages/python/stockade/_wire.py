"""Requests as lines, and answers as what they mean."""

from __future__ import annotations

import json
import math
from typing import Any, Union

from ._errors import ProtocolError, ServerError, UnsendableError
from ._protocol import ERRORS

#: How deep a request may go. The server reads 127 levels, of which the request itself takes two.
MAX_DEPTH = 120
#: How many values a line may hold, as the server counts them.
MAX_VALUES = 100_000


def encode(number: int, method: str, params: dict[str, Any], longest: int) -> bytes:
    """Returns the line of a request, or says why there is none."""
    given = {name: value for name, value in params.items() if value is not None}
    count = _checked(given, "params", MAX_DEPTH)
    if count > MAX_VALUES - 10:
        raise UnsendableError(f"{method}: {count} values are more than one request may hold ({MAX_VALUES}); send them in several")
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
    try:
        line = json.dumps(request, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UnsendableError(f"{method}: the parameters are no JSON: {error}") from error
    if len(line) > longest:
        raise UnsendableError(f"{method}: the request has {len(line)} bytes, and the server reads {longest}; raise `max_request`")
    return line


def _checked(value: Any, place: str, depth: int) -> int:
    """Counts the values in a value, and refuses what JSON or the server has no form for."""
    if depth == 0:
        raise UnsendableError(f"{place} goes deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UnsendableError(f"{place} is no text: {error}; send bytes as Base64") from error
        return 1
    if isinstance(value, float) and not math.isfinite(value):
        raise UnsendableError(f"{place} is {value}, which JSON cannot say")
    if isinstance(value, dict):
        count = 2
        for name, part in value.items():
            if not isinstance(name, str):
                raise UnsendableError(f"{place} has a name that is no text: {name!r}")
            count += 1 + _checked(name, f"a name in {place}", depth) + _checked(part, f"{place}.{name}", depth - 1)
        return count
    if isinstance(value, (list, tuple)):
        return 2 + sum(1 + _checked(part, f"{place}[{index}]", depth - 1) for index, part in enumerate(value))
    return 1


class Answer:
    """The answer to a request: the number of that, and its result or its error."""

    def __init__(self, number: Any, outcome: Union[ServerError, Any]) -> None:
        self.number = number
        self.outcome = outcome


class Notification:
    """What the server says of itself."""

    def __init__(self, method: str, params: dict[str, Any]) -> None:
        self.method = method
        self.params = params


def decode(line: bytes) -> Union[Answer, Notification]:
    """Reads a line of the server."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the server wrote a line that is no JSON: {line[:60]!r}") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ProtocolError(f"the server wrote a line that is no message: {line[:60]!r}")
    if "method" in message:
        method, params = message["method"], message.get("params")
        if "id" in message or not isinstance(method, str) or not isinstance(params, dict):
            raise ProtocolError(f"the server wrote a line that is no notification: {line[:60]!r}")
        return Notification(method, params)
    if "id" not in message or ("result" in message) == ("error" in message):
        raise ProtocolError(f"the server wrote a line that is no answer: {line[:60]!r}")
    if "result" in message:
        return Answer(message["id"], message["result"])
    return Answer(message["id"], _error(message["error"], line))


def _error(error: Any, line: bytes) -> ServerError:
    if not isinstance(error, dict) or not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
        raise ProtocolError(f"the server wrote an error without a code or a message: {line[:60]!r}")
    kind = ERRORS.get(error["code"], ServerError)
    return kind(error["code"], error["message"], error.get("data"))
