"""Whose work the threads of libraries and the child processes do, as far as that can be told."""

from collections.abc import Iterable

from schemas.cost import Cause

WITHOUT_POOLS = frozenset({Cause.PREFECT, Cause.FETCH, Cause.PARSE})
"""Causes that may wait in many threads for long, and have no library work for them in threads of its own."""

_STORE_THREADS = ("lance", "tokio")
"""How LanceDB names its threads (lance-cpu, tokio-runtime-w); those of ONNX and BLAS have no name."""

_PROGRAMS = (
    ("runtime.processes.parser_child", Cause.PARSE),
    ("flows.server.child", Cause.PREFECT),
    ("playwright", Cause.FETCH),
    ("chrom", Cause.FETCH),
)

ENCODER_PROCESS = "encode"
_WORKERS = ("dask", "raylet", "ray::", "gcs_server")


def cause_of_thread(name: str, active: Iterable[Cause]) -> Cause:
    """Say what a library's thread works for, by its name and what our threads are at meanwhile.

    The store's work for the only one of them that uses it, others for the encoder while that is at work.
    """
    causes = set(active) - WITHOUT_POOLS
    if name.startswith(_STORE_THREADS):
        causes.discard(Cause.EMBED)
    elif Cause.EMBED in causes:
        return Cause.EMBED
    return causes.pop() if len(causes) == 1 else Cause.OTHER


def cause_of_ended(active: Iterable[Cause]) -> Cause:
    """Say what a child was for that came and went between two looks: what alone was done meanwhile."""
    causes = set(active) - {Cause.PREFECT}
    return causes.pop() if len(causes) == 1 else Cause.OTHER


def cause_of_process(command: str, name: str) -> Cause | None:
    """Say what a child process works for; None for one that tells of itself, as workers do.

    Args: command: its arguments. name: what this program calls it, if it does.
    """
    if any(worker in f"{name} {command}".lower() for worker in _WORKERS):
        return None
    if name == ENCODER_PROCESS:
        return Cause.EMBED
    return next((cause for part, cause in _PROGRAMS if part in command), Cause.OTHER)
