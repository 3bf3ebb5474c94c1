"""Every metric of the HTTP server: name, unit and meaning, once. Labels come from closed sets: routes and statuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from headwater_analysis.checks import RULES
from headwater_analysis.incidents.figures import SeverityFigures, TimeTaken
from headwater_audit.writer import AuditWriter, Commit
from headwater_openlineage.intake.receiving import RefusalReason
from headwater_openlineage.intake.request import RequestOutcome
from headwater_openlineage.lenient import NoteKind
from headwater_schemas.events import IncidentSeverity
from headwater_server.identity.credentials import CredentialFault
from headwater_server.problems import ProblemType

# A `_created` series beside every counter would double the exposition.
disable_created_metrics()  # type: ignore[no-untyped-call]

_PREFIX = "headwater_serve"
# 2.5 ms to a minute: from one page of direct neighbours to a question at the default time limit.
_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_STATUSES = frozenset({200, 201, 207, 304, *(kind.status for kind in ProblemType)})
_OTHER = "other"
_NOT_STATED = "none"
"""Label of incidents without a severity."""


class _Registry(CollectorRegistry):
    """Registry in which each part of the server declares its metrics."""

    def gauge(self, name: str, about: str, *labels: str) -> Gauge:
        """Declare a gauge."""
        return Gauge(name, about, labels, registry=self)

    def seconds(self, name: str, about: str, *labels: str) -> Histogram:
        """Declare a histogram of durations."""
        return Histogram(name, about, labels, buckets=_SECONDS, registry=self)

    def counter(self, name: str, about: str, **label: type[StrEnum]) -> Counter:
        """Declare a counter, perhaps with a label whose values are those of an enum: every series begins at 0."""
        counter = Counter(name, about, tuple(label), registry=self)
        for values in label.values():
            for value in values:
                counter.labels(value.value)
        return counter


class RequestRejection(StrEnum):
    """Reasons for rejecting a whole request with events or declarations."""

    BUSY = "busy"
    KAFKA = "kafka"


class AuditResult(StrEnum):
    """Result of writing an audit record."""

    DURABLE = "durable"
    LOST = "lost"


class IntakeMetrics:
    """Metrics of the events endpoint: accepted, refused and rejected."""

    def __init__(self, registry: _Registry) -> None:
        self._accepted = registry.counter(
            f"{_PREFIX}_intake_accepted", "OpenLineage events that were published and acknowledged."
        )
        self._refused = registry.counter(
            f"{_PREFIX}_intake_refused",
            "OpenLineage events that were refused for good, by reason.",
            reason=RefusalReason,
        )
        self._noted = registry.counter(
            f"{_PREFIX}_intake_noted",
            "Notes on OpenLineage events that were accepted although they violate the specification, by kind.",
            kind=NoteKind,
        )
        self._rejected = registry.counter(
            f"{_PREFIX}_intake_rejected_requests",
            "Requests with events or declarations that were rejected as a whole, by reason; senders may try again.",
            reason=RequestRejection,
        )
        self._seconds = registry.seconds(
            f"{_PREFIX}_intake_duration_seconds",
            "Time from a request's complete body to Kafka's acknowledgement of all of its events.",
        )
        self.kafka_up = registry.gauge(
            f"{_PREFIX}_intake_kafka_up",
            "1 while events or declarations are accepted, and no fault on their way to Kafka is known.",
        )

    def rejected(self, reason: RequestRejection) -> None:
        """Count a request that was rejected as a whole."""
        self._rejected.labels(reason.value).inc()

    def answered(self, outcome: RequestOutcome, seconds: float) -> None:
        """Count the accepted and refused events of a request."""
        for refusal in outcome.refused.values():
            self._refused.labels(refusal.reason.value).inc()
        if outcome.unavailable is not None:
            self.rejected(RequestRejection.KAFKA)
            return
        for index, notes in outcome.notes.items():
            for note in notes if index not in outcome.refused else ():
                self._noted.labels(note.kind.value).inc()
        self._accepted.inc(outcome.accepted)
        self._seconds.observe(seconds)


class AuthenticationMetrics:
    """Metrics of access: refused requests, and the files of tokens, certificates and policies."""

    def __init__(self, registry: _Registry) -> None:
        self._refused = registry.counter(
            f"{_PREFIX}_refused_credentials",
            "Requests that were refused because of their credential, or without a credential, by reason.",
            reason=CredentialFault,
        )
        self.tokens_file_up = registry.gauge(
            f"{_PREFIX}_tokens_file_up", "1 while the file of API tokens can be read, or if none is configured."
        )
        self.tls_files_up = registry.gauge(
            f"{_PREFIX}_tls_files_up", "1 while the certificates in use are those of the files, or if there is no TLS."
        )
        self.access_file_up = registry.gauge(
            f"{_PREFIX}_access_file_up", "1 while the policies in use are those of the file, or if none is configured."
        )

    def refused(self, fault: CredentialFault) -> None:
        """Count a refused request."""
        self._refused.labels(fault.value).inc()


class AuditMetrics:
    """Metrics of the audit."""

    def __init__(self, registry: _Registry) -> None:
        self._records = registry.counter(
            f"{_PREFIX}_audit_records", "Audit records, by result: durable or lost.", result=AuditResult
        )
        self.refused = registry.counter(
            f"{_PREFIX}_audit_refused_requests",
            "Requests that were answered 503 because the audit couldn't be written.",
        )
        self._seconds = registry.seconds(
            f"{_PREFIX}_audit_commit_duration_seconds",
            "Time that the disk or Kafka takes for the records of one commit.",
        )
        self._broken = registry.gauge(
            f"{_PREFIX}_audit_broken", "1 while the audit can't be written; 0 without an audit."
        )

    def watch(self, writer: AuditWriter) -> None:
        """Record the commits of a writer."""
        self._broken.set_function(lambda: writer.problem is not None)
        writer.committed = self._committed

    def _committed(self, commit: Commit) -> None:
        self._records.labels(AuditResult.DURABLE.value).inc(commit.durable)
        self._records.labels(AuditResult.LOST.value).inc(commit.lost)
        self._seconds.observe(commit.seconds)


class CheckMetrics:
    """Metrics of the latest check of the rules: findings and exempted findings, by rule.

    Attributes:
        last_success: time of the latest check in which no rule took too long, in seconds since 1970.
    """

    def __init__(self, registry: _Registry) -> None:
        self._findings = registry.gauge(
            "headwater_check_findings", "Findings, by rule, without exempted findings.", "rule"
        )
        self._exempted = registry.gauge("headwater_check_exempted", "Exempted findings, by rule.", "rule")
        for rule in RULES:
            self._findings.labels(rule.name)
            self._exempted.labels(rule.name)
        self.last_success = registry.gauge(
            "headwater_check_last_success_timestamp_seconds",
            "Unix time of the last check of all rules; 0: none since the start.",
        )
        self.interval = registry.gauge(
            "headwater_check_interval_seconds", "Interval between two checks of all rules; 0: they are never checked."
        )

    def checked(self, found: Mapping[str, tuple[int, int]]) -> None:
        """Record findings and exemptions of each checked rule."""
        for rule, (findings, exempted) in found.items():
            self._findings.labels(rule).set(findings)
            self._exempted.labels(rule).set(exempted)


class IncidentMetrics:
    """Metrics of incidents as of the latest check of the rules, by severity."""

    def __init__(self, registry: _Registry) -> None:
        self._open = registry.gauge(
            "headwater_incidents_open",
            "Open incidents, by severity and by the time since their opening.",
            *("severity", "age"),
        )
        self._new = registry.gauge(
            "headwater_incidents_new",
            "Open incidents that nobody has acknowledged or been assigned to, by severity.",
            "severity",
        )
        self._acknowledge = registry.gauge(
            "headwater_incidents_acknowledge_median_seconds",
            "Median time from opening to acknowledgement of the last 90 days, by severity; 0: there was none.",
            "severity",
        )
        self._resolve = registry.gauge(
            "headwater_incidents_resolve_median_seconds",
            "Median time from opening to resolution of the last 90 days, by severity; 0: there was none.",
            "severity",
        )
        self.counted(())

    def counted(self, severities: Iterable[SeverityFigures]) -> None:
        """Record the figures of each severity; a severity that isn't given has no incidents."""
        found = {each.severity: each for each in severities}
        for severity in (*IncidentSeverity, None):
            figures, label = found.get(severity), _NOT_STATED if severity is None else severity.value
            for age in ("under_a_day", "under_a_week", "older"):
                self._open.labels(label, age).set(0 if figures is None else getattr(figures.open, age))
            self._new.labels(label).set(0 if figures is None else figures.new)
            self._acknowledge.labels(label).set(_median(None if figures is None else figures.to_acknowledge))
            self._resolve.labels(label).set(_median(None if figures is None else figures.to_resolve))


