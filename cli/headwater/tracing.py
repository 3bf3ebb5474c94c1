"""Traces of the services for an OpenTelemetry collector, if OpenTelemetry's standard variables name one.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 headwater consume

OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS and the other variables of OpenTelemetry's SDK also
apply. While the collector is unavailable, spans are lost, but no events or answers.

References:
    https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from headwater.console import console
from headwater.errors import ConfigurationError
from headwater_schemas.tracing import trace_with

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_DISABLED: Final = "OTEL_SDK_DISABLED"


def start_tracing(service: str) -> None:
    """Send spans of this process to the configured collector, if any, until the command ends.

    Args:
        service: `service.name` of the spans, unless OTEL_SERVICE_NAME is set.

    Raises:
        ConfigurationError: a collector is configured, but OpenTelemetry's packages aren't installed.
    """
    if not any(map(os.environ.get, _ENDPOINTS)) or os.environ.get(_DISABLED, "").lower() == "true":
        return
    console.until_end.enter_context(_tracing(service))


@contextlib.contextmanager
def _tracing(service: str) -> Iterator[None]:
    try:
        provider = _provider(service)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT names a collector, but OpenTelemetry's SDK isn't installed.",
            fix="Install the extra: pip install 'headwater[tracing]'.",
        ) from error
    trace_with(_Spans(provider))
    try:
        yield
    finally:
        trace_with(None)
        provider.shutdown()


def _provider(service: str) -> TracerProvider:
    from importlib.metadata import version

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: service}
    resource = Resource.create({**named, SERVICE_VERSION: version("headwater")})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class _Spans:
    """Spans of OpenTelemetry's SDK."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracer = provider.get_tracer("headwater")
        self._propagator = TraceContextTextMapPropagator()

    @contextlib.contextmanager
    def span(self, name: str, attributes: Mapping[str, Any], *, carrier: Mapping[str, str] | None) -> Iterator[Any]:
        """See `Spans`."""
        parent = None if carrier is None else self._propagator.extract(carrier)
        # Only the type of an exception is recorded: its message may contain names of datasets, and secrets.
        with self._tracer.start_as_current_span(
            name, context=parent, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as found:
            try:
                yield found
            except BaseException as error:
                from opentelemetry.trace import Status, StatusCode

                found.set_attribute("error.type", type(error).__qualname__)
                found.set_status(Status(StatusCode.ERROR))
                raise

    def current(self) -> str | None:
        """See `Spans`."""
        from opentelemetry.trace import format_trace_id, get_current_span

        context = get_current_span().get_span_context()
        return format_trace_id(context.trace_id) if context.is_valid else None
