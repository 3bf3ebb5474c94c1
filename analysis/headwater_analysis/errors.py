"""Exceptions of questions.

AnalysisError
├── NotFoundError           the graph has no such asset, run or record; has the nearest names
│   └── NotPreparedError    the graph has no indexes: nothing was ever written
├── AmbiguousError          several assets have this name; has their spellings
├── QuestionError           the question is invalid; names the field
├── TimeLimitError          no answer within the time limit
├── ArrivalsUnknownError    Kafka's arrival times of records can't be read
├── NotFilteredError        only askers who may see everything get the answer
├── GraphUnreachableError   Neo4j doesn't answer
└── GraphRefusedError       Neo4j refuses user, password or database, or the graph's version differs; has the setting

A bug, for example in a statement, is raised as the original exception.
"""

from __future__ import annotations

from collections.abc import Sequence


class AnalysisError(Exception):
    """Any error of this package. The message is for the asker, and never contains a secret."""


class NotFoundError(AnalysisError):
    """An asset, run or record isn't in the graph.

    Attributes:
        nearest: existing names, the most similar first; may be empty.
    """

    def __init__(self, message: str, *, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)


class NotPreparedError(NotFoundError):
    """The graph has no indexes. A consumer creates them before it writes anything, so the graph is empty."""


class AmbiguousError(AnalysisError):
    """Several assets have this name.

    Attributes:
        candidates: unambiguous spelling of each of these assets.
    """

    def __init__(self, message: str, *, candidates: Sequence[str]) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class QuestionError(AnalysisError):
    """The question is invalid.

    Attributes:
        field: name of the invalid parameter in the API, for example `depth`.
    """

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class TimeLimitError(AnalysisError):
    """Neo4j ended the question at its time limit.

    Attributes:
        what: beginning of the message: what took too long, and a way to ask for less.
    """

    def __init__(self, seconds: float, rule: str | None = None) -> None:
        self.what = f"No answer within {seconds:g} s. Ask for less, such as fewer hops"
        if rule is not None:
            self.what = f"Rule {rule} wasn't checked within {seconds:g} s. Check others by their names"
        super().__init__(f"{self.what}, or allow more time.")
        self.seconds = seconds


class ArrivalsUnknownError(AnalysisError):
    """Arrival times of records are unknown: Kafka can't be read, or not from here."""

    def __init__(self, topic: str, why: str) -> None:
        super().__init__(
            f"It is unknown which records of {topic} arrived in this time: {why}. The graph has the times when "
            "micro-batches read records (--read-time)."
        )


class NotFilteredError(AnalysisError):
    """The answer also depends on assets that the asker may not see, and can't be computed without them."""

    def __init__(self) -> None:
        super().__init__(
            "This question is only for people who may see everything: its answer also depends on assets that you may "
            "not see."
        )


class GraphUnreachableError(AnalysisError):
    """Neo4j doesn't answer, perhaps only for a short time: the same question may succeed later."""


class GraphRefusedError(AnalysisError):
    """Neo4j refuses the connection, or its graph has another version of the model; a setting has to be changed.

    Attributes:
        setting: name of the setting.
    """

    def __init__(self, message: str, *, setting: str) -> None:
        super().__init__(message)
        self.setting = setting
