"""Who speaks: the names data sets use for the four roles of a chat."""

from __future__ import annotations

from typing import Final

ROLES: Final[dict[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "tool": "tool",
    "function": "tool",
    "function_response": "tool",
    "observation": "tool",
}
"""Role by name in lower case; ``from`` of ShareGPT files and ``role`` of OpenAI messages mix in the wild."""
