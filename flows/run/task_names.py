"""What task runs are called in Prefect: by their stage, their source, and how much they were given."""

from collections.abc import Callable, Mapping
from typing import Any


def named(stage: str) -> Callable[..., str]:
    """Return what names a task run of a stage: `verify handbook`."""
    return lambda parameters: f"{stage} {_source(parameters)}"


def wave_named(parameters: Mapping[str, Any]) -> str:
    """Name the planning of a wave: `plan handbook: wave 2`."""
    return f"plan {_source(parameters)}: wave {parameters['number']}"


def batch_named(stage: str) -> Callable[..., str]:
    """Return what names a task run over one batch: `fetch handbook: docs.example.org-0, 100 documents`."""

    def name(parameters: Mapping[str, Any]) -> str:
        batch = parameters["batch"]
        return f"{stage} {_source(parameters)}: {batch.name}, {count_documents(len(batch.uris))}"

    return name


def embed_named(parameters: Mapping[str, Any]) -> str:
    """Name the embedding of some documents: `embed handbook: 50 documents`."""
    return f"embed {_source(parameters)}: {count_documents(len(parameters['compared'].fragments))}"


def compared_named(stage: str) -> Callable[..., str]:
    """Return what names a task run over all that changed: `link handbook: 12 documents`."""
    return lambda parameters: (
        f"{stage} {_source(parameters)}: {count_documents(parameters['compared'].documents)}"
    )


def generation_named(stage: str) -> Callable[..., str]:
    """Return what names a task run over a generation: `write handbook: generation 7`."""
    return lambda parameters: f"{stage} {_source(parameters)}: generation {parameters['frozen'].generation}"


def count_documents(number: int) -> str:
    """Write a number of documents as people do."""
    return "1 document" if number == 1 else f"{number} documents"


def _source(parameters: Mapping[str, Any]) -> str:
    source: str = parameters["run"].source
    return source
