"""What our packages log while a flow runs, as records of the flow run in Prefect; needs no settings."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler

from runtime.driver_logs import show_errors_alone
from schemas.errors import SitegraphError
from schemas.redaction import one_line

PACKAGES = ("sitegraph", "runtime", "flows", "ingest", "indexes", "retrieval")


@contextmanager
def forwarded_logs() -> Iterator[None]:
    """Send what our packages log inside the block to the flow run that the caller is in.

    From the level on that Prefect's own records have (`PREFECT_LOGGING_LEVEL`), and from every thread: what
    a task says is the task's, what a thread of ours says is the flow's. Outside a flow run nothing is sent.
    Drivers that write to stderr by themselves tell errors alone from then on.
    """
    show_errors_alone()
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        yield
        return
    _tell_without_traceback()
    handler = _handler(str(context.flow_run.id))
    level = logging.getLogger("prefect.flow_runs").getEffectiveLevel()
    with ExitStack() as stack:
        for name in PACKAGES:
            stack.enter_context(_attached(logging.getLogger(name), handler, level))
        yield


@contextmanager
def _attached(logger: logging.Logger, handler: logging.Handler, level: int) -> Iterator[None]:
    """Add the handler in place of Prefect's own, which loses what is said outside tasks."""
    before, theirs = logger.level, [h for h in logger.handlers if isinstance(h, APILogHandler)]
    for other in theirs:
        logger.removeHandler(other)
    logger.addHandler(handler)
    logger.setLevel(before or level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        for other in theirs:
            logger.addHandler(other)
        logger.setLevel(before)


def _handler(flow_run_id: str) -> logging.Handler:
    handler = APILogHandler()
    handler.setFormatter(_OneLine())
    handler.addFilter(_OfRun(flow_run_id))
    return handler


class _OneLine(logging.Formatter):
    """The message alone, without secrets; Prefect keeps logger, level and time beside it."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record))


class _OfRun(logging.Filter):
    """Takes a record for the flow run unless a task of it, or another run of this process, said it."""

    def __init__(self, flow_run_id: str) -> None:
        super().__init__()
        self._flow_run_id = flow_run_id

    def filter(self, record: logging.LogRecord) -> bool:
        if task := TaskRunContext.get():
            return str(task.task_run.flow_run_id) == self._flow_run_id
        flow = FlowRunContext.get()
        if flow is not None and flow.flow_run is not None:
            return str(flow.flow_run.id) == self._flow_run_id
        record.flow_run_id = self._flow_run_id
        return True


class _OnPurpose(logging.Filter):
    """Has Prefect tell an error that was raised on purpose in one line: no traceback explains it better."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if not isinstance(error, SitegraphError):
            return True
        record.msg, record.args, record.exc_info = one_line(str(error)), (), None
        # The flow itself has told it by then, in its log and as the message of its state.
        return record.name != "prefect.flow_runs"


_ON_PURPOSE = _OnPurpose()


def _tell_without_traceback() -> None:
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_ON_PURPOSE)
