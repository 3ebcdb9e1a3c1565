# mypy: disable-error-code="import-not-found"
"""Guardrails for tools of the OpenAI Agents SDK: `Agent(name="builder", tools=protect([run, fetch], guard))`."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any, Iterable

from agents import FunctionTool, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail

from .tools import ToolGuard, ToolRefused


def protect(tools: Iterable[Any], guard: ToolGuard) -> list[Any]:
    """Returns the tools with guardrails. Hosted tools run elsewhere, so they cannot be judged and are an error."""
    return [_protected(tool, guard) for tool in tools]


def _protected(tool: Any, guard: ToolGuard) -> Any:
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"{tool.name} is not a function tool: its calls cannot be judged")
    rewritten: dict[str, str] = {}

    async def stockade_before(data: Any) -> Any:
        call = data.context
        try:
            arguments = json.loads(call.tool_arguments or "{}")
            allowed = await asyncio.to_thread(guard.before, tool.name, arguments)
        except (ToolRefused, TypeError, ValueError) as refused:
            return ToolGuardrailFunctionOutput.reject_content(str(refused))
        # A guardrail cannot change arguments, so the call itself takes them.
        if allowed != arguments:
            rewritten[call.tool_call_id] = json.dumps(allowed)
        return ToolGuardrailFunctionOutput.allow()

    async def stockade_after(data: Any) -> Any:
        shown = await asyncio.to_thread(guard.after, tool.name, data.output)
        if shown is data.output:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(shown)

    async def invoke(context: Any, arguments: str) -> Any:
        return await tool.on_invoke_tool(context, rewritten.pop(context.tool_call_id, arguments))

    return dataclasses.replace(
        tool,
        on_invoke_tool=invoke,
        tool_input_guardrails=[*(tool.tool_input_guardrails or []), ToolInputGuardrail(stockade_before)],
        tool_output_guardrails=[*(tool.tool_output_guardrails or []), ToolOutputGuardrail(stockade_after)],
    )
