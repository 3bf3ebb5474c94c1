"""Lists separated by commas, in settings and headers."""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

from headwater_server.identity.identity import Scope

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
"""Algorithms of tokens that can be allowed: all have a public key. `EdDSA` is left out: RFC 9864 replaced it."""


def items(text: str) -> list[str]:
    """Split a list, `a, b` ⇒ `a`, `b`; empty items are left out."""
    return [item.strip() for item in text.split(",") if item.strip()]


def scopes_in(text: str) -> frozenset[Scope]:
    """Scopes in a list separated by commas.

    Raises:
        ValueError: a scope is unknown.
    """
    try:
        return frozenset(map(Scope, items(text)))
    except ValueError:
        raise ValueError(f"each scope must be one of {', '.join(Scope)}") from None


def networks_in(text: str) -> tuple[Network, ...]:
    """Networks in a list separated by commas; an address is a network with one address.

    Raises:
        ValueError: an item isn't a network.
    """
    return tuple(ipaddress.ip_network(item) for item in items(text))


def algorithms_in(text: str) -> tuple[str, ...]:
    """Algorithms in a list separated by commas.

    Raises:
        ValueError: an algorithm isn't in `ALGORITHMS`, or the list is empty.
    """
    found = tuple(items(text))
    if not found or not set(found) <= set(ALGORITHMS):
        raise ValueError(f"give at least one algorithm; each must be one of {', '.join(ALGORITHMS)}")
    return found
