"""Runner of several actions: an error in one doesn't prevent the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def run_all(actions: Iterable[Callable[[], object]]) -> None:
    """Run each action, in order, even if earlier ones raise.

    Raises:
        Exception: the first error, raised after all actions.
    """
    first: Exception | None = None
    for action in actions:
        try:
            action()
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
