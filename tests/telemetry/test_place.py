"""Whether a server is on this machine, and what is read where it isn't."""

from __future__ import annotations

import socket

import pytest

from radixbench.records import DeviceInfo
from radixbench.telemetry import place
from radixbench.telemetry.place import is_here, probe_for
from radixbench.telemetry.probes import CpuProbe, ScriptedProbe


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.53", "0.0.0.0"])
def test_names_and_addresses_of_this_machine(host: str) -> None:
    """Loopback, any address, and the machine's own name."""
    assert is_here(host)


def test_the_address_of_another_machine() -> None:
    """One that is nobody's here."""
    assert not is_here("192.0.2.7")


@pytest.mark.parametrize("error", [socket.gaierror("unknown"), UnicodeError("label too long")])
def test_a_name_that_stands_for_nothing_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """It answered somebody, but not as an address of this machine."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(place.socket, "getaddrinfo", fail)
    assert not is_here("gpu7")


def test_a_name_of_several_machines_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of its addresses is this machine's, the other isn't: which of them answers nobody knows."""
    kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    found = [(*kind, ("127.0.0.1", 0)), (*kind, ("192.0.2.7", 0))]
    monkeypatch.setattr(place.socket, "getaddrinfo", lambda *_, **__: found)
    assert not is_here("both")


def test_cards_of_this_machine_say_nothing_of_a_server_elsewhere() -> None:
    """The probe is replaced by one that names no device and says why."""
    card = ScriptedProbe([])
    assert probe_for("gpu7", card, here=lambda _: True) is card
    far = probe_for("gpu7", card, here=lambda _: False)
    assert (far.name, far.devices()) == ("cpu", ())
    assert far.unread == "the server is at gpu7, which is no address of this machine"
    assert str(far.note).startswith(far.unread)


def test_cards_say_nothing_of_a_server_on_the_cpu() -> None:
    """Somebody else may use them; without a card the probe stays, with its own reason."""
    card = ScriptedProbe([], described=(DeviceInfo(0, "H200"),))
    assert probe_for("127.0.0.1", card, on_cpu=True).unread == "the model runs on the CPU"
    assert probe_for("127.0.0.1", card) is card
    none = CpuProbe("there is no NVIDIA driver library")
    assert probe_for("127.0.0.1", none, on_cpu=True) is none
