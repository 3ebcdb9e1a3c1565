"""Judges the calls of tools in an agent framework, as the hook of Claude Code does. The adapters for frameworks use it:
`stockade.langchain`, `stockade.openai_agents`, `stockade.pydantic_ai`, `stockade.claude_agent`.

    from stockade import Stockade
    from stockade.tools import ToolGuard, ToolRefused

    guard = ToolGuard(Stockade(), "builder", workspace="/srv/work", tools={"run": {"kind": "shell", "argumentNames": ["line"]}})
    arguments = guard.before("run", {"line": "make test"})  # or raises ToolRefused, whose text is for the model
    text = guard.after("run", run(**arguments))
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any, Callable, Literal, Mapping, Optional, TypedDict, Union, cast

from ._client import Stockade
from ._errors import ConnectionLostError, ProtocolError, RequestTimeoutError, ServerError, StockadeError
from ._protocol import ToolAfterResult, ToolBeforeResult


class ToolDescription(TypedDict, total=False):
    """What a tool does, if its name is not one that harnesses use (`Bash`, `read_file`)."""

    kind: Literal["shell", "read", "write", "edit", "list", "search", "fetch", "other"]
    argumentNames: list[str]
    """The arguments with the command, the paths or the URLs."""
    mcpServer: str
    """The MCP server of the tool."""


class ToolRefused(Exception):
    """A call that must not be made. Its text is for the model."""


class ToolGuard:
    """Judges the calls of one run of an agent. Threads may share it.

    - `client`: the server that judges.
    - `agent`: the agent whose configuration decides.
    - `workspace`: the directory of the agent; that of the server by default.
    - `tools`: descriptions of tools, by name.
    - `harness`: the harness that runs the tools, such as `claude`.
    - `ask`: asks the user about a call, and returns whether they agree. Without it, such a call is refused.
    """

    def __init__(
        self,
        client: Stockade,
        agent: str,
        *,
        workspace: Optional[Union[str, "os.PathLike[str]"]] = None,
        tools: Optional[Mapping[str, ToolDescription]] = None,
        harness: Optional[str] = None,
        ask: Optional[Callable[[ToolBeforeResult], bool]] = None,
    ) -> None:
        self._client, self._agent, self._harness, self._ask = client, agent, harness, ask
        self._workspace = None if workspace is None else os.path.abspath(workspace)
        self._tools = dict(tools or {})
        self._lock, self._session = threading.Lock(), cast(Optional[str], None)

    def judge(self, name: str, arguments: Mapping[str, Any]) -> ToolBeforeResult:
        """Decides about a call. The user is not asked. Raises `ToolRefused` if no decision is possible."""
        params = {"name": name, "arguments": dict(arguments), "harness": self._harness, **self._tools.get(name, {})}
        try:
            return cast(ToolBeforeResult, self._send("tool.before", params))
        except StockadeError as error:
            raise ToolRefused(f"stockade could not decide, so this is refused: {error}") from error

    def before(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments to call a tool with, or raises `ToolRefused`."""
        verdict = self.judge(name, arguments)
        if not self.agrees(verdict):
            raise ToolRefused(verdict.get("message") or "stockade refuses this call")
        return verdict.get("arguments") or dict(arguments)

    def agrees(self, verdict: ToolBeforeResult) -> bool:
        """Returns whether a call may be made, and asks the user if the verdict says so."""
        if verdict["decision"] != "ask" or self._ask is None:
            return verdict["decision"] == "allow"
        return self.answered(verdict, self._ask(verdict) is True)

    def answered(self, verdict: ToolBeforeResult, agrees: bool) -> bool:
        """Records what the user said about a call. What cannot be recorded is refused."""
        if "id" in verdict:
            try:
                self._send("tool.answer", {"id": verdict["id"], "answer": "allow" if agrees else "deny"})
            except StockadeError as error:
                raise ToolRefused(f"stockade could not record the answer, so this is refused: {error}") from error
        return agrees

    def shown(self, name: str, result: Any) -> ToolAfterResult:
        """Cleans and scans the result of a tool. What cannot be scanned is withheld."""
        described = self._tools.get(name, {})
        params = {"name": name, "result": _plain(result)}
        params.update({key: described[key] for key in ("kind", "mcpServer") if key in described})
        try:
            return cast(ToolAfterResult, self._send("tool.after", params))
        except StockadeError as error:
            why = f"stockade could not scan this result, so it is withheld: {error}"
            return {"change": "withheld", "text": why, "note": why, "hostile": True}

    def after(self, name: str, result: Any) -> Any:
        """Returns what the model may see of a result: the result itself, or a text in its place."""
        shown = self.shown(name, result)
        return result if shown["change"] == "unchanged" else shown["text"]

    def close(self) -> None:
        """Ends the session. The next call opens another one, with steps and answers of its own."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            self._client.session_close(session=session)

    def _send(self, method: str, params: dict[str, Any]) -> Any:
        with self._lock:
            if self._session is None:
                opened = self._client.session_open(
                    agent=self._agent, workspace=self._workspace, tools=list(self._tools)
                )
                self._session = opened["session"]
            session = self._session
        try:
            return self._client.call(method, {**params, "session": session})
        except StockadeError as error:
            # Sessions end with their server.
            if _lost(error):
                with self._lock:
                    self._session = None if self._session == session else self._session
            raise


def _lost(error: StockadeError) -> bool:
    if isinstance(error, ServerError):
        return bool(error.data == {"session": "unknown"})
    return isinstance(error, (ConnectionLostError, ProtocolError, RequestTimeoutError))


def _plain(result: Any) -> Any:
    """Returns a result as JSON: what is none is scanned as the text that a framework makes of it."""
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return str(result)
    return result
