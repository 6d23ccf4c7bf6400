"""What `doctor` looks at: this machine, the ledger, and the servers that the configuration names."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from indexes.health import ask_ledger, ask_neo4j, ask_objects
from indexes.layout import COPY, IndexLayout
from indexes.markers import read_marker
from indexes.own_ledger import open_own_ledger
from indexes.places import folder_bytes, index_place
from indexes.publish import files
from runtime.clock import SystemClock
from runtime.logins import check_login, remedy_of, told_login
from runtime.programs import find_chromium
from runtime.settings import check_makeable
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, SitegraphError, StoreUnavailable
from schemas.settings import EXTRAS, KeepSettings, Neo4jSettings, RunSettings, Settings, install_line
from schemas.source import LoginRecipe, Source
from sitegraph.actions.needs import CheckResult, Needs, absent, found, unreachable

LEDGER = "ledger"


def read_sources(layout: IndexLayout, url: str | None) -> tuple[tuple[Source, ...], CheckResult]:
    """Return the sources that the ledger of an index knows, and how it is; nothing is written.

    *url* is the setting's.
    """
    try:
        if url is None and not layout.ledger.exists() and (marker := read_marker(layout.root)) is not None:
            return (), found(LEDGER, f"not needed: the index is a copy of {marker.url}")
        with closing(open_own_ledger(layout, url, read_only=True)) as ledger:
            sources = tuple(ledger.sources.all().values())
    except SitegraphError as error:
        return (), absent(LEDGER, str(error), remedy=_remedy(error, layout, url), needed=True)
    return sources, found(LEDGER, f"knows {len(sources)} source{'s' * (len(sources) != 1)}")


def _remedy(error: SitegraphError, layout: IndexLayout, url: str | None) -> str:
    if (layout.root / COPY).exists():  # which a run refuses
        return _remedy_of_copy(error, layout, url)
    folder = shlex.quote(str(layout.root))
    run = f"sitegraph run SOURCE.yaml --index {folder}"
    if isinstance(error, SchemaMismatch):
        return "sitegraph run SOURCE.yaml --index NEW_FOLDER"
    if isinstance(error, ConfigError):
        return "unset SITEGRAPH_LEDGER_URL, or name this index's own" if url else "set SITEGRAPH_LEDGER_URL"
    if isinstance(error, DamageFound):
        return f"sitegraph repair --index {folder}"
    if layout.ledger.exists() and not url:
        return f"chown $(id -un) {shlex.quote(str(layout.ledger))}"
    return run


def _remedy_of_copy(error: SitegraphError, layout: IndexLayout, url: str | None) -> str:
    if url is None:
        return f"sitegraph pull ADDRESS --to {shlex.quote(str(layout.root))}"
    if isinstance(error, ConfigError):
        return "unset SITEGRAPH_LEDGER_URL, or name that of the index that was copied"
    return "unset SITEGRAPH_LEDGER_URL, which a copy does not need, or check its server"


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
    def install(*programs: str, of: Iterable[str]) -> str:
        """Name Debian's packages."""
        data = (f"tesseract-ocr-{one.replace('_', '-').lower()}" for one in of)
        return " ".join(["apt-get install", *programs, *data])

    if shutil.which("tesseract") is None:
        remedy = install("tesseract-ocr", of=languages)
        return absent("Tesseract", "not installed; for `ocr`", remedy=remedy, needed=bool(languages))
    known = _run("tesseract", "--list-langs").split()
    if missing := [one for one in languages if one not in known]:
        told = f"has no data for {', '.join(missing)}"
        return absent("Tesseract", told, remedy=install(of=missing), needed=True)
    return found("Tesseract", _run("tesseract", "--version").partition("\n")[0])


def _chromium(settings: RunSettings, *, needed: bool) -> CheckResult:
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
    def ask() -> str:
        index_place(index).exists()
        return "can be listed"

    return _asked(f"index {index}", ask, remedy="check --index, AWS_ENDPOINT_URL and the login")


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


def _keep(settings: KeepSettings) -> CheckResult:
    try:
        files.parse_keep(settings.keep, last=settings.keep_generations)
    except ConfigError as error:
        remedy = f"export {files.SUBJECT}=within=7d,weekly=52"
        return absent(files.SUBJECT, error.message, remedy=remedy, needed=True)
    return found(files.SUBJECT, settings.keep or "")


