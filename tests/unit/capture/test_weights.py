"""Estimated weight of a waiting callback. `tests/spark/capture/test_memory.py` compares it with the real one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.driver.listeners import COMMAND_BYTES, SMALL_BYTES, weigh
from headwater_producers.spark.driver.signals import CommandEnded, QueryTerminated

AT = datetime(2013, 1, 1, tzinfo=UTC)


def command(text: str | Exception | Callable[..., str]) -> CommandEnded:
    def tree_string(*given: object) -> str:
        if isinstance(text, Exception):
            raise text
        return text if isinstance(text, str) else text(*given)

    execution: Any = SimpleNamespace(analyzed=lambda: SimpleNamespace(treeString=tree_string))
    return CommandEnded("save", execution, None, None, None, AT)


def plan(operators: int, columns: int, column: str = "(id#0L + 1) AS c{0}#{0}L") -> str:
    """Plan in Spark's format: 25 columns by name, then the number of further ones."""
    named = ", ".join(column.format(number) for number in range(min(25, columns)))
    more = f", ... {columns - 25} more fields" if columns > 25 else ""
    return "".join(f"+- Project [{named}{more}]\n" for _ in range(operators))


def test_a_plan_weighs_its_operators_times_their_columns() -> None:
    weight = {(ops, columns): weigh(command(plan(ops, columns))) for ops in (2, 500) for columns in (5, 1_000)}
    assert COMMAND_BYTES < weight[2, 5] < 2 * COMMAND_BYTES
    assert weight[500, 1_000] / weight[2, 1_000] == pytest.approx(250, rel=0.1)
    assert weight[2, 1_000] > 50 * weight[2, 5]


def test_columns_that_are_only_passed_on_weigh_less() -> None:
    computed, passed = (weigh(command(plan(50, 1_000, *column))) for column in ((), ("c{0}#{0}L",)))
    assert 2 < computed / passed < 6, "not nothing: what isn't named may be computed"


@pytest.mark.parametrize(("version", "arguments"), [("3.5.7", 4), ("4.0.5", 4), ("4.1.1", 5), ("4.3.0", 5)])
def test_each_spark_is_asked_for_the_text_by_the_arguments_that_it_takes(
    version: str, arguments: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tree_string(*given: object) -> str:
        if len(given) != arguments:
            raise TypeError(f"no treeString of {len(given)} arguments")
        return plan(50, 1_000)

    monkeypatch.setattr("pyspark.__version__", version)
    assert weigh(command(tree_string)) == weigh(command(plan(50, 1_000))) > COMMAND_BYTES


def test_what_holds_no_plan_and_what_can_not_be_looked_at_is_small() -> None:
    assert weigh(QueryTerminated(event=None, at=AT)) == SMALL_BYTES
    assert weigh(command(RuntimeError("the JVM is gone"))) == COMMAND_BYTES
