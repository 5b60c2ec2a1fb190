"""A model's tokenizer alone: text to the ids that model would see, without loading its weights."""

from __future__ import annotations

from radixbench.errors import ModelError
from radixbench.model.catalog import OnNote
from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.model.tokenizer import Tokenizer
from radixbench.workloads.conversation import Render


def load_tokenizer(name: str, *, on_note: OnNote | None = None, trust_remote_code: bool = False) -> Tokenizer:
    """The tokenizer of ``tiny``, a catalogued model, a directory, a ``.gguf`` file or a hub id. Raises ``ModelError``.

    Its ``eos_token_ids`` are the tokenizer's own: further end marks, which a model's generation settings may
    name, steer answers only.
    """
    if name == "tiny":
        return TinyTokenizer()
    from transformers import AutoTokenizer, logging  # noqa: PLC0415 - tiny and its users need no transformers

    from radixbench.model.hub_tokenizer import HubTokenizer  # noqa: PLC0415 - likewise
    from radixbench.model.sources import locate  # noqa: PLC0415 - likewise

    directory = locate(name, on_note or (lambda _text: None))
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        loaded = AutoTokenizer.from_pretrained(
            directory, trust_remote_code=trust_remote_code, local_files_only=True
        )
    except Exception as error:  # transformers lets through whatever a damaged file leads to
        told = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(
            f"model {name!r}: its tokenizer can't be loaded: {told}", remedy="check the files"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    end = loaded.eos_token_id
    return HubTokenizer(loaded, frozenset() if end is None else frozenset([end]))


def chat_render(tokenizer: Tokenizer) -> Render:
    """Chats as the model's own template renders them, up to where the answer begins."""
    return lambda messages: tuple(
        tokenizer.render_chat([{"role": message.role, "content": message.text} for message in messages])
    )
