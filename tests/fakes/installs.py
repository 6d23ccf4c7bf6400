"""sitegraph as its users have it: the wheel of this checkout in environments of their own, from the lock."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
_CACHE = REPO / ".cache" / "installs"
_LOCK = REPO / "requirements.lock"
_OFFLINE = ("error sending request", "dns error", "failed to fetch", "Temporary failure in name resolution")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment that holds sitegraph, some of its extras, and nothing else."""

    folder: Path

    def run(
        self, program: str, *arguments: str, cwd: Path, said: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment away from the checkout, so that what is installed is what runs.

        Args: said: what it reads from its standard input.
        """
        return subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=cwd,
            env={**plain_environment(), **environment},
            input=said,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )


def plain_environment() -> dict[str, str]:
    """What a user's shell would set: nothing of this test run, of its Python, or of sitegraph."""
    mine = ("PYTHON", "SITEGRAPH_", "PREFECT_", "VIRTUAL_ENV", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(mine)}


@cache
def installed(*extras: str) -> Installed:
    """Return an environment of sitegraph with *extras*, the checkout as it is at the first call.

    Dependencies are installed once for each lock.
    """
    wanted = f"[{','.join(extras)}]" if extras else ""
    folder = _CACHE / f"{'-'.join(extras) or 'reader'}-{_key()}"
    with _alone():
        wheel = build_wheel(_CACHE / "wheel")
        if not (folder / "whole").exists():
            _install(folder, f"sitegraph{wanted} @ {wheel.as_uri()} --hash=sha256:{_sha256(wheel)}")
            (folder / "whole").touch()
        run_uv(
            "pip",
            "install",
            "--python",
            str(folder / "bin" / "python"),
            "--no-deps",
            "--reinstall",
            str(wheel),
        )
    return Installed(folder=folder)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the checkout as it stands."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=REPO, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("sitegraph-*.whl")
    return wheel


def _install(folder: Path, requirement: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    run_uv("venv", "--python", sys.executable, str(folder))
    asked = folder / "requirements.txt"
    asked.write_text(f"{requirement}\n")
    constraints = ("--require-hashes", "-r", str(asked), "-c", str(_LOCK))
    run_uv("pip", "install", "--python", str(folder / "bin" / "python"), *constraints)


def run_uv(*arguments: str, cwd: Path = REPO) -> None:
    """Run uv; where no package index can be reached, the test skips and says so."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed")
    done = subprocess.run(
        [uv, "--quiet", *arguments], cwd=cwd, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode and any(words in done.stderr for words in _OFFLINE):
        pytest.skip(f"no package index can be reached: {done.stderr.strip().splitlines()[0]}")
    assert done.returncode == 0, done.stderr


def _key() -> str:
    parts = (_LOCK.read_bytes(), (REPO / "pyproject.toml").read_bytes(), sys.version.encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def _alone() -> Iterator[None]:
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
