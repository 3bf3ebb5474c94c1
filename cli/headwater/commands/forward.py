"""`headwater forward`: sends events of the topic to other catalogs."""

from __future__ import annotations

import contextlib
import logging
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from headwater.connection import client_config
from headwater.console import JsonOption, console, plain_table
from headwater.decoding import event_decoder
from headwater.errors import InputError
from headwater.kafka_errors import asking_kafka
from headwater.lean_imports import without
from headwater.logs import LogFormatOption, start_logging
from headwater.options import TenantOption
from headwater.settings import Settings, connected_settings
from headwater.stopping import stopped_by_signals
from headwater_schemas.codec import Decoder
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import is_legal_name

with without("numpy", "pandas"):
    from headwater_consumers.forward.collectors import (
        Collector,
        FileCollector,
        KafkaCollector,
        RefusedDocuments,
        RefusedFile,
        RefusedTopic,
    )
    from headwater_consumers.forward.forwarder import Forwarder, ForwardParts, ForwardTotals
    from headwater_consumers.forward.http import HttpCollector
    from headwater_consumers.forward.metrics import ForwardMetrics
    from headwater_consumers.forward.parallel import ParallelCollector
    from headwater_consumers.forward.plans import PlanCache
    from headwater_consumers.forward.settings import MicroBatches
    from headwater_consumers.forward.spacing import Spacing
    from headwater_consumers.kafka.backoff import BackoffPolicy
    from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
    from headwater_consumers.kafka.lag import LagWatch
    from headwater_consumers.kafka.notices import Notices
    from headwater_consumers.kafka.topic_reader import records_to_end
    from headwater_consumers.materializer.health import HealthServer

app = typer.Typer(help="Forward events of the topic to other catalogs.", no_args_is_help=True)
app.callback()(lambda: None)

log = logging.getLogger("headwater.forward")

_TOPIC = "kafka:"


@app.command()
def openlineage(
    to: Annotated[
        str, typer.Option(help="Destination: the URL of a collector, kafka:TOPIC on the same cluster, or a file.")
    ],
    refused: Annotated[
        str,
        typer.Option(
            help="A file for documents that the collector refuses for good, one a line with the reason; or "
            "kafka:TOPIC, each with the reason in its headers."
        ),
    ] = "openlineage-refused.jsonl",
    group: Annotated[str | None, typer.Option(help="Consumer group. Each collector needs its own.")] = None,
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="Stop once all events that are on the topic now are delivered.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Serve /metrics, /livez and /readyz on this port; 0 takes a free one.")
    ] = None,
    tenant: TenantOption = None,
    log_format: LogFormatOption = None,
    json_output: JsonOption = False,
) -> None:
    """Send events to another OpenLineage consumer, and go on until stopped.

    Offsets are committed to Kafka once the collector has accepted the documents, so no event is lost while the
    collector is unreachable. After a crash, a collector may get documents twice. Token and certificates are settings
    (HEADWATER_FORWARD_…), never arguments. Ctrl-C or SIGTERM ends the command after the current document, with status
    0. Exit status 6: the collector refuses the token, or there is no collector at --to.
    """
    settings = connected_settings(
        {"forward.group": group, "analysis.tenant": tenant, "log.format": log_format}, kafka=True, silently=True
    )
    start_logging(settings.log)
    with asking_kafka(settings.kafka, doing=f"forwarding {settings.topic.names().events}"):
        totals = _forward(settings, to, refused, port, until_caught_up=until_caught_up)
    console.result(totals.document(), _table(totals))


