"""Tables of cases of which the gate runs some, and the nightly run all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

T = TypeVar("T")


def in_gate() -> bool:
    """True unless this is a nightly run, which asks for more of the same in one test."""
    return settings.get_current_profile_name() == "gate"


def first_in_gate(many: int, cases: Iterable[T]) -> list[ParameterSet]:
    """Rows for `pytest.mark.parametrize`: the first `many` are in the gate."""
    return [_row(case, in_gate=number < many) for number, case in enumerate(cases)]


def named_in_gate(names: Collection[str], cases: Iterable[T], name_of: Callable[[T], str]) -> list[ParameterSet]:
    """Rows for `pytest.mark.parametrize`, each with its name as id: those called by `names` are in the gate.

    Raises:
        ValueError: No case has one of the names.
    """
    named = {name_of(case): case for case in cases}
    if unknown := set(names) - set(named):
        raise ValueError(f"no cases: {sorted(unknown)}")
    return [_row(case, in_gate=name in names, name=name) for name, case in named.items()]


def _row(case: object, *, in_gate: bool, name: str | None = None) -> ParameterSet:
    return pytest.param(case, id=name, marks=() if in_gate else pytest.mark.nightly)
