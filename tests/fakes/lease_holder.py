"""A process that takes a lease, says so, and works until its standard input ends."""

import sys
import threading

from flows.run.leases import hold_lease
from indexes.stores.ledger.ledger import open_ledger
from runtime.clock import SystemClock
from runtime.progress import StageProgress


def main(url: str, name: str) -> None:
    """Hold the lease."""
    ledger = open_ledger(url)
    lease = hold_lease(
        ledger.leases,
        name,
        clock=SystemClock(),
        progress=StageProgress(quiet=True),
        stop=threading.Event(),
        wait=False,
    )
    with lease as held:
        print(held.token, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
