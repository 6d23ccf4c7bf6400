"""Which files of questions a check asks from."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from runtime.check_file import join_checks
from schemas.checks import Check
from schemas.errors import ConfigError, SitegraphError
from schemas.settings import Settings


def load_questions(settings: Settings, given: Path | None) -> tuple[Check, ...]:
    """Read the file that was given, else those that the settings and the sources of the index name.

    Raises: ConfigError: a file cannot be read or is wrong, or none is named anywhere.
    """
    files = (given,) if given else tuple(_named(settings))
    if not files:
        raise ConfigError(
            "no question file is named; give one: sitegraph check QUESTIONS.yaml, or name it in the "
            "source file: checks: checks/questions.yaml",
            subject="check",
        )
    return join_checks(files)


def _named(settings: Settings) -> Iterator[Path]:
    from indexes.layout import IndexLayout
    from indexes.manifest import load_manifest
    from indexes.own_ledger import open_own_ledger

    layout = IndexLayout(Path(settings.index))
    load_manifest(layout)  # so that a folder without an index is told as everywhere
    if settings.checks:
        yield Path(settings.checks).resolve()
    try:
        ledger = open_own_ledger(layout, settings.ledger_url, read_only=True)
    except SitegraphError:  # a copy has none
        return
    with closing(ledger):
        sources = ledger.sources.all()
    yield from (Path(one.checks) for _, one in sorted(sources.items()) if one.checks)
