"""A Reply from the events of generateContent: one for a plain request, many for a stream.

Decided by the parts, never by finishReason, which is STOP beside calls as well. The parts are kept as they came: the wire wants
them back with their signatures, each on its own part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from assistant.backends.gemini.request import PROVIDER, is_empty
from assistant.backends.tool_names import ToolNames
from assistant.failures import one_line
from assistant.messages import FinishReason, Message, Origin, Reply, ToolCall, Usage

REFUSED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"})
MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
UNSIGNED = "MISSING_THOUGHT_SIGNATURE"
LENGTH = frozenset({"MAX_TOKENS", "CONTINUATION"})


class Gathered:
    """What has come of a reply so far."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.text = ""
        self.reason = ""
        self.blocked = ""
        self.answered_by = ""
        self._usage: Mapping[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> str:
        """Take in one event and return its new text. usageMetadata is cumulative: the last one counts."""
        candidates = event.get("candidates")
        candidate = _object(candidates[0]) if isinstance(candidates, list) and candidates else {}
        self.reason = _word(candidate.get("finishReason")) or self.reason
        self.blocked = _word(_object(event.get("promptFeedback")).get("blockReason")) or self.blocked
        self.answered_by = _word(event.get("modelVersion")).removeprefix("models/") or self.answered_by
        self._usage = _object(event.get("usageMetadata")) or self._usage
        found = _object(candidate.get("content")).get("parts")
        fresh = "".join(self._keep(part) for part in found if isinstance(part, dict)) if isinstance(found, list) else ""
        self.text += fresh
        return fresh

    @property
    def asked(self) -> list[Mapping[str, Any]]:
        """The function calls, as they came."""
        return [_object(part["functionCall"]) for part in self.parts if "functionCall" in part]

    @property
    def finish(self) -> FinishReason:
        """How the reply ended, for people."""
        if self.reason in LENGTH:
            return "length"
        if self.reason.removeprefix("IMAGE_") in REFUSED:
            return "refused"
        if self.asked:
            return "tool_calls"
        if self.reason in MALFORMED:
            return "malformed"
        return "stop" if self.reason in {"STOP", "FINISH_REASON_UNSPECIFIED", ""} else "other"

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither text nor a call."""
        return not self.text.strip() and not self.asked

    @property
    def is_malformed(self) -> bool:
        """Whether the model tried to call and no call came of it, or one without a name."""
        return self.finish == "malformed" or not all(call.get("name") for call in self.asked)

    @property
    def usage(self) -> Usage:
        """Tokens; thinking counts as output. The wire tells no cost."""
        count = self._count
        return Usage(
            count("promptTokenCount") + count("toolUsePromptTokenCount"),
            count("candidatesTokenCount") + count("thoughtsTokenCount"),
            count("cachedContentTokenCount"),
            None,
        )

    def reply(self, *, model: str, names: ToolNames, taken: Iterable[str], usage: Usage) -> Reply:
        """The whole reply. taken: ids of calls that the conversation already holds."""
        ids = set(taken)
        calls = []
        for asked in self.asked:
            sent = asked.get("id")
            own = sent if isinstance(sent, str) and sent and sent not in ids else f"call_{uuid4().hex[:16]}"
            ids.add(own)
            calls.append(ToolCall(own, names.declared(str(asked.get("name", ""))), _arguments_text(asked.get("args"))))
        notices = []
        if self.answered_by and not _is_same(model, self.answered_by):
            notices.append(f"{self.answered_by} answered instead of {model}")
        if self.finish == "length" and self.is_nothing:
            notices.append("the reply is empty: thinking used up the tokens that it was allowed")
        return Reply(
            Message("assistant", self.text, tuple(calls), origin=Origin(PROVIDER, model, self.parts)),
            self.finish,
            usage,
            self.answered_by or model,
            tuple(notices),
        )

    def _keep(self, part: dict[str, Any]) -> str:
        """Keep a part and return its text, unless that is a thought. Pieces of text are joined while neither bears a signature."""
        if is_empty(part):
            return ""
        text = part.get("text")
        last = self.parts[-1] if self.parts else {}
        if _is_plain(part) and _is_plain(last) and last.get("thought") == part.get("thought"):
            self.parts[-1] = {**last, "text": last["text"] + text}
        else:
            self.parts.append(part)
        return text if isinstance(text, str) and not part.get("thought") else ""

    def _count(self, name: str) -> int:
        value = self._usage.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _is_plain(part: Mapping[str, Any]) -> bool:
    """Whether a part is text, or thought, and nothing else: no signature."""
    return isinstance(part.get("text"), str) and set(part) <= {"text", "thought"}


def _word(value: Any) -> str:
    """A name out of a reply, fit to be shown."""
    return one_line(value, 80) if isinstance(value, str) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _arguments_text(args: Any) -> str:
    """Arguments as text; absent ones are an empty object."""
    return "{}" if args is None else json.dumps(args, ensure_ascii=False)


def _is_same(asked: str, answered: str) -> bool:
    """Whether the model that was asked for answered: by name, as a revision (-001, -preview-09-2026), or any for an alias."""
    if asked.endswith("-latest"):
        return True
    return re.fullmatch(re.escape(asked) + r"(-\d{3}|(-preview)?(-\d\d)?-\d{2,4})?", answered) is not None
