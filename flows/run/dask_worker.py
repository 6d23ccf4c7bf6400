"""What Dask loads into each worker that a run starts; one of a cluster elsewhere may load it, too.

Source: Dask manual, "Customize initialization" (`--preload`).
"""

import signal


def dask_setup(worker: object) -> None:  # noqa: ARG001
    """Leave Ctrl-C to the run, which ends its workers: a terminal sends it to both."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
