"""`FROM … INSERT INTO … INSERT INTO …`: several commands that Spark runs, and reports, as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.nodes import opened
from headwater_producers.spark.jvm.scala import class_name

if TYPE_CHECKING:
    from collections.abc import Iterator

# QueryExecution.commandExecutionName, of a Union of commands.
_SEVERAL: Final = "multi-commands"


def executions_of(execution: Any, function: str) -> Iterator[Any]:
    """Each command of an execution as one of its own; mostly there is one, and it is itself.

    Args:
        execution: the JVM's `QueryExecution`.
        function: the name that the listener received.
    """
    if function != _SEVERAL or class_name(execution.analyzed()) != "Union":
        yield execution
        return
    for number in range(int(execution.analyzed().children().size())):
        yield _Part(execution, number)


class _Part:
    """A `QueryExecution` that is about one command of several, and in all else the one that ran them."""

    def __init__(self, execution: Any, number: int) -> None:
        self._execution = execution
        self._number = number

    def analyzed(self) -> Any:
        """The command."""
        return self._execution.analyzed().children().apply(self._number)

    def executedPlan(self) -> Any:
        """What wrote."""
        return opened(self._execution.executedPlan()).children().apply(self._number)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._execution, name)
