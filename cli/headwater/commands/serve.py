"""`headwater serve`: the graph's questions over HTTP, and the page that draws lineage."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from headwater.auditing import opened_audit
from headwater.connection import require_servers
from headwater.console import JsonOption, console
from headwater.errors import ConfigurationError, InputError
from headwater.graph_reader import translated
from headwater.kafka_errors import asking_kafka
from headwater.logs import LogFormatOption, fields, start_logging
from headwater.options import TenantOption
from headwater.publishing import PublisherSink, publisher_settings
from headwater.served_graph import policy_and_exemptions, served_graph
from headwater.settings import Settings, connected_settings
from headwater.stopping import stopped_by_signals
from headwater.tracing import start_tracing
from headwater_analysis.errors import AnalysisError
from headwater_consumers.materializer.garbage import rare_collections
from headwater_producers.publisher import Publisher
from headwater_server.access import configured_authentication, configured_tls
from headwater_server.app import create_app
from headwater_server.asking import BELOW
from headwater_server.authorization import AccessFileError, Authorization
from headwater_server.identity import Scope
from headwater_server.identity.authentication import Authentication
from headwater_server.identity.tokens import TokensFileError
from headwater_server.middleware.intake import DECLARATIONS, ONE
from headwater_server.server import HttpServer
from headwater_server.settings import AccessSettingsError, ServeSettings
from headwater_server.tls import ServerTls

_MINUTE_SECONDS = 60
# Short, because a sender waits for it. Events that arrive at the same time still share a request to the broker.
_LINGER_MILLISECONDS = 2
# After this time no client waits for an event any more, and its sender has probably sent it again.
_DELIVERY_SECONDS = 60.0
_CLOSE_SECONDS = 5.0

log = logging.getLogger("headwater.serve")


def command(
    *,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one, which is logged.")] = None,
    tenant: TenantOption = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Host name of this server in requests; repeatable; `*` allows any. Required if --host isn't a "
            "loopback address."
        ),
    ] = None,
    allow_anonymous_reads: Annotated[
        bool | None,
        typer.Option("--allow-anonymous-reads", help="Let everybody who reaches the server read the graph."),
    ] = None,
    tls_certificate: Annotated[
        str | None, typer.Option(help="The file (PEM) of the server's certificate and chain, for HTTPS.")
    ] = None,
    tls_key: Annotated[str | None, typer.Option(help="The file (PEM) of the certificate's key.")] = None,
    tls_client_ca: Annotated[
        str | None, typer.Option(help="The file (PEM) of authorities whose client certificates log in.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="A policy file (TOML) for impacts, instead of the one that comes with Headwater.")
    ] = None,
    log_format: LogFormatOption = None,
    json_output: JsonOption = False,
) -> None:
    """Answer questions to the graph over HTTP, and draw lineage on a page, until stopped.

    /docs and /openapi.json describe the API, /livez and /readyz report its health, /metrics has its metrics. Ctrl-C or
    SIGTERM lets current requests finish and exits 0. While Neo4j is unreachable, questions get status 503. With
    HEADWATER_SERVE_INTAKE=true, the server also accepts OpenLineage events, and with HEADWATER_SERVE_DECLARE=true
    declarations.
    """
    flags = {
        "serve.host": host,
        "serve.port": port,
        "serve.allowed_hosts": None if allowed_host is None else ",".join(allowed_host),
        "serve.allow_anonymous_reads": allow_anonymous_reads,
        "serve.tls_certificate": tls_certificate,
        "serve.tls_key": tls_key,
        "serve.tls_client_ca": tls_client_ca,
        "serve.policy": policy,
        "analysis.tenant": tenant,
        "log.format": log_format,
    }
    settings = connected_settings(flags, neo4j=True, silently=True)  # the log has the servers
    authentication, tls = _access(settings.serve)
    authorization = _authorization(settings.serve)
    _check_names(settings.serve)
    judging = policy_and_exemptions(settings.serve)
    start_logging(settings.log).addFilter(RepeatLimit())
    start_tracing("headwater-serve")
    audit = opened_audit(settings, "serve")
    if audit is not None:
        console.until_end.callback(audit.writer.close)
    publisher = _publisher(settings) if settings.serve.intake or settings.serve.declare else None
    sink = None if publisher is None else PublisherSink(publisher)
    graph = served_graph(settings, judging, audit=audit, sink=sink, authorization=authorization)
    target = graph.target
    try:
        server = HttpServer(graph, create_app(graph, authentication, tls), tls)
    except OSError as error:
        graph.driver.close()
        if publisher is not None:
            publisher.close(0)
        raise InputError(
            f"Nothing can be served on {settings.serve.host}:{settings.serve.port}: {error.strerror}.",
            fix="Choose another HEADWATER_SERVE_PORT or --port (0 takes a free one), or HEADWATER_SERVE_HOST.",
        ) from error
    with contextlib.closing(server), _closed_at_end(publisher):
        try:
            answers = server.check()
        except AnalysisError as error:
            raise translated(error) from error
        if not answers:
            console.warning(f"Neo4j doesn't answer at {target.uri} yet; until it does, questions get status 503.")
        url = server.url
        # Signals are handled first: a process that waits for this line may stop the server at once.
        with stopped_by_signals(server.stop):
            log.info(
                "Lineage on %s/, its API on %s/docs; from Neo4j %s, database %s, tenant %s.",
                url,
                url,
                target.uri,
                target.database,
                settings.analysis.tenant,
                extra=fields(url=url, neo4j=target.uri, database=target.database, tenant=settings.analysis.tenant),
            )
            _log_intake(settings, url, authentication)
            if audit is not None:
                log.info("Requests are recorded in %s.", audit.writer)
            with rare_collections():
                server.run()
    console.result({"stopped": True, "url": url}, "Stopped.")


def _publisher(settings: Settings) -> Publisher:
    """Create the publisher of accepted events.

    Raises:
        ConfigurationError: no producer accepts the settings.
        NotConfiguredError: no Kafka is configured.
    """
    with asking_kafka(settings.kafka, doing=f"publishing to {settings.topic.names().events}"):
        return Publisher(
            publisher_settings(
                settings,
                client_id="headwater-serve",
                linger_milliseconds=_LINGER_MILLISECONDS,
                max_buffered_bytes=settings.serve.intake_buffer_max_bytes,
                delivery_timeout_seconds=_DELIVERY_SECONDS,
            ),
            settings.topic.names(),
        )


@contextlib.contextmanager
def _closed_at_end(publisher: Publisher | None) -> Iterator[None]:
    """Close the publisher at the end, after sending queued events if Kafka accepts them."""
    try:
        yield
    finally:
        if publisher is not None:
            publisher.close(_CLOSE_SECONDS)


def _log_intake(settings: Settings, url: str, authentication: Authentication) -> None:
    serve, topic = settings.serve, settings.topic.names().events
    for what, is_open, path, scope in (
        ("OpenLineage events", serve.intake, ONE, Scope.WRITE),
        ("Declarations", serve.declare, DECLARATIONS, Scope.DECLARE),
    ):
        if not is_open:
            continue
        log.info(
            "%s are accepted at %s%s%s, %s, and published to %s at %s.",
            what,
            url,
            BELOW,
            path,
            f"with the scope {scope}" if authentication.configured else "from this machine, without a credential",
            topic,
            require_servers(settings.kafka),
            extra=fields(topic=topic, kafka=require_servers(settings.kafka)),
        )


class RepeatLimit(logging.Filter):
    """Log filter that limits how often a message is logged in a minute; the next such message has the left-out number.

    Messages are equal if they have the same logger and format text, whatever their values. Anybody who reaches the port
    can cause warnings at network speed, which must not fill the disk.

    Args:
        most: maximum number of times a minute.
        clock: monotonic seconds.
    """

    def __init__(self, most: int = 20, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most = most
        self._clock = clock
        self._began = clock()
        self._seen: Counter[tuple[str, str]] = Counter()
        self._left_out: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True when the record is to be logged."""
        if (now := self._clock()) - self._began >= _MINUTE_SECONDS:
            self._began = now
            for message, times in self._seen.items():
                if times > self._most:
                    self._left_out[message] += times - self._most
            self._seen.clear()
        message = (record.name, str(record.msg).partition("\n")[0])
        self._seen[message] += 1
        if self._seen[message] > self._most:
            return False
        if left_out := self._left_out.pop(message, 0):
            record.msg = f"{record.msg} (and {left_out:,} times more that weren't logged)"
        return True


