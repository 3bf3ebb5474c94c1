"""Settings of `headwater serve` on the stack under test."""

from __future__ import annotations

from support.stack import StackUnderTest


def environment(stack: StackUnderTest, **settings: str) -> dict[str, str]:
    """The settings of a server of this stack's graph; further ones as `serve__port`."""
    chosen = {
        "neo4j__uri": stack.neo4j_uri,
        "neo4j__user": stack.neo4j_user,
        "neo4j__password": stack.neo4j_password,
        "serve__port": "0",
        **settings,
    }
    return {f"HEADWATER_{name.replace('__', '_').upper()}": value for name, value in chosen.items()}
