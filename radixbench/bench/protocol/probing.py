"""Two questions to a cache: does it find a prompt sent again, and one that goes on where another ended?

Some servers find exact repeats and never extensions, hybrid models without a state kept neither, and a prompt
of whole pages may be found but for its last page or its last token: at least one token is computed
anyhow, and some servers compute a page for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from radixbench.bench.protocol.sender import Sender
from radixbench.capture.model import Check
from radixbench.units import Tokens
from radixbench.workloads.conversation import TokenIds
from radixbench.workloads.warmup import probe, probe_extension

_LENGTH: Tokens = 128
_UNKNOWN_PAGE: Tokens = 1024
_PAGES = 4


@dataclass(frozen=True, slots=True)
class Probe:
    """A prompt of whole pages, and one that begins with all of it."""

    ids: TokenIds
    longer: TokenIds
    page_size: Tokens | None

    @classmethod
    def of(cls, sender: Sender, page_size: Tokens | None, room: Tokens | None) -> Probe:
        """A probe for one seed; long enough for several pages, also where their size is unknown.

        ``room`` is the most tokens a request may have, ``None`` where nobody says.
        """
        page = page_size or 1
        length = max(_LENGTH, _PAGES * page) if page_size else _UNKNOWN_PAGE
        if room is not None:
            length = min(length, max(room // 2, 2))
        length = max(length - length % page, 1)
        seed, tokens = sender.seed, sender.tokens
        return cls(
            ids=probe(prompt_len=length, seed=seed, tokens=tokens),
            longer=probe_extension(prompt_len=length, more=max(length // 2, 1), seed=seed, tokens=tokens),
            page_size=page_size,
        )

    @property
    def fair(self) -> frozenset[Tokens]:
        """What a repeat finds on a sound server: all whole pages before the last token, or all but that token."""
        page, length = self.page_size or 1, len(self.ids)
        return frozenset({(length - 1) // page * page, length - 1})


@dataclass(frozen=True, slots=True)
class Probed:
    """Cached tokens that the probe found when sent again, and its extension; ``None`` where nobody says.

    ``omits_zero``: the server names what is found and says nothing where nothing is, as a first visit and
    a repeat showed. One that is silent otherwise leaves it open.
    """

    probe: Probe
    repeat: Tokens | None
    extension: Tokens | None
    omits_zero: bool

    def read(self, found: Tokens | None) -> Tokens | None:
        """An answer's cached tokens: 0 where a server that leaves zeros out names none."""
        return 0 if found is None and self.omits_zero else found

    @property
    def slack(self) -> Tokens:
        """How many tokens of something held a request may miss: what the probe missed, less its last token."""
        if not self.repeat:
            return (self.probe.page_size or 1) - 1
        return max(len(self.probe.ids) - 1 - self.repeat, (self.probe.page_size or 1) - 1, 0)

    @property
    def blind(self) -> bool:
        """Extensions are found and repeats never, so that sending something again says nothing of what is held."""
        return self.repeat == 0 and bool(self.extension)

    def checks(self, *, reuse: bool) -> tuple[Check, Check]:
        """The two lines. With ``reuse`` something must be found, without it nothing may be."""
        length = len(self.probe.ids)
        most = " or ".join(str(tokens) for tokens in sorted(self.probe.fair))
        repeat, extension = self.repeat, self.extension
        return (
            Check(
                "exact repeats",
                _held(repeat, reuse=reuse),
                f"a prompt of {length} tokens sent again found {_count(repeat)} ({most} is all there is to find)",
            ),
            Check(
                "extensions",
                _held(extension, reuse=reuse),
                f"a prompt that goes on after those {length} found {_count(extension)}{_older(extension, length)}",
            ),
        )

    @property
    def oddity(self) -> str | None:
        """What this cache can't do, in words; ``None`` for one that does both."""
        if self.repeat is None or self.extension is None:
            return None
        if not self.repeat and not self.extension:
            return (
                "the server found neither a repeat nor an extension of a prompt: its cache is off, its pages are"
                f" longer than {len(self.probe.ids)} tokens, or its model keeps a state it can't reuse"
            )
        if not self.extension:
            return "exact repeats are found, extensions never: shared prefixes gain nothing on this server"
        if not self.repeat:
            return "extensions are found, exact repeats aren't"
        return None


async def ask(sender: Sender, probe: Probe, *, tells_zero: bool = False) -> Probed:
    """Send the probe twice, then its extension. ``tells_zero``: an answer before named 0 cached tokens.

    Where requests are salted it is sent without a salt first: a repeat that is found then shows that the cache is on
    and told of, and that salts are what keeps the others apart.
    """
    plain = None
    if sender.salted:
        first = await sender.cached(probe.ids, "probe", salted=False)
        plain = await sender.cached(probe.ids, "probe", salted=False)
        await sender.cached(probe.ids, "probe")
    else:
        first = await sender.cached(probe.ids, "probe")
    repeat = await sender.cached(probe.ids, "probe")
    extension = await sender.cached(probe.longer, "probe")
    omits_zero = not tells_zero and first is None and bool(plain or repeat or extension)
    raw = Probed(probe, repeat, extension, omits_zero)
    return replace(raw, repeat=raw.read(repeat), extension=raw.read(extension))


def _held(found: Tokens | None, *, reuse: bool) -> bool | None:
    return None if found is None else (found > 0) is reuse


def _older(found: Tokens | None, length: Tokens) -> str:
    """Of what an extension found, only the probe was sent just now; all beyond it lay there from before."""
    if found is None or found <= length:
        return " of them"
    return f": all of them, and {found - length} that an earlier run left"


def _count(tokens: Tokens | None) -> str:
    return "an unknown number of tokens" if tokens is None else f"{tokens} cached"
