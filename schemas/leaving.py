"""The end of a process that has said all."""

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process as `sys.exit` does, but for taking its modules apart, which takes .2 s.

    Threads end first, then what was registered for the end is called; what cannot be written, Python says.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
