# mypy: disable-error-code="import-not-found", allow-subclassing-any
"""Middleware for agents of LangChain and LangGraph: `create_agent(model, tools, middleware=[StockadeMiddleware(guard)])`."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Awaitable, Callable

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage

from .tools import ToolGuard, ToolRefused


class StockadeMiddleware(AgentMiddleware):
    """Judges each call of a tool, and cleans its result.

    For a question to the user, let the guard interrupt the graph: `ask=lambda verdict: interrupt(verdict["message"]) == "yes"`.
    """

    def __init__(self, guard: ToolGuard) -> None:
        super().__init__()
        self.guard = guard

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            allowed = self._allowed(request)
        except ToolRefused as refused:
            return _refusal(request, refused)
        return self._shown(request.tool_call["name"], handler(allowed))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            allowed = await asyncio.to_thread(self._allowed, request)
        except ToolRefused as refused:
            return _refusal(request, refused)
        return await asyncio.to_thread(self._shown, request.tool_call["name"], await handler(allowed))

    def _allowed(self, request: Any) -> Any:
        call = request.tool_call
        return request.override(tool_call={**call, "args": self.guard.before(call["name"], call["args"])})

    def _shown(self, name: str, result: Any) -> Any:
        if isinstance(result, ToolMessage):
            return result.model_copy(update={"content": self.guard.after(name, result.content)})
        # A command to the graph may carry messages.
        update = getattr(result, "update", None)
        if not isinstance(update, dict) or not isinstance(update.get("messages"), list):
            return result
        messages = [self._shown(name, one) if isinstance(one, ToolMessage) else one for one in update["messages"]]
        return dataclasses.replace(result, update={**update, "messages": messages})


def _refusal(request: Any, refused: ToolRefused) -> Any:
    call = request.tool_call
    return ToolMessage(content=str(refused), name=call["name"], tool_call_id=call["id"], status="error")
