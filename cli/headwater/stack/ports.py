"""Choice of TCP ports on the loopback interface."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass, fields

LOOPBACK = "127.0.0.1"

# Below Linux's ephemeral range (32768 up): the kernel doesn't use these for an outgoing connection between this check
# and the server's bind.
_RANDOM = range(20000, 32000)


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports of the stack. 0: any free port."""

    kafka: int
    controller: int
    bolt: int
    http: int


STANDARD = Ports(kafka=9092, controller=9093, bolt=7687, http=7474)
ANY = Ports(kafka=0, controller=0, bolt=0, http=0)


def choose(wanted: Ports) -> Ports:
    """Return the wanted ports if free, else other free ones; all distinct."""
    chosen: dict[str, int] = {}
    for field in fields(wanted):
        port = getattr(wanted, field.name)
        while not port or port in chosen.values() or not is_free(port):
            port = random.choice(_RANDOM)  # noqa: S311  no secret
        chosen[field.name] = port
    return Ports(**chosen)


def is_free(port: int) -> bool:
    """Return True if nothing listens on this port, neither on the loopback interface nor on all interfaces."""
    with socket.socket() as probe:
        # On macOS a bind isn't enough: it succeeds for a specific address even if a wildcard is bound.
        probe.settimeout(1)
        if probe.connect_ex((LOOPBACK, port)) == 0:
            return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
