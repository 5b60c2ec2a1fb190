"""Whether what stands before some words is only a prefix, so that it is the server itself that says them.

Logs quote logs: a prompt about a retraction, an answer that repeats a start-up line, another program's output. A
server's words come after a time or ranks in brackets, or after what a wrapper puts before a line (a
container's name, a ray actor, a syslog identity), or at the very start of a line; never after prose.
"""

from __future__ import annotations

import re

_LONGEST = 4000
_MOST_GROUPS = 4
_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)\b"
_LOGGER = r"[A-Za-z_][\w/]{0,60}(?:\.\w{1,60}){1,8}(?::\d{1,6})?"

_BETWEEN = re.compile(rf"[ \t]*+(?:(?:{_LEVEL}|{_LOGGER}|[-|:>])[ \t:]*+){{0,6}}+")
_OWN = re.compile(
    r"\d\d:\d\d:\d\d|\b(?:DP|PP|TP|EP|ATTN_CP|MOE_DP|CP)-?\d|\b(?:gpu_id|gpu|rank)=\d|^(?:\d{1,10}|"
    + _LEVEL
    + r")$"
)
_ASIDE = re.compile(r"[\w.:/@-]{1,200}")
_WRAPPER = re.compile(
    r"(?:"
    r"[\w./@-]{1,100} *\| *"  # compose
    r"|\(\w{1,60} pid=\d{1,10}(?:, ip=[\w.:]{1,60})?\) *"  # ray
    r"|<?\w{0,30}\d{1,6}>?: *"  # srun, torchrun
    rf"|{_LEVEL}:? *(?:- *)?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\w.,:+-]{0,20} *(?:std(?:out|err) [FP] *|[-|] *)?"  # kubelet, docker -t
    r"){1,6}+"
)


def speaks(head: str) -> bool:
    """``head`` is what stands before the words, on their line."""
    head = head[head.rfind("\r") + 1 :]  # a progress bar drawn before, at the same place
    if not head or head.isspace():
        return True
    return len(head) <= _LONGEST and (
        _ends_in_own_group(head) or _WRAPPER.fullmatch(head.lstrip()) is not None
    )


def _ends_in_own_group(head: str) -> bool:
    """A bracketed time or rank ends the prefix, further groups and the names of levels and loggers apart."""
    for _ in range(_MOST_GROUPS):
        closing = head.rfind("]")
        opening = head.rfind("[", 0, closing)
        if opening < 0 or _BETWEEN.fullmatch(head, closing + 1) is None:
            return False
        group, before = head[opening + 1 : closing], head[:opening]
        if _OWN.search(group):
            return "<" not in group and not _quotes(group) and not _quotes(before)
        if _ASIDE.fullmatch(group) is None:
            return False
        if not before.strip():
            return True
        head = before
    return False


def _quotes(text: str) -> bool:
    return "'" in text or '"' in text or "obj=" in text
