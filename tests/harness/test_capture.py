"""The programs of a capture, at both ends of the loopback device: what they ask for is answered, without the namespaces that need root."""

import contextlib
import dataclasses
import io
import os
import socket
import sys
import threading

import pytest

from harness.net import capture, packets, udp


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Serves at an address that no other test uses; what goes wrong in a thread is noted."""
    address = socket.inet_aton(f"127.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF}.77")
    wrong: list[str] = []
    monkeypatch.setattr(capture.udp, "PEER", dataclasses.replace(udp.PEER, address=address))
    monkeypatch.setattr(capture, "_switch_offloads_off", lambda: None)
    monkeypatch.setattr(threading, "excepthook", lambda told: wrong.append(str(told.exc_value)))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return wrong


def test_every_query_and_exchange_has_its_reply(peer: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    sent, real = [], socket.socket.sendall
    monkeypatch.setattr(socket.socket, "sendall", lambda one, data: (sent.append(len(data)), real(one, data))[1])
    capture._serve_peer()
    capture._talk()
    capture._talk_tcp()
    assert not peer
    rows = [exchange for row in capture.EXCHANGES for exchange in row]
    assert sorted(sent) == sorted([8 + there for there, _ in rows] + [back for _, back in rows])


@pytest.mark.parametrize(
    ("peer_says", "host", "why"),
    [
        ("echo ready; cat", "cp {wire} {out}", None),
        ("echo ready; cat", "echo starting >&2; echo no wire >&2; exit 3", "the host failed: no wire"),
        ("echo what; cat", "exit 0", "the peer did not start"),
    ],
)
def test_a_host_or_a_peer_that_fails_is_reported(tmp_path, monkeypatch: pytest.MonkeyPatch, peer_says: str, host: str, why: str | None) -> None:
    """With the two namespaces left out, and other programs in them."""
    wire, out = tmp_path / "wire.pcap", tmp_path / "out.pcap"
    packets.write(wire, [packets.Packet(0, bytes(60)), packets.Packet(5, bytes(70))])
    programs = {"peer": peer_says, "host": host.format(wire=wire, out=out)}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(capture, "_namespaces", contextlib.nullcontext)
    monkeypatch.setattr(capture, "_inside", lambda space, role, *arguments: ["sh", "-c", programs[role]])
    if why is None:
        assert capture.capture(out) == 2
    else:
        with pytest.raises(capture.CaptureError, match=why):
            capture.capture(out)
