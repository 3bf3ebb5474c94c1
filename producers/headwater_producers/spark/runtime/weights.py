"""About how much of the JVM's memory a signal keeps from being freed while it waits.

A command holds its `QueryExecution`: the plan as it was analyzed, optimized and executed, in which each operator has an
object for each of its columns, and several for what is computed. So a plan weighs its operators times their columns.
Both are in the text by which Spark shows a plan, where it names the first columns of an operator and counts the rest:
one look of a millisecond at 500 operators. It is only taken where something waits already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.runtime.signals import CommandEnded

if TYPE_CHECKING:
    from headwater_producers.spark.runtime.signals import Signal

SMALL_BYTES: Final = 16 * 1024
"""Of what holds no plan of a command: a progress, a frame of a micro-batch."""

# Measured: what the heap holds after a collection, with fresh plans that wait and without. Of 5 columns and 3 operators
# 0.15 MB each, 1,000 and 3: 15.5 MB, 300 and 10: 15.7 MB, 600 and 2: 6.9 MB, 1 and 150: 0.9 MB.
COMMAND_BYTES: Final = 128 * 1024
"""Of any command: what its execution consists of beside operators and columns."""

OPERATOR_BYTES: Final = 8 * 1024

COLUMN_BYTES: Final = 5 * 1024
"""Of one column that an operator computes, over all its plans."""

# Measured the same way, of projections that change one column: 50 operators of 1,000 columns 15 MB, 500 of 100 10 MB.
PASSED_BYTES: Final = 512
"""Of one column that an operator only passes on: all of them refer to one attribute."""

# Spark names an operator's first columns, and new ones may come after them: so many of the others may be computed.
_LEAST_COMPUTED: Final = 0.2

# Of TreeNode.treeString: verbose, addSuffix, maxFields, printOperatorId. As many fields as Spark shows, by default:
# with fewer it would complain of the shortening, once a process.
_SHOWN: Final = (False, False, 25, False)
_MORE: Final = re.compile(r"\.\.\. (\d+) more fields")


def weigh(signal: Signal) -> int:
    """Bytes, within about a factor of two for a plan that shares nothing with another that waits.

    Of four, where an operator's first columns aren't like its others. Never raises: what can't be read is taken
    for small.
    """
    if not isinstance(signal, CommandEnded):
        return SMALL_BYTES
    try:
        return weight_of_plan(signal.query_execution.analyzed())
    except Exception:  # whatever py4j raises; the worker will meet it again, and log it
        return COMMAND_BYTES


def weight_of_plan(plan: Any) -> int:
    """Of a JVM `LogicalPlan`, in two round trips."""
    text = str(plan.treeString(*_SHOWN))
    return COMMAND_BYTES + sum(map(_weight_of_operator, text.splitlines()))


def _weight_of_operator(line: str) -> int:
    """Of one line: `+- Project [id#0L, (id#0L + 1) AS next#2L, ... 975 more fields]`."""
    named = line.count(", ")
    computed = min(named, line.count(" AS "))
    more = _MORE.search(line)
    unnamed = int(more[1]) if more is not None else 0
    computed += int(unnamed * max(_LEAST_COMPUTED, computed / named)) if named else 0
    return OPERATOR_BYTES + computed * COLUMN_BYTES + (named + unnamed - computed) * PASSED_BYTES
