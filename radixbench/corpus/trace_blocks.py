"""What a trace says of its blocks as a whole: one size for each id, and whether ids stand for prefixes.

In Mooncake's traces an id stands for a block and all before it. Hashes of blocks alone can stand behind different
ids, where they are no shared prefix.
"""

from __future__ import annotations

from radixbench.corpus.trace_rows import RowError


class TraceBlocks:
    """Every id met so far. ``moved`` are those that stood behind different ids."""

    def __init__(self) -> None:
        self._before: dict[int, int | None] = {}
        self._partial: dict[int, int] = {}
        self.moved: set[int] = set()

    def met(self, hash_ids: tuple[int, ...], input_len: int, block_size: int) -> tuple[int, ...]:
        """The same ids, those of a prefix met before as the very objects they were then: traces have millions.

        Raises ``RowError`` for an id that had another size.
        """
        self._check_sizes(hash_ids, input_len - (len(hash_ids) - 1) * block_size, block_size)
        ids = list(hash_ids)
        before: int | None = None
        for place, one in enumerate(ids):
            known = self._before.setdefault(one, before)
            if known != before:
                self.moved.add(one)
            elif known is not None:
                ids[place - 1] = known
            before = one
        return tuple(ids)

    def _check_sizes(self, hash_ids: tuple[int, ...], tail: int, block_size: int) -> None:
        """All blocks are whole but the last, which has ``tail`` tokens."""
        last = hash_ids[-1]
        for one in hash_ids if tail == block_size else hash_ids[:-1]:
            if one in self._partial:
                raise _two_sizes(one, block_size, self._partial[one])
        if tail < block_size:
            known = self._partial.get(last, block_size if last in self._before else tail)
            if known != tail:
                raise _two_sizes(last, tail, known)
            self._partial[last] = tail


def _two_sizes(one: int, here: int, before: int) -> RowError:
    return RowError(
        f"id {one} stands for {here} tokens here and for {before} before",
        "an id stands for one block: correct the trace, or give its own block size",
    )
