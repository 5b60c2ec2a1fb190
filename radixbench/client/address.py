"""Where a server is: an address as people write it, taken apart once."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from radixbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Address:
    """A server's place on the network.

    ``base_url`` is what was given without a trailing ``/v1``; ``prefix`` is its path, put before every request's;
    ``authority`` is the value of the ``Host`` header. ``basic_auth`` is the ``Authorization`` a name and password in
    the address stand for.
    """

    base_url: str
    host: str
    port: int
    tls: bool
    prefix: str
    authority: str
    basic_auth: str | None = None

    @property
    def place(self) -> str:
        """Host and port as messages name them."""
        return f"{self.host}:{self.port}"

    @classmethod
    def of(cls, url: str) -> Address:
        """``url`` taken apart; ``UsageError`` unless it names a host over HTTP."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:  # a port that is no number, half a bracket
            host, port = None, None
        if not host or parts.scheme not in {"http", "https"} or port == 0:
            raise UsageError(f"{url!r} is no server address", remedy="give one like http://127.0.0.1:30000")
        base_url = url.rstrip("/").removesuffix("/v1").rstrip("/")
        tls = parts.scheme == "https"
        user = None
        if parts.username is not None:
            words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            user = "Basic " + base64.b64encode(words.encode()).decode()
        return cls(
            base_url=base_url,
            host=host,
            port=port or (443 if tls else 80),
            tls=tls,
            prefix=urlsplit(base_url).path,
            authority=parts.netloc.rpartition("@")[2],
            basic_auth=user,
        )
