"""Whether what the configuration names is there: Prefect, Neo4j, PostgreSQL, object storage, the encoder."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from indexes.reachable import ask_ledger, ask_neo4j, ask_objects
from schemas.errors import SitegraphError, StoreUnavailable
from schemas.extras import install_line
from schemas.settings import Settings
from sitegraph.cli.health.findings import CheckResult, absent, found, unreachable
from sitegraph.cli.health.needs import Needs

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
    from indexes.embed.weights import load_model_spec

    try:
        spec = load_model_spec(settings.model) if settings.model else load_model_spec()
    except ModuleNotFoundError as error:
        told, remedy = f"{error.name} is not installed", install_line("pipeline")
        return absent("encoder", told, remedy=remedy, needed=True)
    except SitegraphError as error:
        return absent("encoder", str(error), remedy="unset SITEGRAPH_MODEL, or name another", needed=True)
    return found("encoder", f"{spec.name} in {spec.path}")


def _prefect() -> CheckResult:
    from flows.run.prefect_server import ask_prefect

    remedy = "prefect server start, or unset PREFECT_API_URL"
    try:
        url = ask_prefect()
    except StoreUnavailable as error:
        return unreachable("Prefect server", str(error), remedy=remedy)
    except SitegraphError as error:
        return absent("Prefect server", str(error), remedy=remedy, needed=True)
    except ModuleNotFoundError:
        return found("Prefect server", "not checked: Prefect is not installed")
    if url is None:
        return found("Prefect server", "none configured; runs do without")
    return found("Prefect server", f"answers at {url}")


def _neo4j(settings: Settings) -> CheckResult:
    remedy = "set SITEGRAPH_NEO4J_URI, SITEGRAPH_NEO4J_USER and SITEGRAPH_NEO4J_PASSWORD"
    uri = settings.neo4j_uri
    if uri is None:
        return absent("Neo4j", "SITEGRAPH_NEO4J_URI is not set", remedy=remedy, needed=True)
    user, password = settings.neo4j_user, settings.neo4j_password or ""
    return _asked("Neo4j", lambda: ask_neo4j(uri, user, password), remedy=f"start the server, or {remedy}")


def _asked(subject: str, ask: Callable[[], None], *, remedy: str) -> CheckResult:
    try:
        ask()
    except StoreUnavailable as error:
        return unreachable(subject, str(error), remedy=remedy)
    except SitegraphError as error:
        return absent(subject, str(error), remedy=remedy, needed=True)
    return found(subject, "answers")
