"""Reader of the configured graph for commands, with errors as exit codes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from headwater.console import console, shortened
from headwater.errors import ConfigurationError, HeadwaterError, InputError, SubjectNotFoundError, UnreachableError
from headwater.lean_imports import without
from headwater.settings import connected_settings
from headwater_schemas.kafka.settings import KafkaSettings

with without("numpy", "pandas"):
    from headwater_analysis import errors
    from headwater_analysis.freshness import TopicEnd, TopicEnds
    from headwater_analysis.reader import Reader, reading_driver
    from headwater_consumers.materializer.garbage import rare_collections
    from headwater_graph.connection import Neo4jTarget


@contextlib.contextmanager
def asking(
    *, tenant: str | None = None, timeout_seconds: float | None = None, silently: bool = False
) -> Iterator[Reader]:
    """Reader of the configured graph; errors of questions end the command with exit code and fix.

    Args:
        tenant: `--tenant` of the command.
        timeout_seconds: `--timeout` of the command.
        silently: Whether to leave out the report of the database.

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
            yield Reader(
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
    """Ask the brokers; imports their client only when needed."""

    def ends(topic: str) -> Sequence[TopicEnd] | None:
        from headwater.events_topic import topic_ends

        return topic_ends(kafka)(topic)

    return ends


def translated(error: errors.AnalysisError) -> HeadwaterError:
    """Convert an error to one of the command line's."""
    message = shortened(str(error), 600)
    if isinstance(error, errors.NotFoundError):
        hint = "The nearest names there are:" if error.nearest else ""
        return SubjectNotFoundError(message, fix=hint, nearest=error.nearest)
    if isinstance(error, errors.AmbiguousError):
        return InputError(message, fix="Say which:", nearest=error.candidates)
    if isinstance(error, errors.QuestionError):
        return InputError(message)
    if isinstance(error, errors.GraphUnreachableError):
        return UnreachableError(message, fix="Start it with `headwater up`, or check HEADWATER_NEO4J_URI.")
    if isinstance(error, errors.ArrivalsUnknownError):
        return UnreachableError(message)
    if isinstance(error, errors.GraphRefusedError):
        return ConfigurationError(message, fix=f"Check {error.setting}.")
    if isinstance(error, errors.TimeLimitError):
        return HeadwaterError(message, fix="--timeout allows more; HEADWATER_ANALYSIS_TIMEOUT_SECONDS does so for all.")
    return HeadwaterError(message)
