"""How the tests are shared out where two processes run them, as `bin/test` does.

Each process has a Kafka, a Neo4j and a Spark session of its own, from the first test that asks for one. So the tests of
a file stay together, which keeps its fixtures, and all tests of the shared Spark session do: it is started once and
gets faster all the while. What takes longest comes first, so that both processes end at about the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest

FIRST = ("tests/spark/", "tests/faults/", "tests/integration/", "tests/simulation/", "tests/browser/")
"""The folders that take minutes, in this order; then all others, in seconds."""
_ONE_SESSION = "tests/spark/"


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist comes without types
    """Hands out whole files, and the tests of the shared Spark session as if they were one."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """What stays with one process."""
    return _ONE_SESSION if nodeid.startswith(_ONE_SESSION) else nodeid.partition("::")[0]


def turn_of(item: pytest.Item) -> int:
    """Where it is in the order."""
    return next((place for place, folder in enumerate(FIRST) if item.nodeid.startswith(folder)), len(FIRST))
