"""What others are sent aside from the work: spans by OpenTelemetry, events of runs by OpenLineage.

Each is off unless its own variables say where to. Names and defaults of those of spans:
opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from schemas.settings import install_line, program_version

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

SECONDS = 3.0
"""How long the end of a run waits for what it tells others to be delivered."""

Say = Callable[[str], None]
"""Takes the one line that a failure is worth."""


class Once:
    """Says the first line it is given, and no other: whoever cannot be reached now was not, a moment ago."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._said = False

    def __call__(self, line: str) -> None:
        with self._lock:
            said, self._said = self._said, True
        if not said:
            self._say(line)


def finish_within(seconds: float, works: Iterable[Callable[[], object]]) -> bool:
    """Do all *works* side by side; whether they ended in time. What did not ends with the process."""
    threads = [threading.Thread(target=work, daemon=True, name="telemetry") for work in works]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


SERVICE = "sitegraph"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HTTP = "http/protobuf"

Value = str | int | float | bool


class OpenSpan:
    """A span that has begun, of which nobody is told."""

    def set(self, **attributes: Value | None) -> None:
        """Add attributes, `sitegraph.` before their names; None is left out."""

    def fail(self, message: str) -> None:
        """Say that what the span is about failed, and why."""


class Spans:
    """Makes spans, here of which nobody is told; what goes wrong with others is one line, and no error."""

    def begin(self, name: str, *, parent: Any = None) -> OpenSpan:  # noqa: ARG002
        """Begin a span; *parent* is one of these, or the headers of a request that may name its own."""
        return OpenSpan()

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
        return Spans()
    if refusal := _refusal(environ):
        say(f"OpenTelemetry: {refusal}; no spans are sent")
        return Spans()
    try:
        return _SdkSpans(say)
    except ModuleNotFoundError as error:
        say(f"OpenTelemetry: needs {error.name}, which is not installed; run: {install_line('otel')}")
    except Exception as error:  # noqa: BLE001 - a variable may be wrong in any way, and a run goes on without
        say(f"OpenTelemetry: {error}; no spans are sent")
    return Spans()


def _refusal(environ: Mapping[str, str]) -> str | None:
    exporter = environ.get("OTEL_TRACES_EXPORTER", "otlp").strip() or "otlp"
    if exporter != "otlp":
        return f"OTEL_TRACES_EXPORTER={exporter} is not known; use otlp or none"
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), _HTTP)
    return None if protocol == _HTTP else f"protocol {protocol} is not known; use {_HTTP}"


