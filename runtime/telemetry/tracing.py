"""Spans by OpenTelemetry, over OTLP and HTTP; off unless its own variables say where to.

Names and defaults of the variables: opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from runtime.telemetry.delivery import Once, Say
from schemas.extras import install_line
from schemas.program import program_version

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

SERVICE = "sitegraph"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"

Value = str | int | float | bool


class OpenSpan(Protocol):
    """A span that has begun."""

    def set(self, **attributes: Value | None) -> None:
        """Add attributes, `sitegraph.` before their names; None is left out."""

    def fail(self, message: str) -> None:
        """Say that what the span is about failed, and why."""


class Spans(Protocol):
    """Makes spans; what goes wrong with them is one line, and never an error of whoever makes them."""

    def begin(self, name: str, *, parent: Any = None) -> OpenSpan:
        """Begin a span; *parent* is one of these, or the headers of a request that may name its own."""

    def end(self, span: OpenSpan) -> None:
        """End a span."""

    def close(self) -> None:
        """Deliver what has ended; may take as long as the receiver takes."""


def tracing_wanted(environ: Mapping[str, str]) -> bool:
    """Whether the standard variables ask for spans."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").strip()
    if exporter:
        return exporter != "none"
    return any(environ.get(name, "").strip() for name in _ENDPOINTS)


def open_spans(environ: Mapping[str, str], *, say: Say) -> Spans:
    """Return what makes spans as the variables say; where they cannot be or are not set, what makes none."""
    if not tracing_wanted(environ):
        return NoSpans()
    if refusal := _refusal(environ):
        say(f"OpenTelemetry: {refusal}; no spans are sent")
        return NoSpans()
    try:
        return _SdkSpans(say)
    except ModuleNotFoundError as error:
        say(f"OpenTelemetry: needs {error.name}, which is not installed; run: {install_line('otel')}")
    except Exception as error:  # noqa: BLE001 - a variable may be wrong in any way, and a run goes on without
        say(f"OpenTelemetry: {error}; no spans are sent")
    return NoSpans()


def _refusal(environ: Mapping[str, str]) -> str | None:
    exporter = environ.get("OTEL_TRACES_EXPORTER", "otlp").strip() or "otlp"
    if exporter != "otlp":
        return f"OTEL_TRACES_EXPORTER={exporter} is not known; use otlp or none"
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), _HTTP)
    return None if protocol == _HTTP else f"protocol {protocol} is not known; use {_HTTP}"


class NoSpans:
    """Makes none."""

    def begin(self, name: str, *, parent: Any = None) -> OpenSpan:  # noqa: ARG002
        """Begin nothing."""
        return _NoSpan()

    def end(self, span: OpenSpan) -> None:
        """End nothing."""

    def close(self) -> None:
        """Deliver nothing."""


class _NoSpan:
    def set(self, **attributes: Value | None) -> None:
        pass

    def fail(self, message: str) -> None:
        pass


class _SdkSpan:
    def __init__(self, span: "Span") -> None:
        self.span = span

    def set(self, **attributes: Value | None) -> None:
        for name, value in attributes.items():
            if value is not None:
                self.span.set_attribute(f"sitegraph.{name}", value)

    def fail(self, message: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        self.span.set_status(Status(StatusCode.ERROR, message))


class _SdkSpans:
    """Spans of a provider of our own: a global one would be given the spans of libraries, too."""

    def __init__(self, say: Say) -> None:
        self._provider = _provider(Once(say))
        self._tracer: Tracer = self._provider.get_tracer("sitegraph", program_version())

    def begin(self, name: str, *, parent: Any = None) -> OpenSpan:
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        if isinstance(parent, _SdkSpan):
            return _SdkSpan(self._tracer.start_span(name, set_span_in_context(parent.span, Context())))
        if parent is None:
            return _SdkSpan(self._tracer.start_span(name, Context()))
        asked_by = TraceContextTextMapPropagator().extract(parent, Context())
        return _SdkSpan(self._tracer.start_span(name, asked_by, kind=SpanKind.SERVER))

    def end(self, span: OpenSpan) -> None:
        if isinstance(span, _SdkSpan):
            span.span.end()

    def close(self) -> None:
        self._provider.shutdown()


def _provider(say: Say) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    # What it says of each try would be many lines; ours is one.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)

    class Exporter(SpanExporter):
        def __init__(self) -> None:
            self._inner = OTLPSpanExporter()

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            try:
                result = self._inner.export(spans)
            except Exception as error:  # noqa: BLE001 - whatever it is, the spans are lost and nothing else
                say(f"OpenTelemetry: spans cannot be sent ({type(error).__name__})")
                return SpanExportResult.FAILURE
            if result is not SpanExportResult.SUCCESS:
                say("OpenTelemetry: spans cannot be sent; the receiver is away, or refuses them")
            return result

        def shutdown(self) -> None:
            self._inner.shutdown()  # type: ignore[no-untyped-call]

    ours = Resource.create({"service.name": SERVICE, "service.version": program_version()})
    # Last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over ours.
    resource = ours.merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Exporter()))
    return provider
