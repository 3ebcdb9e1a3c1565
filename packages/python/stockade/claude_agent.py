# mypy: disable-error-code="import-not-found"
"""Hooks for the Claude Agent SDK: `ClaudeAgentOptions(hooks=hooks(ToolGuard(client, "claude", harness="claude")))`."""

from __future__ import annotations

import asyncio
from typing import Any

from claude_agent_sdk import HookMatcher

from .tools import ToolGuard, ToolRefused


def hooks(guard: ToolGuard) -> dict[Any, list[Any]]:
    """Returns the hooks that judge every call of a tool and clean its result. Claude asks the user by `can_use_tool`."""

    async def before(data: Any, tool_use_id: Any, context: Any) -> Any:
        try:
            verdict = await asyncio.to_thread(guard.judge, data["tool_name"], data["tool_input"])
        except ToolRefused as refused:
            return _decided("deny", permissionDecisionReason=str(refused))
        if verdict["decision"] != "allow":
            return _decided(verdict["decision"], permissionDecisionReason=verdict.get("message") or "stockade refuses this call")
        if "arguments" in verdict:
            return _decided("allow", updatedInput=verdict["arguments"])
        # No objection grants nothing: the permissions of Claude decide.
        return {}

    async def after(data: Any, tool_use_id: Any, context: Any) -> Any:
        shown = await asyncio.to_thread(guard.shown, data["tool_name"], data["tool_response"])
        if shown["change"] == "unchanged":
            return {}
        if "result" not in shown:
            # Claude keeps the original where another shape is offered, so it must not go on.
            return {"continue_": False, "stopReason": shown["text"]}
        said = {"additionalContext": shown.get("note") or "", "updatedToolOutput": shown["result"]}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", **said}}

    return {"PreToolUse": [HookMatcher(hooks=[before])], "PostToolUse": [HookMatcher(hooks=[after])]}


def _decided(decision: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}
