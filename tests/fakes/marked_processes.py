"""Processes that come of one run, wherever they are in the tree: told by a variable in their environment."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

MARK = "SITEGRAPH_TEST_MARK"


@dataclass(frozen=True)
class Marked:
    """A mark for the environment of a command, which all that it starts inherit."""

    value: str = field(default_factory=lambda: uuid4().hex)

    @property
    def environment(self) -> dict[str, str]:
        """What to start the command with."""
        return {MARK: self.value}

    def alive(self) -> dict[int, str]:
        """Command lines of those that run, by pid; zombies left out."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            with suppress(OSError):
                if self._has_mark(folder) and (line := (folder / "cmdline").read_bytes()):
                    found[int(folder.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        return found

    def children_of(self, pid: int, *, running: str) -> list[int]:
        """Those that *pid* has started, with *running* in their command line."""
        return sorted(one for one, line in self.alive().items() if running in line and _parent(one) == pid)

    def kill(self) -> None:
        """Kill what is left."""
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _has_mark(self, folder: Path) -> bool:
        return f"{MARK}={self.value}".encode() in (folder / "environ").read_bytes().split(b"\0")


def _parent(pid: int) -> int | None:
    """Source: proc(5), /proc/PID/stat, field 4."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None
