"""What task runs are called in Prefect: by their step, their source, and how much they were given."""

from collections.abc import Callable, Mapping
from typing import Any

from flows.run.registry import active


def named(step: str, documents: str | None = None) -> Callable[..., str]:
    """Return what names a task run of a step: `verify handbook`, or `embed handbook: 50 documents`.

    *documents* is the parameter that lists them; the first parameter of every such task is `run_id`.
    """

    def name(parameters: Mapping[str, Any]) -> str:
        told = f"{step} {active(parameters['run_id']).source.name}"
        return told if documents is None else f"{told}: {told_documents(len(parameters[documents]))}"

    return name


def batch_named(step: str) -> Callable[..., str]:
    """Return what names a task run over one batch: `fetch handbook: docs.example.org-0, 100 documents`."""

    def name(parameters: Mapping[str, Any]) -> str:
        batch = parameters["batch"]
        told = f"{step} {active(parameters['run_id']).source.name}"
        return f"{told}: {batch['name']}, {told_documents(len(batch['uris']))}"

    return name


def told_documents(number: int) -> str:
    """Write a number of documents as people do."""
    return "1 document" if number == 1 else f"{number} documents"
