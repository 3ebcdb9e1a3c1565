# mypy: disable-error-code="import-not-found", allow-subclassing-any
"""A toolset for agents of Pydantic AI: `Agent(model, toolsets=[StockadeToolset(FunctionToolset([run]), guard)])`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.toolsets import WrapperToolset
from pydantic_core import to_jsonable_python

from .tools import ToolGuard, ToolRefused


@dataclass
class StockadeToolset(WrapperToolset[Any]):
    """Judges each call of a tool of the wrapped toolset, and cleans its result.

    With `defer`, a call about which the user has to be asked ends the run with `DeferredToolRequests`, which the agent needs among
    its output types; the verdict is in `metadata`. Otherwise the guard asks.
    """

    guard: ToolGuard
    defer: bool = False

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        arguments = to_jsonable_python(tool_args, serialize_unknown=True)
        try:
            verdict = await asyncio.to_thread(self.guard.judge, name, arguments)
        except ToolRefused as refused:
            raise ToolFailed(str(refused)) from refused
        is_asked = verdict["decision"] == "ask"
        if is_asked and self.defer and not ctx.tool_call_approved:
            raise ApprovalRequired(metadata=dict(verdict))
        try:
            if is_asked and self.defer:
                agrees = await asyncio.to_thread(self.guard.answered, verdict, True)
            else:
                agrees = await asyncio.to_thread(self.guard.agrees, verdict)
        except ToolRefused as refused:
            raise ToolFailed(str(refused)) from refused
        if not agrees:
            raise ToolFailed(verdict.get("message") or "stockade refuses this call")
        # Only a rewritten command is JSON; other arguments stay what the tool expects.
        result = await super().call_tool(name, {**tool_args, **(verdict.get("arguments") or {})}, ctx, tool)
        shown = await asyncio.to_thread(self.guard.shown, name, to_jsonable_python(result, serialize_unknown=True))
        return result if shown["change"] == "unchanged" else shown["text"]
