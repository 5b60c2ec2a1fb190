"""What a server says about one request, and what users may write into it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.sglang.events import EventFacts, parse_event
from tests.logs.sglang.test_events import PREFIX, said

FORGERIES = [
    "Cache flushed successfully!",
    "[2026-10-01 12:00:00] Cache flushed successfully!",
    "#retracted_reqs: 5",
    "[2026-10-01 12:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 5, #new_token_ratio: 0.1 -> 0.2",
    "'), out={'meta_info': {'prompt_tokens': 1, 'cached_tokens': 999}}",
    "\"), out={'meta_info': {'id': 'x', 'cached_tokens': 999}}",
    "', 'meta_info': {'cached_tokens': 999}}",
    '", "out": {"meta_info": {"cached_tokens": 999}}}',
    "}}]})",
    "\\'\\",
    "\r[2026-10-01 12:00:00] ",
]
USER_TEXT = st.lists(st.text() | st.sampled_from(FORGERIES) | st.text("'\"\\{}[](),: "), max_size=6).map(
    "".join
)
META = {"prompt_tokens": 20, "completion_tokens": 8, "cached_tokens": 16}


@pytest.mark.parametrize("cut", ["'cached_tok", "'cached_tokens': 1", "'finish_reason': {'type': 'st"])
def test_a_cut_request_keeps_what_is_whole(cut: str) -> None:
    """Of ``meta_info``, too."""
    meta = {"id": "q", "prompt_tokens": 20, "finish_reason": {"type": "stop"}, "cached_tokens": 16}
    line = f"{PREFIX}Finish: obj=GenerateReqInput(rid='q'), out={{'meta_info': {meta!r}}}"
    facts = said(line[: line.index(cut) + len(cut)])
    assert facts.values == {"event": "request_finish", "prompt_tokens": 20, "truncated": True}
    assert facts.extra["rid"] == "q"


@pytest.mark.parametrize("lost", ["out=", "'meta_info'", "', text"])
def test_a_request_cut_before_its_figures_has_none(lost: str) -> None:
    """Who asked is still known where it was printed."""
    line = f"{PREFIX}Finish: obj=GenerateReqInput(rid='q', text='a'), out={{'meta_info': {META!r}}}"
    facts = said(line[: line.index(lost)])
    assert facts.values == {"event": "request_finish", "truncated": True}
    assert facts.extra == ({} if lost == "', text" else {"rid": "q"})


def test_a_long_reason_is_a_reason() -> None:
    """An error message may be a page; what ended the request is a word."""
    meta = {"id": "q", "finish_reason": {"type": "abort", "message": "x" * 1000, "status_code": 400}, **META}
    facts = said(f"{PREFIX}Finish: obj=GenerateReqInput(rid='q'), out={{'meta_info': {meta!r}}}")
    assert facts.extra == {"rid": "q", "finish_reason": "abort", "finish_status_code": 400}


@given(rid=USER_TEXT, prompt=USER_TEXT, answer=USER_TEXT, stop=USER_TEXT)
def test_a_user_cannot_forge_a_finish_as_text(rid: str, prompt: str, answer: str, stop: str) -> None:
    """Whatever is asked, answered, or named a stop string, the figures are the server's."""
    meta = {"id": rid, "finish_reason": {"type": "stop", "matched": stop}, **META}
    line = (
        f"{PREFIX}Finish: obj=GenerateReqInput(rid={rid!r}, text={prompt!r}, sampling_params={{'stop': [{stop!r}]}}), "
        f"out={{'text': {answer!r}, 'output_ids': [1, 2], 'meta_info': {meta!r}, 'prompt_token_ids': [1]}}"
    )
    assert said(line).values == {"event": "request_finish", **META}


@given(rid=USER_TEXT, prompt=USER_TEXT, answer=USER_TEXT, ascii_only=st.booleans(), stamped=st.booleans())
def test_a_user_cannot_forge_a_finish_as_json(
    rid: str, prompt: str, answer: str, ascii_only: bool, stamped: bool
) -> None:
    """With and without a time before the object (0.5.8 and 0.5.7)."""
    out = {"text": answer, "meta_info": {"id": rid, **META, "e2e_latency": 0.5}}
    event = {"event": "request.finished", "rid": rid, "obj": {"rid": rid, "text": prompt}, "out": out}
    line = json.dumps({"timestamp": "2026-10-01T12:00:00.123456", **event}, ensure_ascii=ascii_only)
    facts = said(("[2026-10-01 12:00:00] " if stamped else "") + line.replace("\\r", ""))
    assert facts.values == {"event": "request_finish", **META}
    assert facts.extra["e2e_latency"] == 0.5


@given(
    USER_TEXT,
    st.sampled_from(["Receive: obj=GenerateReqInput(text={})", "Receive OpenAI: obj={{'prompt': {}}}"]),
)
def test_a_prompt_is_only_a_request(prompt: str, form: str) -> None:
    """A log inside a prompt isn't an event, even where the line is cut inside it."""
    line = PREFIX + form.format(repr(prompt))
    for text in (line, line[:-5], line[: len(line) // 2 + len(PREFIX)]):
        facts = parse_event(text)
        assert facts is None or facts.values["event"] == "request_received"


@given(USER_TEXT.filter(lambda rid: "[" not in rid and "\r" not in rid))
def test_a_request_id_cannot_forge_its_figures(rid: str) -> None:
    """It is printed bare, before everything that counts."""
    rid += "x, input len=1, output len=1, type=unified): queue_duration=9.99ms"
    line = f"{PREFIX}Req Time Stats(rid={rid}, input len=20, output len=8, type=unified): queue_duration=0.51ms, start_time=1.123"
    facts = said(line)
    assert facts.values == {"event": "request_stats", "input_len": 20, "output_len": 8}
    assert facts.extra == {"rid": rid, "type": "unified", "queue_duration_ms": 0.51, "start_time": 1.123}


def test_json_requests_as_they_are_printed() -> None:
    """``start`` leaves the object's own time to the prefix, where no other stands."""
    event = '"event": "request.received.openai", "obj": {"model": "m", "messages": []}}'
    own = '{"timestamp": "2026-10-01T12:00:00.123456", '
    facts = said(own + event)
    assert facts == EventFacts(len(own), {"event": "request_received"}, {"model": "m", "form": "openai"})
    assert said("[2026-10-01 12:00:00] " + own + event).start == len("[2026-10-01 12:00:00] ")
    cut = said((own + event).removesuffix("]}}"))
    assert cut.values == {"event": "request_received", "truncated": True}
    assert parse_event('{"timestamp": "x", "event": "request.dropped"}') is None
