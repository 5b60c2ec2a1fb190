"""The socket a server listens on, taken before anything slow is done."""

from __future__ import annotations

import errno
import socket

from radixbench.errors import PortError, UsageError

_BACKLOG = 1024


def open_listener(host: str, port: int) -> socket.socket:
    """A listening TCP socket; ``port`` 0 takes a free one. Raises ``PortError`` when it can't be had.

    Connections made before anybody accepts wait in the backlog.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"host {host!r} is unknown: {error}", remedy="give --host an address") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortError(
                f"port {port} on {host} is taken", remedy="give another --port, or 0 for any"
            ) from error
        raise PortError(f"can't listen on {host} port {port}: {error.strerror}") from error
    return listener


def url_of(listener: socket.socket) -> str:
    """The address a client on this machine can use."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
