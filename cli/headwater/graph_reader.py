"""Questions of commands to the configured graph or to a remote server; errors become exit codes.

    found = answer_of(lambda reader: search(reader, text), lambda server: remote.search(server, text))

`headwater.remote.choice` chooses between the two.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.console import console, shortened
from headwater.errors import ConfigurationError, HeadwaterError, InputError, SubjectNotFoundError, UnreachableError
from headwater.lean_imports import without
from headwater.remote.choice import Chosen, chosen_server
from headwater.settings import connected_settings
from headwater_schemas.kafka.settings import KafkaSettings

with without("numpy", "pandas"):
    from headwater_analysis import errors
    from headwater_analysis.freshness import GraphState, TopicEnd, TopicEnds
    from headwater_analysis.incidents.answers import IncidentMarks
    from headwater_analysis.incidents.marks import MarkingReader
    from headwater_analysis.reader import Reader, reading_driver
    from headwater_consumers.materializer.garbage import rare_collections
    from headwater_graph.connection import Neo4jTarget

if TYPE_CHECKING:
    from headwater.remote.server import Server

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """An answer with its metadata.

    Attributes:
        graph: lag of the graph behind the events topic.
        filtered: whether the answer leaves out assets that the asker may not see.
        incidents: datasets of the answer with bad data of open incidents; None without any.
    """

    answer: T
    graph: GraphState
    filtered: bool = False
    incidents: IncidentMarks | None = None


def answer_of(
    question: Callable[[Reader], T],
    remote: Callable[[Server], T],
    *,
    tenant: str | None = None,
    timeout_seconds: float | None = None,
    silently: bool = False,
) -> Answered[T]:
    """Ask a question and return its answer.

    Args:
        remote: function that asks a server the same question (`headwater.remote`).
        silently: whether not to report the server or database on stderr.

    Raises:
        HeadwaterError: see `headwater.errors`.
    """
    chosen = chosen_server(tenant)
    if chosen is None:
        with asking(tenant=tenant, timeout_seconds=timeout_seconds, silently=silently) as reader:
            found = question(reader)
            return Answered(found, reader.freshness, incidents=reader.incidents)
    if not silently:
        console.using({"Server": f"{chosen.url} ({chosen.origin})"})
    with _asking_server(chosen, timeout_seconds) as server:
        found = remote(server)
        return Answered(found, server.freshness, server.filtered, server.incidents)


@contextlib.contextmanager
def _asking_server(chosen: Chosen, timeout_seconds: float | None) -> Iterator[Server]:
    from headwater.remote.server import Server  # imports the HTTP client, which a database doesn't need

    server = Server(chosen, timeout_seconds)
    try:
        yield server
    except errors.AnalysisError as error:
        raise translated(error) from error
    finally:
        server.close()


@contextlib.contextmanager
def asking(
    *, tenant: str | None = None, timeout_seconds: float | None = None, silently: bool = False
) -> Iterator[MarkingReader]:
    """Reader of the configured graph; errors of questions end the command with exit code and fix.

    Args:
        silently: whether not to report the database on stderr.

    Raises:
        HeadwaterError: see `headwater.errors`.
    """
    settings = connected_settings(
        {"analysis.tenant": tenant, "analysis.timeout_seconds": timeout_seconds}, neo4j=True, silently=silently
    )
    neo4j, analysis = settings.neo4j, settings.analysis
    target = Neo4jTarget(neo4j.require_uri(), neo4j.user, neo4j.password.get_secret_value(), neo4j.database)
    try:
        with reading_driver(target) as driver, rare_collections(), console.status("Asking the graph"):
            yield MarkingReader(
                driver,
                target,
                tenant=analysis.tenant,
                timeout_seconds=analysis.timeout_seconds,
                stale_seconds=analysis.stale_seconds,
                ends=_ends(settings.kafka),
            )
    except errors.AnalysisError as error:
        raise translated(error) from error


def _ends(kafka: KafkaSettings) -> TopicEnds:
    """Make a function that reads end offsets; Kafka's client is imported only when the function is called."""

    def ends(topic: str) -> Sequence[TopicEnd] | None:
        from headwater.events_topic import topic_ends

        return topic_ends(kafka)(topic)

    return ends


@contextlib.contextmanager
def in_words(words: Callable[[errors.QuestionError], str]) -> Iterator[None]:
    """Report invalid questions of the block in terms of the command's options.

    Raises:
        InputError: the question is invalid.
    """
    try:
        yield
    except errors.QuestionError as error:
        raise InputError(words(error)) from error


def translated(error: errors.AnalysisError) -> HeadwaterError:
    """Convert an error of a question to an error of the command line."""
    message = shortened(str(error), 600)
    if isinstance(error, errors.NotFoundError):
        hint = "The nearest names there are:" if error.nearest else ""
        return SubjectNotFoundError(message, fix=hint, nearest=error.nearest)
    if isinstance(error, errors.AmbiguousError):
        return InputError(message, fix="Name one of:", nearest=error.candidates)
    if isinstance(error, errors.QuestionError):
        return InputError(message)
    if isinstance(error, errors.GraphUnreachableError):
        return UnreachableError(message, fix="Start it with `headwater up`, or check HEADWATER_NEO4J_URI.")
    if isinstance(error, errors.ArrivalsUnknownError):
        return UnreachableError(message)
    if isinstance(error, errors.GraphRefusedError):
        return ConfigurationError(message, fix=f"Check {error.setting}.")
    if isinstance(error, errors.TimeLimitError):
        return HeadwaterError(message, fix="Raise --timeout, or HEADWATER_ANALYSIS_TIMEOUT_SECONDS for all.")
    return HeadwaterError(message)
