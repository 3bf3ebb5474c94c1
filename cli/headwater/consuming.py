"""Run of a consumer from a command, until stopped or caught up; optionally with the bridge of OpenLineage events."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from headwater.connection import client_config
from headwater.console import console, plain_table
from headwater.errors import ConfigurationError, InputError
from headwater.lean_imports import without
from headwater.logs import fields, start_logging
from headwater.publishing import PublisherSink, publisher_settings
from headwater.settings import Settings
from headwater.stopping import stopped_by_signals
from headwater.tracing import start_tracing
from headwater_consumers.materializer.errors import DeadLetterLimitError
from headwater_consumers.materializer.garbage import rare_collections
from headwater_producers.publisher import Publisher
from headwater_schemas.errors import FatalError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import making_clients

with without("numpy", "pandas"):
    from headwater_consumers.bridge.bridge import Bridge, BridgeParts, BridgeThread
    from headwater_consumers.bridge.metrics import BridgeMetrics
    from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
    from headwater_consumers.kafka.lag import LagWatch
    from headwater_consumers.kafka.notices import Notices
    from headwater_consumers.kafka.offsets import PartitionOffsets
    from headwater_consumers.kafka.source import RecordSource
    from headwater_consumers.materializer.app import ConsumerTarget, assemble
    from headwater_consumers.materializer.dead_letters.acknowledging import Acknowledged, acknowledge, letters_group
    from headwater_consumers.materializer.dead_letters.topic import KafkaDeadLetters
    from headwater_consumers.materializer.metrics import Metrics
    from headwater_consumers.materializer.reporting import ConsumerTotals
    from headwater_graph.connection import Neo4jTarget

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


log = logging.getLogger("headwater.consume")


def consume(
    settings: Settings,
    *,
    until_caught_up: bool,
    source: RecordSource | None = None,
    metrics: Metrics | None = None,
    started: Callable[[int], None] = lambda _: None,
    supervised: bool = False,
) -> ConsumerTotals:
    """Run one consumer, and return its totals.

    Args:
        until_caught_up: whether to stop once all records now on the topic are committed.
        source: source of the records; None: the events topic.
        metrics: metrics of every step, for a caller that reads them; None: new metrics.
        started: called with the port of metrics and health, when they are served.
        supervised: whether another process exports the lag of the group as a metric.

    Raises:
        ConfigurationError: a person has to change a setting.
        InputError: the port for metrics is taken.
    """
    start_logging(settings.log)
    start_tracing("headwater-consume")
    neo4j = settings.neo4j
    target = ConsumerTarget(
        client_config(settings.kafka),
        Neo4jTarget(neo4j.require_uri(), neo4j.user, neo4j.password.get_secret_value(), neo4j.database),
        settings.topic.names(),
        settings.topic.specs(),
        settings.registry,
    )
    metrics = metrics or Metrics()
    with contextlib.ExitStack() as stack:
        try:
            if source is None and not supervised:
                behind = stack.enter_context(lag_watched(settings, metrics.registry))
            else:
                behind = partial(_behind, source)
            watch = stack.enter_context(_progress(behind))
            bridging = Bridging(settings, metrics.registry, until_caught_up=until_caught_up)
            materializer = assemble(
                target,
                settings.materializer,
                until_caught_up=until_caught_up,
                warn=lambda text: log.warning("%s", text),
                info=lambda text: log.info("%s", text),
                watch=watch,
                source=source,
                metrics=metrics,
                companion=bridging.bridge,
            )
        except OSError as error:
            raise port_taken(settings, error) from error
        except FatalError as error:
            raise _fatal(error) from error

        def stop() -> None:
            bridging.stop()
            materializer.stop()

        # Signals are handled first: a process that waits for the log line may stop the consumer at once.
        with stopped_by_signals(stop), rare_collections():
            started(materializer.port)
            _log_start(target, settings, metrics_url=f"http://{settings.materializer.http_host}:{materializer.port}")
            try:
                with bridging.running(stop):
                    totals = materializer.run()
            except FatalError as error:
                raise _fatal(error) from error
            finally:
                materializer.totals.openlineage.update(bridging.totals())
                log.info("%s", summary(materializer.totals), extra=fields(totals=materializer.totals.document()))
    return totals


def port_taken(settings: Settings, error: OSError) -> InputError:
    """Error to raise if metrics and health can't be served."""
    where = f"{settings.materializer.http_host}:{settings.materializer.http_port}"
    return InputError(
        f"Metrics and health can't be served on {where}: {error.strerror}.",
        fix="Choose another HEADWATER_MATERIALIZER_HTTP_PORT or --port; 0 takes a free one.",
    )