def _median(taken: TimeTaken | None) -> float:
    return 0.0 if taken is None or taken.median_seconds is None else taken.median_seconds


class ServeMetrics:
    """Metrics of one server, in a separate registry."""

    def __init__(self) -> None:
        self.registry = _Registry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._routes: frozenset[str] = frozenset()
        self._requests = Counter(
            f"{_PREFIX}_requests",
            "Requests that were answered, by route and status.",
            ["route", "status"],
            registry=self.registry,
        )
        self._seconds = self.registry.seconds(
            f"{_PREFIX}_request_duration_seconds",
            "Time from a request's arrival to the end of its answer, by route.",
            "route",
        )
        self._under_way = self.registry.gauge(f"{_PREFIX}_requests_under_way", "Requests not yet answered.")
        self.graph_up = self.registry.gauge(f"{_PREFIX}_graph_up", "1 if Neo4j answered at this scrape.")
        self.authentication = AuthenticationMetrics(self.registry)
        self.intake = IntakeMetrics(self.registry)
        self.checks = CheckMetrics(self.registry)
        self.incidents = IncidentMetrics(self.registry)
        self.audit = AuditMetrics(self.registry)
        build = self.registry.gauge(f"{_PREFIX}_build_info", "1; the release is in the label.", "version")
        build.labels(version("headwater")).set(1)

    def declare(self, routes: Iterable[str]) -> None:
        """Register the routes, so that every series with an alert starts at 0."""
        self._routes = frozenset(routes)
        for route in (*self._routes, _OTHER):
            self._seconds.labels(route)
            for status in (200, 500, 503, 504):
                self._requests.labels(route, str(status))

    def under_way(self) -> AbstractContextManager[None]:
        """Count a request in progress during the block."""
        return self._under_way.track_inprogress()

    def answered(self, route: str | None, status: int, seconds: float) -> None:
        """Record an answered request; `route` is its path's pattern, if it has one."""
        named = route if route in self._routes else _OTHER
        self._requests.labels(named, str(int(status)) if status in _STATUSES else _OTHER).inc()
        self._seconds.labels(named).observe(seconds)
