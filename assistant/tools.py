"""Tools: what a model may call. A tool is a name, a description, a JSON Schema of its arguments, and a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assistant.messages import Declaration


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that a model has been shown, with all that a citation of it needs. `text` is what is stored, not what was cut.

    key: the citation key. path: relative to its root. stale: how the file differs from what was indexed, None when it does not.
    """

    key: str
    path: str
    root: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    first_line: int
    last_line: int
    date: str | None
    text: str
    stale: str | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back: `value` is what the model reads, the rest is for the person and for checking the answer.

    value: anything that JSON can hold. summary: one line for the trace ("5 hits in 3 documents"). resolved: filters and date
    ranges as they were understood. counted: the answer is a count or a list, so that coverage belongs beside it.
    """

    value: Any
    summary: str = ""
    evidence: tuple[Evidence, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A function with its declaration. run is called with the validated arguments by name; it may raise ToolError."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[..., Any]


class Toolbox:
    """The tools of a conversation."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    def declarations(self) -> tuple[Declaration, ...]:
        """The tools as a model sees them."""
        return tuple(Declaration(tool.name, tool.description, tool.parameters) for tool in self.tools.values())

    def validate(self, name: str, arguments: str | None) -> dict[str, Any]:
        """The arguments of a call as typed values. Raises ToolCallError, whose text the model can act on."""
        raise NotImplementedError
