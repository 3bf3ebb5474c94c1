"""Execution facts beside the plan: the text of the SQL statement, and observed metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from headwater_producers.spark.jvm.scala import items, option, pairs

_LITERAL: Final = re.compile(
    r"--[^\n]*|/\*.*?\*/"  # comments, which may have quotes in them
    r"|(?P<literal>[rR](?:'[^']*'|\"[^\"]*\")|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\""
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?[a-zA-Z]{0,2}\b)"
    r"|`(?:[^`]|``)*`|[A-Za-z_]\w*",  # names, which may have digits in them
    re.DOTALL,
)
REJECTED: Final = "rows_rejected"
"""Metric of `DataFrame.observe` that counts rows rejected for their content."""


def statement_of(execution: Any, *, literals: bool) -> str | None:
    """Return the SQL text of an execution's statement, or of the query whose rows it writes.

    Args:
        execution: the JVM's `QueryExecution`.
        literals: True to keep literals; else each is `?`, and comments are left out.
    """
    plan = execution.analyzed()
    text = option(plan.origin().sqlText())
    if text is None:
        inner = next(iter(items(plan.innerChildren())), None) or next(iter(items(plan.children())), None)
        text = option(inner.origin().sqlText()) if inner is not None else None
    if text is None:
        return None
    return str(text) if literals else without_literals(str(text))


def without_literals(sql: str) -> str:
    """Replace each literal of a SQL text by `?`, and drop comments.

    `WHERE city = 'Oslo' AND id > 7 -- Ada` ⇒ `WHERE city = ? AND id > ? `
    """

    def kept(found: re.Match[str]) -> str:
        if found["literal"] is not None:
            return "?"
        return "" if found[0].startswith(("--", "/*")) else found[0]

    return _LITERAL.sub(kept, sql)


def observed_metrics(execution: Any) -> dict[str, Mapping[str, Any]]:
    """Return the metrics of `DataFrame.observe` in an execution, by the observation's name.

    Takes two round trips where there are none.

    Args:
        execution: the JVM's `QueryExecution`, which has run.
    """
    metrics = execution.observedMetrics()
    if metrics.isEmpty():
        return {}
    return {name: json.loads(str(row.json())) for name, row in pairs(metrics)}


def rows_rejected(observed: Mapping[str, Mapping[str, Any]]) -> int | None:
    """Return the sum of all metrics named `rows_rejected`; None where there is none."""
    counts = [metrics[REJECTED] for metrics in observed.values() if REJECTED in metrics]
    whole = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    return sum(whole) if whole else None
