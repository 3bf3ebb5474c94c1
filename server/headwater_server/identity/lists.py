"""Lists separated by commas, in settings and headers."""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

from headwater_server.identity.identity import Scope

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def items(text: str) -> list[str]:
    """`a, b` ⇒ `a`, `b`; empty items don't count."""
    return [item.strip() for item in text.split(",") if item.strip()]


def scopes_in(text: str) -> frozenset[Scope]:
    """Scopes in a list separated by commas.

    Raises:
        ValueError: one is unknown.
    """
    try:
        return frozenset(map(Scope, items(text)))
    except ValueError:
        raise ValueError(f"scopes are {', '.join(Scope)}") from None


def networks_in(text: str) -> tuple[Network, ...]:
    """Networks in a list separated by commas; an address is a network of one.

    Raises:
        ValueError: one is no network.
    """
    return tuple(ipaddress.ip_network(item) for item in items(text))
