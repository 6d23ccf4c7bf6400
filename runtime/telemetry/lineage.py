"""Events of OpenLineage about runs: START, then COMPLETE or FAIL; off unless its own variables say where to.

Source: openlineage.io/spec (2-0-2); variables: openlineage.io/docs/client/python.
"""

import logging
import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from runtime.telemetry.delivery import Once, Say
from schemas.extras import install_line
from schemas.program import program_version

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

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


class LineageSender(Protocol):
    """Tells of one run; what goes wrong with that is one line, and never an error of the run."""

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
    return _Emitter(say) if lineage_wanted(environ) else NoLineage()


class NoLineage:
    """Tells nothing."""

    def start(self, run: LineageRun, *, at: str) -> None:
        """Tell nothing."""

    def end(self, run: LineageRun, end: LineageEnd, *, at: str) -> None:
        """Tell nothing."""

    def close(self) -> None:
        """Wait for nothing."""


class _Emitter:
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
    source_facets: dict[str, Any] = (
        {"dataSource": facet_v2.datasource_dataset.DatasourceDatasetFacet(name=run.source, uri=run.uri)}
        if run.uri
        else {}
    )
    return event_v2.RunEvent(
        eventType=_state(end, event_v2.RunState),
        eventTime=at,
        run=event_v2.Run(runId=run.run, facets=_run_facets(end)),
        job=event_v2.Job(namespace=run.namespace, name=f"{JOB}.{run.source}", facets=_job_facets()),
        inputs=[event_v2.InputDataset(namespace=run.namespace, name=run.source, facets=source_facets)],
        outputs=[_output(run, end)],
        producer=f"urn:sitegraph:{program_version()}",
    )


def _state(end: LineageEnd | None, states: Any) -> Any:
    if end is None:
        return states.START
    return states.FAIL if end.error is not None else states.COMPLETE


def _run_facets(end: LineageEnd | None) -> dict[str, Any]:
    from openlineage.client import facet_v2

    if end is None or end.error is None:
        return {}
    message = facet_v2.error_message_run.ErrorMessageRunFacet(message=end.error, programmingLanguage="PYTHON")
    return {"errorMessage": message}


def _job_facets() -> dict[str, Any]:
    from openlineage.client import facet_v2

    job = facet_v2.job_type_job.JobTypeJobFacet(
        processingType="BATCH", integration="SITEGRAPH", jobType="JOB"
    )
    return {"jobType": job}


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
