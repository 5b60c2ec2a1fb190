"""Which GPUs a CUDA program sees, in terms of NVML, which ignores ``CUDA_VISIBLE_DEVICES``.

Pure. NVML counts in PCI order; CUDA does so only with ``CUDA_DEVICE_ORDER=PCI_BUS_ID``, else the fastest
card comes first, which is the same order on machines with equal cards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def visible_devices(
    visible: str | None, uuids: Sequence[str | None], parent_of: Callable[[str], str | None]
) -> tuple[int, ...]:
    """NVML indices that ``visible`` names, in its order; all of them when it is ``None``.

    Entries are indices, UUIDs (or their beginnings) or MIG instances, for which the whole card stands;
    ``parent_of`` gives the card's UUID for a MIG UUID. As in CUDA the list ends before its first bad entry.
    """
    if visible is None:
        return tuple(range(len(uuids)))
    chosen: list[int] = []
    for entry in visible.split(","):
        index = _index_of(entry.strip(), uuids, parent_of)
        if index is None:
            break
        if index not in chosen:
            chosen.append(index)
    return tuple(chosen)


def _index_of(entry: str, uuids: Sequence[str | None], parent_of: Callable[[str], str | None]) -> int | None:
    if entry.isdecimal():
        return int(entry) if int(entry) < len(uuids) else None
    wanted: str | None = entry
    if entry.startswith("MIG-GPU-"):  # the older form: MIG-GPU-<uuid of the card>/<instance>/<instance>
        wanted = entry.removeprefix("MIG-").partition("/")[0]
    elif entry.startswith("MIG-"):
        wanted = parent_of(entry)
    if not wanted or not wanted.startswith("GPU-"):
        return None
    matches = [index for index, uuid in enumerate(uuids) if uuid is not None and uuid.startswith(wanted)]
    return matches[0] if len(matches) == 1 else None
