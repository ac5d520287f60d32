"""Asynchronous tool calls. The module is imported when the first such call is made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from ._native import Envelope, Tools


async def call_tool(
    tools: Tools,
    name: str,
    arguments: dict[str, Any] | str | None,
    progress: Callable[[float, str], object] | None,
    timeout: float | None,
) -> Envelope:
    """Call a tool in a thread; cancelling the task ends the call."""
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(
            tools.call, name, arguments, progress=progress, cancelled=cancelled, timeout=timeout
        )
    except asyncio.CancelledError:
        cancelled.set()
        raise