POSTGRESQL = "PostgreSQL"


def check_servers(settings: Settings, needs: Needs) -> Iterator[CheckResult]:
    """Ask each server that is configured, and none else."""
    yield _prefect()
    if needs.neo4j:
        yield _neo4j(settings)
    if needs.ledger_url is not None:
        url = needs.ledger_url
        remedy = "start the server, or correct SITEGRAPH_LEDGER_URL"
        yield _asked(POSTGRESQL, lambda: ask_ledger(url), remedy=remedy)
    if needs.raw_url is not None:
        raw = needs.raw_url
        yield _asked(
            "object storage",
            lambda: ask_objects(raw),
            remedy="check SITEGRAPH_RAW_URL, AWS_ENDPOINT_URL and the login",
        )


def check_encoder(settings: Settings, folder: Path | None) -> CheckResult:
    """Look at the files of the encoder: those in the *folder* of an index, or of the model for a new one."""
    if folder is not None:
        from indexes.embed.export import damaged_files

        if damaged := damaged_files(folder):
            told = f"{', '.join(damaged)} of {folder} missing or damaged"
            remedy = f"sitegraph repair --index {shlex.quote(settings.index)}"
            return absent("encoder", told, remedy=remedy, needed=True)
        return found("encoder", f"{folder} is whole")
    from indexes.embed.named_models import DEFAULT_MODEL
    from indexes.embed.weights import load_model_spec

    try:
        spec = load_model_spec(settings.model or DEFAULT_MODEL, settings)
    except ModuleNotFoundError as error:
        told, remedy = f"{error.name} is not installed", install_line("light")
        return absent("encoder", told, remedy=remedy, needed=True)
    except SitegraphError as error:
        return absent("encoder", str(error), remedy="unset SITEGRAPH_MODEL, or name another", needed=True)
    return found("encoder", f"{spec.name} in {spec.path}")


def check_sessions(sources: Iterable[Source]) -> Iterator[CheckResult]:
    """Look at the login of each source that has one: its file or program, and when it ends."""
    for source in sources:
        if source.login != LoginRecipe():
            yield _session(source, now=SystemClock().now())


def _session(source: Source, *, now: datetime) -> CheckResult:
    subject, remedy = f"login of {source.name}", remedy_of(source.login)
    try:
        state = check_login(source, now=now)
    except ConfigError as error:
        return absent(subject, str(error), remedy=remedy, needed=True)
    if (told := told_login(source, state, now=now)) is None:
        return found(subject, f"until {state.expires_at}" if state.expires_at else "nothing says until when")
    is_over = state.expires_at is not None and datetime.fromisoformat(state.expires_at) <= now
    return absent(subject, told, remedy=remedy, needed=True) if is_over else found(subject, told)


def _prefect() -> CheckResult:
    from flows.run.prefect_server import ask_prefect

    def ask() -> str:
        try:
            url = ask_prefect()
        except ModuleNotFoundError:
            return "not checked: Prefect is not installed"
        return "none configured; runs do without" if url is None else f"answers at {url}"

    return _asked("Prefect server", ask, remedy="prefect server start, or unset PREFECT_API_URL")


def _neo4j(settings: Neo4jSettings) -> CheckResult:
    remedy = "set SITEGRAPH_NEO4J_URI, SITEGRAPH_NEO4J_USER and SITEGRAPH_NEO4J_PASSWORD"
    uri = settings.neo4j_uri
    if uri is None:
        return absent("Neo4j", "SITEGRAPH_NEO4J_URI is not set", remedy=remedy, needed=True)
    user, password = settings.neo4j_user, settings.neo4j_password or ""
    return _asked("Neo4j", lambda: ask_neo4j(uri, user, password), remedy=f"start the server, or {remedy}")


def _asked(subject: str, ask: Callable[[], str | None], *, remedy: str) -> CheckResult:
    try:
        told = ask()
    except StoreUnavailable as error:
        return unreachable(subject, str(error), remedy=remedy)
    except SitegraphError as error:
        return absent(subject, str(error), remedy=remedy, needed=True)
    return found(subject, told or "answers")
