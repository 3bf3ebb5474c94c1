"""Exceptions of questions.

AnalysisError
├── NotFoundError        no such asset, run, record; with the nearest names
│   └── NotPreparedError the graph has no indexes: nothing was ever written
├── AmbiguousError       several assets have that name; with them
├── QuestionError        the question itself is wrong; names the field
├── TimeLimitError       the answer took longer than it may
├── ArrivalsUnknownError    Kafka can't be asked when records arrived
├── NotFilteredError        the answer is for askers who may see everything
├── GraphUnreachableError   Neo4j doesn't answer
└── GraphRefusedError    Neo4j refuses user, password or database, or the graph is of another version; names the setting

A bug, such as one in a statement, is raised as the original exception.
"""

from __future__ import annotations

from collections.abc import Sequence


class AnalysisError(Exception):
    """Any error of this package. The message is for the person who asked; never a secret."""


class NotFoundError(AnalysisError):
    """An asset, run or record isn't in the graph.

    Attributes:
        nearest: existing names, the most similar first; maybe none.
    """

    def __init__(self, message: str, *, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)


class NotPreparedError(NotFoundError):
    """The graph has no indexes, which a consumer creates before it writes anything: nothing is in it."""


class AmbiguousError(AnalysisError):
    """Several assets have this name.

    Attributes:
        candidates: unambiguous spelling of each.
    """

    def __init__(self, message: str, *, candidates: Sequence[str]) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class QuestionError(AnalysisError):
    """The question is invalid.

    Attributes:
        field: invalid parameter, by its name in the API, `depth` say.
    """

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class TimeLimitError(AnalysisError):
    """Neo4j ended the question at its time limit.

    Attributes:
        seconds: the limit.
        what: subject that took longer: the beginning of a sentence.
    """

    def __init__(self, seconds: float, rule: str | None = None) -> None:
        self.what = f"No answer within {seconds:g} s. Ask for less, such as fewer hops"
        if rule is not None:
            self.what = f"Rule {rule} wasn't checked within {seconds:g} s. Check others by their names"
        super().__init__(f"{self.what}, or allow more time.")
        self.seconds = seconds


class ArrivalsUnknownError(AnalysisError):
    """Records that arrived in a time are unknown: Kafka can't be asked, or not from here."""

    def __init__(self, topic: str, why: str) -> None:
        super().__init__(
            f"Which records of {topic} arrived then isn't known: {why}. The graph has the time when micro-batches read "
            "them (--read-time)."
        )


class NotFilteredError(AnalysisError):
    """The answer is also made of what the asker may not see, and can't be had without it."""

    def __init__(self) -> None:
        super().__init__(
            "This question is answered only for who may see everything: its answer can't be had without what you may "
            "not see."
        )


class GraphUnreachableError(AnalysisError):
    """Neo4j doesn't answer, or not now. Asking again later may help."""


class GraphRefusedError(AnalysisError):
    """Neo4j refuses the connection, or its graph is of another version of the model, until a person changes a setting.

    Attributes:
        setting: name of the setting.
    """

    def __init__(self, message: str, *, setting: str) -> None:
        super().__init__(message)
        self.setting = setting