def _log_start(target: ConsumerTarget, settings: Settings, *, metrics_url: str) -> None:
    topic, group, neo4j = target.topics.events, settings.materializer.group, target.neo4j
    log.info(
        "Consuming %s at %s as group %s, into Neo4j %s, database %s. Metrics and health on %s.",
        topic,
        target.servers,
        group,
        neo4j.uri,
        neo4j.database,
        metrics_url,
        extra=fields(
            kafka=target.servers,
            topic=topic,
            group=group,
            neo4j=neo4j.uri,
            database=neo4j.database,
            metrics=metrics_url,
        ),
    )


def summary(totals: ConsumerTotals) -> str:
    """Sum the consumed records up in a sentence: applied, dead-lettered, released."""
    reasons = ", ".join(f"{reason.value} {count:,}" for reason, count in sorted(totals.dead_lettered.items()))
    released = f" + {totals.released:,} released, to be read again" if totals.released else ""
    return (
        f"Stopped after {totals.seconds:,.1f} s: {totals.consumed:,} consumed = {totals.applied:,} applied "
        f"+ {totals.dead_lettered.total():,} dead-lettered{f' ({reasons})' if reasons else ''}{released}."
    )


def _fatal(error: FatalError) -> ConfigurationError:
    if isinstance(error, DeadLetterLimitError):
        fix = f"Look at the dead letters' reasons; {error.setting} sets the limit."
    else:
        fix = f"Check {error.setting}." if error.setting else ""
    return ConfigurationError(error.message, fix=fix)


@contextlib.contextmanager
def lag_watched(settings: Settings, registry: CollectorRegistry) -> Iterator[Callable[[], int | None]]:
    """Export the lag of the configured group and the number of pending dead letters as metrics, during the block.

    Yields:
        Number of pending records of the events topic; None if unknown.

    Raises:
        ConfigurationError: no client accepts the settings.
    """
    client, names = quiet(client_config(settings.kafka)), settings.topic.names()
    watched = {"materializer": (settings.materializer.group, names.events)}
    if (topic := settings.materializer.openlineage_topic) is not None:
        watched["bridge"] = (bridge_group(settings), topic)

    def keep(positions: Sequence[PartitionOffsets]) -> None:
        # Brokers delete the committed offsets of a group without members, unless they are committed again.
        acknowledge(client, group=settings.materializer.group, letters=Acknowledged(positions))

    try:
        with making_clients(str(client["bootstrap.servers"])):
            watches = [
                LagWatch.of(client, group=group, topic=topic, registry=registry, prefix=f"headwater_{prefix}")
                for prefix, (group, topic) in watched.items()
            ]
            watches.append(
                LagWatch.of(
                    client,
                    group=letters_group(settings.materializer.group),
                    topic=names.dead_letters,
                    registry=registry,
                    prefix="headwater_dead_letters",
                    keep=keep,
                )
            )
    except FatalError as error:
        raise _fatal(error) from error
    with contextlib.ExitStack() as stack:
        events, *_ = map(stack.enter_context, watches)
        yield lambda: events.behind


def _behind(source: RecordSource | None) -> int | None:
    return None if source is None else sum(each.pending for each in source.positions())


@contextlib.contextmanager
def _progress(behind: Callable[[], int | None]) -> Iterator[Callable[[ConsumerTotals], None]]:
    """Show a line with the current totals, on a terminal.

    Args:
        behind: number of pending records; None if unknown.
    """
    if console.json_mode or not sys.stderr.isatty():
        yield lambda _: None
        return
    with console.err.spinner("Starting") as status:

        def watch(totals: ConsumerTotals) -> None:
            waiting = behind()
            lag = "" if waiting is None else f", {waiting:,} behind"
            status.update(Text(f"{totals.applied:,} applied, {totals.dead_lettered.total():,} dead-lettered{lag}"))

        yield watch


def totals_table(totals: ConsumerTotals) -> Table:
    """Table of the totals, for people."""
    table = plain_table()
    rows: dict[str, Any] = {
        "consumed": totals.consumed,
        "  applied": totals.applied,
        "  dead-lettered": totals.dead_lettered.total(),
        **{f"    {reason.value}": count for reason, count in sorted(totals.dead_lettered.items())},
        "  released, to be read again": totals.released,
        "transactions": totals.transactions,
    }
    if totals.openlineage:
        rows["read from the OpenLineage topic"] = totals.openlineage["consumed"]
        rows["  events published for it"] = totals.openlineage["events"]
        rows["  dead-lettered"] = totals.openlineage["dead_lettered"]
    for name, count in rows.items():
        table.add_row(name, f"{count:,}")
    table.add_row("seconds", f"{totals.seconds:,.1f}")
    return table


