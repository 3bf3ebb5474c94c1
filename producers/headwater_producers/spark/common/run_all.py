"""Runner of several actions, none of which may prevent another."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def run_all(actions: Iterable[Callable[[], object]]) -> None:
    """Run each action, in order, whatever the ones before it raise.

    Raises:
        Exception: the first that was raised, when all is done.
    """
    first: Exception | None = None
    for action in actions:
        try:
            action()
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