def _forward(settings: Settings, to: str, refused: str, port: int | None, *, until_caught_up: bool) -> ForwardTotals:
    names, client = settings.topic.names(), quiet(client_config(settings.kafka))
    notices = Notices(_warn, time.monotonic, info=_info)
    metrics = ForwardMetrics()
    with contextlib.ExitStack() as stack:
        collector = _collector(settings, to)
        stack.callback(collector.close)
        aside = _refused(settings, to, refused)
        stack.callback(aside.close)
        decoder: Decoder = stack.enter_context(event_decoder(settings))
        forwarder = Forwarder(
            ForwardParts(
                source=KafkaSource(
                    SourceConfig(client, names.events, settings.forward.group), clock=time.monotonic, notices=notices
                ),
                decoder=decoder,
                plans=PlanCache(settings.forward.plans_max_bytes, metrics.unknown_plans.inc),
                collector=collector,
                refused=aside,
                metrics=metrics,
                notices=notices,
                warn=_warn,
                tenant=settings.analysis.tenant,
                coalesced=settings.forward.micro_batches is not MicroBatches.EACH,
                spacing=Spacing(settings.forward.micro_batches_minutes, time.monotonic)
                if settings.forward.micro_batches is MicroBatches.SPACED
                else None,
                backoff=BackoffPolicy(cap_seconds=settings.forward.retry_max_seconds),
                clock=time.monotonic,
                random=random.random,
            ),
            until_caught_up=until_caught_up,
        )
        # Signals are handled first: a process that waits for this line may stop the forwarder at once.
        host = settings.forward.health_host
        with stopped_by_signals(forwarder.stop), _served(forwarder, metrics, host, port) as where:
            if port is not None:
                stack.enter_context(
                    LagWatch.of(
                        client,
                        group=settings.forward.group,
                        topic=names.events,
                        registry=metrics.registry,
                        prefix="headwater_forward",
                    )
                )
            log.info("Forwarding %s to %s, as group %s.%s", names.events, _shown(to), settings.forward.group, where)
            if newest := settings.forward.plans_newest_offsets:
                forwarder.remember(records_to_end(client, names.events, newest=newest))
            try:
                return forwarder.run()
            finally:
                done = forwarder.totals
                log.info("Stopped: %d documents delivered, %d refused.", done.delivered, done.refused)


def _collector(settings: Settings, to: str) -> Collector:
    if to.startswith(("http://", "https://")):
        posts = [HttpCollector(to, settings.forward) for _ in range(settings.forward.posts_in_parallel)]
        return posts[0] if len(posts) == 1 else ParallelCollector(posts)
    if not to.startswith(_TOPIC):
        if "://" in to:
            raise InputError(f"{_shown(to)} is no collector.", fix="Write a URL, kafka:TOPIC or a file's name.")
        return FileCollector(Path(to))
    return _topic(settings, to, "--to")


def _refused(settings: Settings, to: str, refused: str) -> RefusedDocuments:
    if not refused.startswith(_TOPIC):
        return RefusedFile(Path(refused))
    if refused == to:
        raise InputError(f"{refused} is where documents are sent.", fix="Choose another topic for --refused.")
    return RefusedTopic(_topic(settings, refused, "--refused"))


def _topic(settings: Settings, where: str, option: str) -> KafkaCollector:
    topic, names = where.removeprefix(_TOPIC), settings.topic.names()
    if not is_legal_name(topic):
        raise InputError(f"{topic} is no name of a Kafka topic.", fix=f"Write {option} kafka:TOPIC.")
    if topic in {names.events, names.dead_letters, names.schemas, settings.materializer.openlineage_topic}:
        raise InputError(
            f"Headwater reads {topic} itself: events would go round in circles.", fix="Choose another topic."
        )
    return KafkaCollector(client_config(settings.kafka), topic)


@contextlib.contextmanager
def _served(forwarder: Forwarder, metrics: ForwardMetrics, host: str, port: int | None) -> Iterator[str]:
    """Serve metrics and health, if a port is given. Yields a sentence with the address for the log, or nothing."""
    if port is None:
        yield ""
        return
    try:
        server = HealthServer(forwarder, metrics.registry, port=port, host=host)
    except OSError as error:
        raise InputError(
            f"Metrics and health can't be served on {host}:{port}: {error.strerror}.",
            fix="Choose another --port; 0 takes a free one.",
        ) from error
    with contextlib.closing(server):
        yield f" Metrics and health on http://{host}:{server.port}."


def _shown(to: str) -> str:
    """Remove the query of a URL, which may contain a secret."""
    return to.partition("?")[0]


def _table(totals: ForwardTotals) -> Table:
    table = plain_table()
    for name, count in totals.document().items():
        table.add_row(name, f"{count:,}")
    return table


def _warn(text: str) -> None:
    log.warning("%s", text)


def _info(text: str) -> None:
    log.info("%s", text)