bridge_log = logging.getLogger("headwater.openlineage")

_LINGER_MILLISECONDS = 5
_BUFFERED_EVENTS = 10_000
_BUFFERED_BYTES = 32 * 1024 * 1024


def bridge_group(settings: Settings) -> str:
    """The consumer group of the bridge."""
    return f"{settings.materializer.group}-openlineage"


class Bridging:
    """Bridge of OpenLineage events with its parts; `bridge` is None if no OpenLineage topic is configured.

    Args:
        until_caught_up: whether to end once all records now on the topic are committed.

    Raises:
        FatalError: no client accepts the settings.
        InputError: the topic is one of Headwater's own.
    """

    def __init__(self, settings: Settings, registry: CollectorRegistry, *, until_caught_up: bool) -> None:
        self._until_caught_up = until_caught_up
        self.bridge: Bridge | None = None
        self._publisher: Publisher | None = None
        self._thread: BridgeThread | None = None
        topic = settings.materializer.openlineage_topic
        if topic is None:
            return
        names = settings.topic.names()
        if topic in {names.events, names.dead_letters, names.schemas}:
            raise InputError(
                f"{topic} is one of Headwater's own topics, and holds no OpenLineage events.",
                fix="Check HEADWATER_MATERIALIZER_OPENLINEAGE_TOPIC or --openlineage-topic.",
            )
        group = bridge_group(settings)
        client = quiet(client_config(settings.kafka))
        notices = Notices(_bridge_warning, time.monotonic, info=_bridge_info)
        with making_clients(str(client["bootstrap.servers"])):
            source = KafkaSource(
                SourceConfig(
                    client,
                    topic,
                    group,
                    settings.materializer.queued_max_kilobytes,
                    record_max_bytes=settings.materializer.record_max_bytes,
                ),
                clock=time.monotonic,
                notices=notices,
            )
        self._publisher = Publisher(
            publisher_settings(
                settings,
                client_id="headwater-bridge",
                linger_milliseconds=_LINGER_MILLISECONDS,
                max_buffered_events=_BUFFERED_EVENTS,
                max_buffered_bytes=_BUFFERED_BYTES,
            ),
            names,
        )
        parts = BridgeParts(
            source=source,
            sink=PublisherSink(self._publisher),
            dead_letters=KafkaDeadLetters(client, topic=names.dead_letters, group=group),
            metrics=BridgeMetrics(registry),
            notices=notices,
            tenant=settings.analysis.tenant,
            document_max_bytes=settings.openlineage.document_max_bytes,
            strict=settings.openlineage.strict,
            redacting=settings.openlineage.redact,
            drain_seconds=settings.materializer.drain_seconds,
            clock=time.monotonic,
        )
        self.bridge = Bridge(parts, until_caught_up=until_caught_up)
        bridge_log.info("Bridging OpenLineage events of %s to %s, as group %s.", topic, names.events, group)

    @contextlib.contextmanager
    def running(self, stop_all: Callable[[], None]) -> Iterator[None]:
        """Run the bridge during the block; with `until_caught_up`, run it to its end before the block.

        Args:
            stop_all: called when the bridge ends with an error.

        Raises:
            FatalError: a person has to change a setting.
        """
        if self.bridge is None or self._publisher is None:
            yield
            return
        try:
            if self._until_caught_up:
                self.bridge.run()
                yield
            else:
                self._thread = BridgeThread(self.bridge, stop_all)
                self._thread.start()
                try:
                    yield
                finally:
                    self._thread.stop()
                if self._thread.error is not None:
                    raise self._thread.error
        finally:
            self._publisher.close(0)  # unacknowledged records aren't committed, and are read again

    def stop(self) -> None:
        """End the bridge after its current batch. Safe from a signal handler."""
        if self.bridge is not None:
            self.bridge.stop()

    def totals(self) -> dict[str, Any]:
        """Totals of the bridge; empty if there is no bridge."""
        return {} if self.bridge is None else self.bridge.totals.document()


def _bridge_warning(text: str) -> None:
    bridge_log.warning("%s", text)


def _bridge_info(text: str) -> None:
    bridge_log.info("%s", text)
