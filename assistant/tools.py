"""Tools: what a model may call. A tool is a name, a description, a JSON Schema of its arguments, and a function.

The toolbox is where a model's wish becomes a function call: nothing runs that was not declared and checked, whatever happens
becomes one result, and what a result holds is cleaned and bounded before a model reads it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant import checking, schemas
from assistant.cleaning import clean
from assistant.errors import ModelError, ToolCallError
from assistant.messages import Declaration, ToolCall, ToolResult
from assistant.results import RESULT_BUDGET, as_content, shortened
from assistant.wording import LISTED, nearest, quoted
from search.errors import FilterError, QueryError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from search import Hit

_ERROR_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a model has been shown, with all that a citation of it needs: a passage, the result of a query, or a calculation.

    key: the citation key. path: relative to its root; of a query, those of the files that its tables came from, ", " between them.
    stale: how the file differs from what was indexed, None when it does not. text: of a passage what is stored, not what was cut;
    of a query the rows that were shown. sql, parameters: of a query. expression: of a calculation, whose text is its value.
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
    sql: str = ""
    parameters: tuple[Any, ...] = ()
    expression: str = ""

    @property
    def is_passage(self) -> bool:
        """Whether it is a part of a document's text."""
        return not self.sql and not self.expression


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back: `value` is what the model reads, the rest is for the person and for checking the answer.

    value: anything that JSON can hold. summary: one line for the trace ("5 hits in 3 documents"). resolved: filters and date
    ranges as they were understood. counted: the answer is a count or a list, so that coverage belongs beside it. withheld: ids of
    documents that would be in it, were they not kept from the model. hits: of a search what explains the places of the passages
    that were shown.
    """

    value: Any
    summary: str = ""
    evidence: tuple[Evidence, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    counted: bool = False
    withheld: frozenset[int] = frozenset()
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, init=False)
class Tool:
    """A function with its declaration. run is called with the validated arguments by name; it may raise ToolError.

    name: any text; a wire that forbids it gets another (`backends.tool_names`). parameters: a JSON Schema of an object, or a
    pydantic model to derive one from; kept without `$ref`. in_order: calls of one reply to such tools run one after another in
    call order, because they number what they find.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[..., Any]
    in_order: bool = False

    def __init__(
        self,
        name: str,
        description: str,
        parameters: Mapping[str, Any] | type[BaseModel],
        run: Callable[..., Any],
        in_order: bool = False,
    ) -> None:
        schema = schemas.of_model(parameters) if isinstance(parameters, type) else schemas.inlined(parameters)
        values = {"name": name, "description": description, "parameters": schema, "run": run, "in_order": in_order}
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def declaration(self) -> Declaration:
        """The tool as a model sees it."""
        return Declaration(self.name, self.description, self.parameters)


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a call. output, arguments: None where it did not come to that. seconds: how long checking and running took.

    failure: the exception that the model was told little of, for the person; None when nothing unforeseen happened.
    """

    result: ToolResult
    output: ToolOutput | None
    arguments: dict[str, Any] | None
    seconds: float
    failure: BaseException | None = None


class Toolbox:
    """The tools of a conversation. budget: characters that a result may have."""

    def __init__(self, tools: Sequence[Tool], *, budget: int = RESULT_BUDGET) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.budget = budget
        if len(self.tools) < len(tools):
            raise ValueError("two tools have the same name")

    def declarations(self) -> tuple[Declaration, ...]:
        """The tools as a model sees them."""
        return tuple(tool.declaration for tool in self.tools.values())

    def validate(self, name: str, arguments: str | None) -> dict[str, Any]:
        """The arguments of a call as typed values. Raises ToolCallError, whose text the model can act on."""
        return checking.check(name, self._tool(name).parameters, arguments)

    def run(self, call: ToolCall) -> Ran:
        """Check a call and run it. Whatever happens becomes a result; only what ends the program is let through."""
        started = time.perf_counter()
        arguments: dict[str, Any] | None = None
        output: ToolOutput | None = None
        failure: BaseException | None = None
        try:
            arguments = self.validate(call.name, call.arguments)
            returned = self.tools[call.name].run(**arguments)
            output = returned if isinstance(returned, ToolOutput) else ToolOutput(returned)
            content, is_error = as_content(output.value, self.budget), False
        except ModelError as error:
            content, is_error, failure = clean(str(error)), True, error.__cause__
        except (QueryError, FilterError) as error:
            content, is_error = _advice(error), True
        except (Exception, SystemExit) as error:  # noqa: BLE001 - kept for the person; the conversation goes on
            content, is_error, failure = _unforeseen(call.name, error), True, error
        if is_error:
            output, content = None, shortened(content, min(self.budget, _ERROR_CHARACTERS))
        result = ToolResult(call.id, call.name, content, is_error)
        return Ran(result, output, arguments, time.perf_counter() - started, failure)

    def _tool(self, name: str) -> Tool:
        if name in self.tools:
            return self.tools[name]
        names = [*self.tools]
        if not names:
            raise ToolCallError(f"no tool named {quoted(name)}; there are no tools: answer in words")
        near = nearest(name, names, cutoff=0.4)
        listed = ", ".join(names[:LISTED])
        raise ToolCallError(f"no tool named {quoted(name)}; the tools are {listed}." + (f' Did you mean "{near}"?' if near else ""))


def _advice(error: QueryError | FilterError) -> str:
    """The library's message, with its hint unless that speaks of the command line."""
    hint = "" if "--" in error.hint or "archivist " in error.hint else error.hint
    return clean(f"{error}; {hint}" if hint else str(error))


def _unforeseen(name: str, error: BaseException) -> str:
    """What a model may know of an exception: its class. Its text may hold paths and keys."""
    return f"{name} failed ({type(error).__name__}); the person is told why. Go on with another tool or with what was found."
