"""What is sent of a long conversation: it fits or says that it cannot, it is valid, and the newest of it is kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant import prompts, window
from assistant.backends.base import Capabilities, Price
from assistant.conversation import Answered, Conversation, Turn
from assistant.errors import ContextLengthError
from assistant.events import Notice
from assistant.headlines import head_of, headline
from assistant.messages import Message, Origin, ToolCall, ToolResult, Usage, split_turns
from assistant.window import ASSUMED, Fitted, Window, estimate
from search import Library
from tests.assistant.scripted import Scripted, says
from tests.assistant.test_conversation import library as library  # noqa: PLC0414 - a fixture
from tests.assistant.test_loop import assert_valid

SYSTEM = Message("system", "Rules.")


def hits(number: int, length: int, text: str = "word ") -> str:
    found = [{"key": f"key{n:07}", "source": f"notes/{n}.md:1-9", "text": text * (length // len(text))} for n in range(number)]
    return json.dumps({"hits": found}, ensure_ascii=False)


def turn(name: str, *contents: str, answer: str = "So it is.", data: object = None) -> tuple[Message, ...]:
    """A turn with one step for each content."""
    made = [Message("user", f"{name}?")]
    for step, content in enumerate(contents):
        call = ToolCall(f"{name}_{step}", "hybrid_search", "{}")
        made.append(Message("assistant", calls=(call,), origin=Origin("p", "m", data)))
        made.append(Message("tool", results=(ToolResult(call.id, call.name, content),)))
    return (*made, Message("assistant", answer, origin=Origin("p", "m", data)))


def flat(*turns: tuple[Message, ...]) -> list[Message]:
    return [SYSTEM, *(message for each in turns for message in each)]


def fit(window: Window, *turns: tuple[Message, ...], new: tuple[Message, ...] = (Message("user", "now?"),)) -> Fitted:
    return window.fit(flat(*turns), new)


CONTENTS = st.one_of(
    st.builds(hits, st.integers(0, 8), st.integers(0, 3000), st.sampled_from(["word ", "語", "слово "])),
    st.text(max_size=3000),
    st.just('{"cut": "", "beginning": 3}'),
)
TURNS = st.lists(st.tuples(st.lists(CONTENTS, max_size=4), st.text(min_size=1, max_size=400)), max_size=6)


@settings(max_examples=150, deadline=None)
@given(st.integers(256, 20_000), TURNS, st.lists(CONTENTS, max_size=4), st.floats(0, 4))
def test_every_history_is_valid_fits_or_says_that_it_cannot_and_keeps_the_newest(
    length: int, past: list[tuple[list[str], str]], now: list[str], said: float
) -> None:
    window = Window(length)
    history: list[Message] = [SYSTEM]
    for number, (contents, answer) in enumerate([*past, (now, "")]):
        whole = turn(f"q{number}", *contents, answer=answer)
        for end in range(1, len(whole), 2):  # each request of the turn, as the loop makes them
            new = whole[:end]
            fitted = window.fit(history, new)
            window.learn(int(estimate(fitted.messages) * said))
            assert fitted.messages[0] == SYSTEM
            sent = fitted.messages[1:]
            for each in split_turns(sent):
                assert_valid(each)
            assert sum(map(len, split_turns(sent))) == len(sent)
            *earlier, current = split_turns(sent)
            assert all(each[-1].role == "assistant" and not each[-1].calls for each in earlier)
            assert [message.role for message in current] == [message.role for message in new]
            assert current[0] == new[0]
            assert fitted.fits or "no more can be left out" in fitted.notice or not fitted.notice
            assert fitted.fits == (fitted.tokens <= window.room)
            kept = [each[0].text for each in earlier]
            assert kept == [each[0].text for each in split_turns(history)][len(split_turns(history)) - len(kept) :]
        history += whole


def test_what_fits_is_sent_as_it_is() -> None:
    turns = [turn("one", hits(5, 400)), turn("two", hits(5, 400))]
    fitted = fit(Window(32_000), *turns)
    assert list(fitted.messages) == [*flat(*turns), Message("user", "now?")]
    assert fitted.notice == ""


def test_old_results_are_cut_to_their_head_first_with_keys_and_sources_kept() -> None:
    window = Window(8000)
    fitted = fit(window, *(turn(name, hits(5, 1500)) for name in ("one", "two", "three", "four")))
    assert fitted.fits
    contents = [message.results[0].content for message in fitted.messages if message.results]
    assert "shortened; read_document with the key reads on" in contents[0]
    assert [hit["key"] for hit in json.loads(contents[0])["hits"]] == [f"key{n:07}" for n in range(5)]
    assert json.loads(contents[0])["hits"][0]["source"] == "notes/0.md:1-9"
    assert contents[-1] == hits(5, 1500)
    assert fitted.notice == "to keep within the window (8,000 tokens), 3 earlier tool results are sent shortened"


def test_then_to_one_line_then_turns_to_question_and_answer_then_they_go() -> None:
    short = [turn(f"t{n}", hits(5, 1500)) for n in range(12)]
    assert '"keys":"key0000000, key0000001' in str(fit(Window(4200), *short).messages)
    bare = split_turns(fit(Window(1000), *short).messages)
    assert [len(each) for each in bare[:3]] == [2, 2, 2]
    assert [each[0].text for each in bare] == [*(f"t{n}?" for n in range(12)), "now?"]
    gone = fit(Window(150), *short)
    assert 1 < len(split_turns(gone.messages)) < 12
    assert "not sent any more" in gone.notice


def test_a_providers_own_form_goes_with_the_calls_that_it_belongs_to() -> None:
    fitted = fit(Window(700), *(turn(f"t{n}", hits(5, 1500), data={"signature": "s"}) for n in range(6)))
    bare, *_, whole = split_turns(fitted.messages)[:-1]
    assert (len(bare), [message.origin for message in bare]) == (2, [None, None])
    assert len(whole) == 4
    assert all(message.origin for message in whole if message.role == "assistant")


def test_a_turn_with_ten_big_results_keeps_the_newest_whole() -> None:
    window = Window(8000)
    whole = turn("big", *(hits(6, 1800) for _ in range(10)))
    for end in range(1, len(whole), 2):
        fitted = window.fit([SYSTEM], whole[:end])
        assert fitted.fits
    contents = [message.results[0].content for message in fitted.messages if message.results]
    assert contents[-1] == hits(6, 1800)
    assert "shortened" in contents[0]


def test_the_newest_result_is_shortened_only_when_nothing_else_is_left() -> None:
    window = Window(2000)
    fitted = window.fit([SYSTEM], turn("big", hits(8, 2000))[:3])
    assert fitted.fits
    assert "shortened" in fitted.messages[-1].results[0].content


def test_a_question_that_is_too_long_is_sent_whole_and_said_once() -> None:
    window, long = Window(1000), Message("user", "word " * 4000)
    first = window.fit([SYSTEM], (long,))
    assert first.messages == (SYSTEM, long)
    assert "too many for the window of 1,000 tokens, and no more can be left out" in first.notice
    assert window.fit([SYSTEM], (long,)).notice == ""


def test_requests_begin_alike_until_much_has_to_go_at_once() -> None:
    window = Window(8000)
    history: list[Message] = [SYSTEM]
    changes = 0
    before: tuple[Message, ...] = ()
    for number in range(30):
        fitted = window.fit(history, (Message("user", f"t{number}?"),))
        changes += fitted.messages[: len(before)] != before
        before = fitted.messages[:-1]
        history += turn(f"t{number}", hits(3, 600))
    assert 0 < changes <= 6


def test_the_work_grows_with_the_conversation_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(turns: int) -> int:
        costs: list[str] = []
        monkeypatch.setattr(window, "_cost", lambda text: costs.append(text) or len(text) / 4)
        assert fit(Window(4096), *(turn(f"t{number}", hits(3, 40)) for number in range(turns))).fits
        return len(costs)

    assert counted(200) < 3 * counted(100)


def test_what_the_model_says_it_read_corrects_the_estimate() -> None:
    window, past = Window(8000), [turn(f"t{n}", hits(4, 1200)) for n in range(4)]
    assert fit(window, *past).notice == ""
    window.learn(estimate(flat(*past)) * 2)
    assert "sent shortened" in fit(window, *past).notice


def test_an_unknown_window_is_assumed_and_said_so() -> None:
    fitted = fit(Window(None), *(turn(f"t{n}", hits(8, 4000)) for n in range(8)))
    assert f"{ASSUMED:,} tokens, which is assumed" in fitted.notice


@pytest.mark.parametrize(
    "content", [hits(9, 900), "plain text " * 300, json.dumps({"rows": [[n, "x"] for n in range(200)]}), "[1, 2"]
)
def test_a_shortened_result_is_shorter_and_belongs_to_the_same_call(content: str) -> None:
    result = ToolResult("a", "run_sql", content, is_error=False)
    for cut in (head_of(result), headline(result), headline(head_of(result))):
        assert (cut.call_id, cut.name) == ("a", "run_sql")
        assert len(cut.content) <= len(content)
    assert len(headline(result).content) <= 300


def test_the_estimate_counts_signs_of_other_scripts_for_more() -> None:
    latin, cyrillic, chinese = (estimate([Message("user", sign * 400)]) for sign in ("a", "ж", "语"))
    assert latin < cyrillic < chinese
    assert 100 <= latin <= 110
    assert 400 <= chinese <= 410


# In a conversation


def ended(conversation: Conversation, question: str) -> tuple[Turn, list[str]]:
    events = [*conversation.ask(question)]
    assert isinstance(events[-1], Answered)
    return events[-1].turn, [event.text for event in events if isinstance(event, Notice)]


def test_a_passage_that_is_not_sent_any_more_can_still_be_cited(library: Library) -> None:
    key = library.keyword_search("gateway")[0].passage.key
    search = ("a", "keyword_search", '{"query": "gateway"}')
    small = Capabilities(price=Price(0, 0), local=True, context_length=1500)
    backend = Scripted([says("", search), says(f"Four [{key}]."), says("word " * 3000), says(f"As said: four seconds [{key}].")])
    backend.capabilities = small
    conversation = Conversation(library, backend)
    ended(conversation, "one?")
    ended(conversation, "two?")
    turn, notices = ended(conversation, "three?")
    assert "gives up" not in repr(backend.requests[-1].messages)
    assert any("window" in notice for notice in notices)
    assert turn.checked.citations[0].verdict == "retrieved"
    assert list(turn.notices) == notices
    assert conversation.size().window == 1500


def test_a_request_that_the_model_finds_too_long_is_shortened_and_sent_again(library: Library) -> None:
    search = ("a", "keyword_search", '{"query": "gateway"}')
    too_long = ContextLengthError("too long", provider="scripted")
    script = [says("", search), says("word " * 9000, usage=Usage()), says("", search), too_long, says("Done.")]
    conversation = Conversation(library, Scripted(script))
    ended(conversation, "one?")
    turn, notices = ended(conversation, "two?")
    assert turn.answer == "Done."
    assert turn.steps == 2
    assert any("which is assumed" in notice for notice in notices)


def test_offline_nothing_is_shortened(library: Library) -> None:
    from assistant.backends.offline import Offline, catalogue_of

    conversation = Conversation(library, Offline(catalogue_of(library)))
    for _ in range(40):
        _, notices = ended(conversation, "when does the gateway give up?")
        assert not [notice for notice in notices if "window" in notice]


def test_an_attached_text_is_data_and_is_left_out_of_an_old_question() -> None:
    asked = prompts.with_attached("what is this?", "Traceback ``` boom")
    assert asked.endswith("````\nTraceback ``` boom\n````")
    assert prompts.split_attached(asked) == ("what is this?", "Traceback ``` boom")
    assert prompts.question_alone(asked) == "what is this?"
    assert prompts.with_attached("what?", "  \n") == "what?"
