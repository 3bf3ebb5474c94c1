"""Running several actions of which none may keep another from being run."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def run_all(actions: Iterable[Callable[[], object]]) -> None:
    """Runs each, in order, whatever the ones before it raise.

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
