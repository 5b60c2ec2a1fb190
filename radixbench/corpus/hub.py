"""Rows of data sets as the ``datasets`` library reads them: from the hub, a local folder, or a parquet file.

Rows are streamed, never downloaded or mapped as a whole, and no code of a data set is run. The hub is asked
once whether it knows the name before ``datasets`` is, whose retries take half a minute. A hub that can't be
reached, a name that is wrong and a split that doesn't exist are each one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from radixbench.corpus.items import Item
from radixbench.errors import CorpusError

_PATIENCE_S: Final = 20.0
_OFFLINE: Final = "give a local file or folder, or run where there is a network"


class HubRows:
    """Rows of one split; ``name`` is a hub id with, after a colon, a configuration, or a local path."""

    def __init__(self, name: str, split: str | None) -> None:
        self.name = name
        self._split = split
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[Item]:
        """Rows numbered from 1. Raises ``CorpusError``."""
        rows = self._rows()
        number = 0
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except Exception as error:  # readers of many formats raise whatever they meet
                raise self._error(f"can't be read after row {number}: {_told(error)}") from error
            number += 1
            yield Item(number, row)

    def _rows(self) -> Iterator[Any]:
        import datasets  # noqa: PLC0415 - a second that only such data sets cost

        datasets.disable_progress_bars()
        try:
            loaded = self._loaded(datasets)
        except CorpusError:
            raise
        except Exception as error:  # what the library raises has no common kind
            raise self._error(f"can't be opened: {_told(error)}") from error
        if not isinstance(loaded, datasets.IterableDatasetDict):
            return iter(loaded)
        splits = [str(name) for name in loaded]
        chosen = splits[0] if len(splits) == 1 else next((name for name in splits if name == "train"), None)
        if chosen is None:
            raise CorpusError(
                f"data set {self.name}: has the splits {', '.join(splits)}", remedy="choose one as its split"
            )
        self.notes.append(f"split {chosen} of {', '.join(splits)}")
        return iter(loaded[chosen])

    def _loaded(self, datasets: Any) -> Any:
        place = Path(self.name).expanduser()
        if place.is_file():
            return datasets.load_dataset("parquet", data_files=str(place), split=self._split, streaming=True)
        if place.is_dir():
            return datasets.load_dataset(str(place), split=self._split, streaming=True)
        if self.name.startswith(("/", "./", "../", "~")):
            raise CorpusError(f"data set {self.name}: doesn't exist", remedy="check the path")
        hub_id, _, configuration = self.name.partition(":")
        self._ask_hub(hub_id)
        return datasets.load_dataset(hub_id, configuration or None, split=self._split, streaming=True)

    def _ask_hub(self, hub_id: str) -> None:
        from huggingface_hub import HfApi  # noqa: PLC0415 - as above
        from huggingface_hub.errors import (  # noqa: PLC0415 - as above
            GatedRepoError,
            HFValidationError,
            RepositoryNotFoundError,
        )

        try:
            HfApi().dataset_info(hub_id, timeout=_PATIENCE_S)
        except GatedRepoError as error:
            raise CorpusError(
                f"data set {self.name}: is gated", remedy="accept its terms on the hub and log in"
            ) from error
        except (RepositoryNotFoundError, HFValidationError) as error:
            raise CorpusError(
                f"data set {self.name}: isn't on the hub, and no such file or folder is here",
                remedy="check the name; a private one needs a login",
            ) from error
        except Exception as error:  # the hub's client lets through what its HTTP library raises
            raise CorpusError(
                f"data set {self.name}: the hub can't be reached: {_told(error)}", remedy=_OFFLINE
            ) from error

    def _error(self, what: str) -> CorpusError:
        return CorpusError(
            f"data set {self.name}: {what}",
            remedy="check its split, its configuration (owner/name:configuration) and that it holds conversations",
        )


def _told(error: Exception) -> str:
    """The first line of what a library says."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
