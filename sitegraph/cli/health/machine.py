"""What this machine has: Python, packages, programs, room, rights, a port."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from indexes.disk_use import folder_bytes
from indexes.places import index_place
from indexes.publish import keeping
from runtime.browser_programs import find_chromium
from runtime.settings import check_makeable
from schemas.errors import ConfigError, SitegraphError, StoreUnavailable
from schemas.extras import EXTRAS, install_line
from schemas.settings import Settings
from sitegraph.cli.health.findings import CheckResult, absent, found, unreachable
from sitegraph.cli.health.needs import Needs

PYTHON = (3, 11)
LEAST_ROOM = 10**9
"""Bytes that a first index takes with its encoder, and room to rewrite a small one."""

SERVE_PORT = 8000


def check_machine(settings: Settings, needs: Needs) -> Iterator[CheckResult]:
    """Look at everything that no server has to be asked for."""
    yield _python()
    yield from (_extra(extra, needed=extra in needs.extras) for extra in EXTRAS)
    yield _tesseract(needs.languages)
    yield _chromium(settings, needed=needs.chromium)
    yield _java()
    if "://" in settings.index:
        yield _listed(settings.index)
    else:
        yield _writable(Path(settings.index))
        yield _room(Path(settings.index))
    yield _port(SERVE_PORT)
    if settings.keep:
        yield _keep(settings)


def _python() -> CheckResult:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= PYTHON:
        return found("Python", version)
    least = ".".join(map(str, PYTHON))
    return absent(
        "Python", f"{version}; needs {least} or later", remedy=f"python{least} -m venv .venv", needed=True
    )


def _extra(extra: str, *, needed: bool) -> CheckResult:
    missing = [module for module in EXTRAS[extra] if not _is_installed(module)]
    subject = f"extra {extra}"
    if not missing:
        return found(subject, "installed")
    return absent(subject, f"{', '.join(missing)} not installed", remedy=install_line(extra), needed=needed)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it would be in
        return False


def _tesseract(languages: tuple[str, ...]) -> CheckResult:
    if shutil.which("tesseract") is None:
        return absent(
            "Tesseract", "not installed; for `ocr`", remedy=_installing(languages), needed=bool(languages)
        )
    known = _run("tesseract", "--list-langs").split()
    if missing := [one for one in languages if one not in known]:
        data = "apt-get install " + " ".join(
            f"tesseract-ocr-{one.replace('_', '-').lower()}" for one in missing
        )
        return absent("Tesseract", f"has no data for {', '.join(missing)}", remedy=data, needed=True)
    return found("Tesseract", _run("tesseract", "--version").partition("\n")[0])


def _installing(languages: Iterable[str]) -> str:
    """Name Debian's packages."""
    data = (f"tesseract-ocr-{one.replace('_', '-').lower()}" for one in languages)
    return " ".join(["apt-get install tesseract-ocr", *data])


def _chromium(settings: Settings, *, needed: bool) -> CheckResult:
    path = find_chromium(settings)
    if path is not None:
        return found("Chromium", path)
    named = settings.chromium
    told = f"SITEGRAPH_CHROMIUM names {named}, which is not there" if named else "not installed"
    return absent(
        "Chromium",
        f"{told}; for `javascript: true`",
        remedy="apt-get install chromium",
        needed=needed or named is not None,
    )


def _java() -> CheckResult:
    path = shutil.which("java")
    if path is not None:
        return found("Java", path)
    told = "not installed; only to run a Neo4j server on this machine"
    return absent("Java", told, remedy="apt-get install openjdk-17-jre-headless", needed=False)


def _writable(folder: Path) -> CheckResult:
    subject = f"index folder {folder}"
    change = f"chown -R $(id -un) {folder}, or choose another --index"
    try:
        check_makeable(folder)
        with tempfile.TemporaryFile(dir=existing(folder)):
            return found(subject, "may be written")
    except ConfigError as error:
        return absent(subject, error.message, remedy=change, needed=True)
    except OSError as error:
        return absent(subject, f"may not be written ({error.strerror})", remedy=change, needed=True)


def _listed(index: str) -> CheckResult:
    subject, remedy = f"index {index}", "check --index, AWS_ENDPOINT_URL and the login"
    try:
        index_place(index).exists()
    except StoreUnavailable as error:
        return unreachable(subject, str(error), remedy=remedy)
    except SitegraphError as error:
        return absent(subject, str(error), remedy=remedy, needed=True)
    return found(subject, "can be listed")


def _room(folder: Path) -> CheckResult:
    free = shutil.disk_usage(existing(folder)).free
    told = f"{free / 1e9:.1f} GB free"
    wanted = max(LEAST_ROOM, folder_bytes(folder / "lance"))
    if free >= wanted:
        return found("disk", told)
    remedy = f"df -h {existing(folder)}"
    return absent(
        "disk", f"{told}; {wanted / 1e9:.1f} GB are needed to rewrite tables", remedy=remedy, needed=True
    )


def _port(port: int) -> CheckResult:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            remedy = "sitegraph serve --port 0"
            return absent(f"port {port}", "in use; serve can use another", remedy=remedy, needed=False)
    return found(f"port {port}", "free, for serve")


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest above it, that this user can see."""
    return next(path for path in (folder, *folder.absolute().parents) if os.path.isdir(path))


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout or done.stderr


def _keep(settings: Settings) -> CheckResult:
    try:
        keeping.parse_keep(settings.keep, last=settings.keep_generations)
    except ConfigError as error:
        remedy = f"export {keeping.SUBJECT}=within=7d,weekly=52"
        return absent(keeping.SUBJECT, error.message, remedy=remedy, needed=True)
    return found(keeping.SUBJECT, settings.keep or "")
