"""Whose words they are: what may stand before a server's message, and what may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.sglang.speaker import speaks


@pytest.mark.parametrize(
    "head",
    [
        "",
        "   ",
        "[2026-10-01 12:00:00] ",
        "[2026-10-01 12:00:00.123 DP0 PP1 ATTN_CP2 MOE_DP3 TP4 EP5] ",
        "[16:43:30 TP0] ",
        "[gpu_id=0] ",
        "[gpu=3] ",
        "sglang-1  | [2026-10-01 12:00:00 TP0] ",
        "(SGLangEngine pid=12, ip=10.0.0.1) [2026-10-01 12:00:00 TP0] ",
        "Oct  1 12:00:00 host python[812]: ",
        "Oct  1 12:00:00 host python[812]: [2026-10-01 12:00:00] ",
        "2026-10-01T12:00:00.123456789Z stdout F [2026-10-01 12:00:00] ",
        "2026-10-01T12:00:00.123456789Z ",
        "[pod/sglang-0/server] [2026-10-01 12:00:00 TP0] ",
        "[pod/sglang-0/server] ",
        "sglang-0 server [2026-10-01 12:00:00 TP0] ",
        "0: [2026-10-01 12:00:00] ",
        "rank0: ",
        "web-1  | ",
        "(Engine pid=12) ",
        "[2026-10-01 12:00:00] INFO sglang.srt.managers.scheduler: ",
        "[2026-10-01 12:00:00] [WARNING] scheduler.py:123 - ",
        "[2026-10-01 12:00:00 TP0] [scheduler.py:99] ",
        "WARNING: ",
        " 11%|█▏        | 8/72 [00:04<04:51,  4.62s/it][2026-10-01 12:00:00] ",
        " 11%|█▏        | 8/72 [00:04<04:51,  4.62s/it]\r[2026-10-01 12:00:00] ",
    ],
)
def test_a_prefix_before_the_words(head: str) -> None:
    """Times, ranks, wrappers, levels, loggers, and a progress bar glued on."""
    assert speaks(head)


@pytest.mark.parametrize(
    "head",
    [
        "the answer is ",
        "answer: ",
        "Input: [1, 2] ",
        "[2026-10-01 12:00:00] Input text: ",
        "[2026-10-01 12:00:00] text=",
        "[2026-10-01 12:00:00] obj=[2026-10-01 12:00:00] ",
        "[2026-10-01 12:00:00] 'a' [2026-10-01 12:00:00] ",
        '{"content": "[2026-10-01 12:00:00] ',
        " 11%|█▏        | 8/72 [00:04<04:51,  4.62s/it]",
        "| said | quotes 'it' | ",
        "[2026-10-01 12:00:00] " + "x" * 5000 + "[2026-10-01 12:00:00] ",
    ],
)
def test_something_else_before_the_words(head: str) -> None:
    """Prose, quotes, objects, a bar's own bracket, a whole page."""
    assert not speaks(head)


@given(st.text(), st.text("[]()|:-> \t\r'\"09:AZ."))
def test_any_text_is_judged(text: str, debris: str) -> None:
    """No prefix is too odd to say yes or no."""
    assert speaks(text + debris) in (True, False)