class _SdkSpan(OpenSpan):
    def __init__(self, span: "Span") -> None:
        self.span = span

    def set(self, **attributes: Value | None) -> None:
        for name, value in attributes.items():
            if value is not None:
                self.span.set_attribute(f"sitegraph.{name}", value)

    def fail(self, message: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        self.span.set_status(Status(StatusCode.ERROR, message))


class _SdkSpans(Spans):
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


JOB = "index-source"
_NAMED = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")
_TRANSPORT = "OPENLINEAGE__TRANSPORT"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageRun:
    """What an event is about: a source that goes into the generation of an index.

    `run` is a UUID; `uri` is where the source begins, `namespace` that of the job and of the source.
    """

    run: str
    namespace: str
    source: str
    uri: str | None
    index: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageEnd:
    """How a run ended: with the generation that readers see then and its rows, or by an error."""

    generation: int | None = None
    rows: int | None = None
    error: str | None = None


class LineageSender:
    """Tells of one run, here nobody; what goes wrong with it is one line, and never an error of the run."""

    def start(self, run: LineageRun, *, at: str) -> None:
        """Tell that it begins; times are ISO 8601."""

    def end(self, run: LineageRun, end: LineageEnd, *, at: str) -> None:
        """Tell how it ended."""

    def close(self) -> None:
        """Wait until everything is delivered, or cannot be."""


def lineage_wanted(environ: Mapping[str, str]) -> bool:
    """Whether the client's own variables ask for events; a file that merely lies about does not."""
    if environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    return any(environ.get(name) for name in _NAMED) or any(name.startswith(_TRANSPORT) for name in environ)


def lineage_run(environ: Mapping[str, str], *, source: str, uri: str | None, index: str) -> LineageRun:
    """Return a run to tell of; one that is resumed is another one, since its first end has been told."""
    namespace = environ.get("OPENLINEAGE_NAMESPACE") or "default"
    return LineageRun(run=str(uuid4()), namespace=namespace, source=source, uri=uri, index=index)


def open_lineage(environ: Mapping[str, str], *, say: Say) -> LineageSender:
    """Return what tells of runs as the variables say; without them, what tells nothing."""
    return _Emitter(say) if lineage_wanted(environ) else LineageSender()


class _Emitter(LineageSender):
    """A thread of its own: a receiver that is away is tried for half a minute, which no run waits."""

    def __init__(self, say: Say) -> None:
        self._say = Once(say)
        self._waiting: queue.SimpleQueue[tuple[LineageRun, LineageEnd | None, str] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._work, daemon=True, name="openlineage")
        self._thread.start()

    def start(self, run: LineageRun, *, at: str) -> None:
        self._waiting.put((run, None, at))

    def end(self, run: LineageRun, end: LineageEnd, *, at: str) -> None:
        self._waiting.put((run, end, at))

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        client: Any = None
        while (told := self._waiting.get()) is not None:
            try:
                client = client or _open_client()
                client.emit(build_event(*told))
            except ModuleNotFoundError as error:
                line = f"needs {error.name}, which is not installed; run: {install_line('openlineage')}"
                self._say(f"OpenLineage: {line}")
            except Exception as error:  # noqa: BLE001 - whatever it is, the event is lost and nothing else
                self._say(f"OpenLineage: events cannot be sent ({type(error).__name__})")


def _open_client() -> Any:
    from openlineage.client import OpenLineageClient

    # What it and its HTTP client say of each try would be many lines; ours is one.
    for name in ("openlineage", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return OpenLineageClient()


def build_event(run: LineageRun, end: LineageEnd | None, at: str) -> "RunEvent":
    """Return the event that a run begins, or ends as *end* says.

    The source is the input, named in the namespace of the job; the index is the output, a folder of the file
    system, whose version is its generation.
    """
    from openlineage.client import event_v2, facet_v2

    event_v2.set_producer(f"urn:sitegraph:{program_version()}")
    states = event_v2.RunState
    run_facets: dict[str, Any] = {}
    source_facets: dict[str, Any] = {}
    if end is not None and end.error is not None:
        run_facets["errorMessage"] = facet_v2.error_message_run.ErrorMessageRunFacet(
            message=end.error, programmingLanguage="PYTHON"
        )
    if run.uri:
        of_source = facet_v2.datasource_dataset.DatasourceDatasetFacet(name=run.source, uri=run.uri)
        source_facets["dataSource"] = of_source
    kind = facet_v2.job_type_job.JobTypeJobFacet(
        processingType="BATCH", integration="SITEGRAPH", jobType="JOB"
    )
    return event_v2.RunEvent(
        eventType=states.START if end is None else states.FAIL if end.error else states.COMPLETE,
        eventTime=at,
        run=event_v2.Run(runId=run.run, facets=run_facets),
        job=event_v2.Job(namespace=run.namespace, name=f"{JOB}.{run.source}", facets={"jobType": kind}),
        inputs=[event_v2.InputDataset(namespace=run.namespace, name=run.source, facets=source_facets)],
        outputs=[_output(run, end)],
        producer=f"urn:sitegraph:{program_version()}",
    )


def _output(run: LineageRun, end: LineageEnd | None) -> Any:
    from openlineage.client import event_v2, facet_v2

    facets: dict[str, Any] = {}
    statistics: dict[str, Any] = {}
    if end is not None and end.generation is not None:
        version = str(end.generation)
        facets["version"] = facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet(
            datasetVersion=version
        )
    if end is not None and end.rows is not None:
        rows = facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=end.rows)
        statistics["outputStatistics"] = rows
    return event_v2.OutputDataset(namespace="file", name=run.index, facets=facets, outputFacets=statistics)