def _access(serve: ServeSettings) -> tuple[Authentication, ServerTls | None]:
    """Return the configured ways to log in, and TLS.

    Raises:
        ConfigurationError: the settings contradict each other, let everybody on the network ask, or let nobody send.
    """
    try:
        authentication = configured_authentication(serve)
        tls = configured_tls(serve, authentication)
    except AccessSettingsError as error:
        raise ConfigurationError(str(error), fix=error.fix) from error
    except TokensFileError as error:
        raise ConfigurationError(str(error), fix="Correct the file of HEADWATER_SERVE_TOKENS_FILE.") from error
    if authentication.configured:
        return authentication, tls
    if serve.allow_anonymous_reads and (serve.intake or serve.declare):
        raise ConfigurationError(
            "Events or declarations are accepted from nobody: there is no way to log in, and "
            "HEADWATER_SERVE_ALLOW_ANONYMOUS_READS lets everybody read only.",
            fix="Set HEADWATER_SERVE_TOKENS_FILE, and create a token with `headwater token create NAME --scope write`.",
        )
    if not serve.loopback and not serve.allow_anonymous_reads:
        raise ConfigurationError(
            f"{serve.host} isn't a loopback address, and there is no way to log in: everybody who can reach it could "
            "read the graph.",
            fix="Set HEADWATER_SERVE_TOKENS_FILE and create a token with `headwater token create`, or set another way "
            "to log in; --allow-anonymous-reads lets everybody read.",
        )
    return authentication, tls


def _authorization(serve: ServeSettings) -> Authorization | None:
    """Make the authorisation from the file of policies; None: everybody sees everything.

    Raises:
        ConfigurationError: the file can't be read, or has a mistake.
    """
    if serve.access_file is None:
        return None
    try:
        return Authorization(Path(serve.access_file), refresh_seconds=serve.access_refresh_seconds)
    except AccessFileError as error:
        raise ConfigurationError(f"{error}.", fix="Check it with `headwater policy check`.") from error


def _check_names(serve: ServeSettings) -> None:
    """Refuse to listen on a reachable address without configured host names."""
    if serve.allowed_hosts.strip(", "):
        if serve.hosts() is None and not serve.loopback:
            console.warning(
                "Any host name is allowed (HEADWATER_SERVE_ALLOWED_HOSTS): a web site whose own name points to this "
                "address can read the graph through a visitor's browser."
            )
        return
    if not serve.loopback:
        raise InputError(
            f"{serve.host} isn't a loopback address, and no host names of this server are configured.",
            fix="Name them with --allowed-host or HEADWATER_SERVE_ALLOWED_HOSTS, as clients spell them: "
            "lineage.example.org. Without them, a web site could read the graph through a visitor's browser.",
        )
