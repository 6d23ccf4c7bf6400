"""Checks: the files of questions, and the verdicts as a JUnit report, which CI systems show as tests."""

import xml.etree.ElementTree as Tree
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from retrieval.checks.losses import say_failure
from runtime.yaml_files import join_checks
from schemas.errors import ConfigError, SitegraphError
from schemas.redaction import one_line
from schemas.report import Check, Verdict
from schemas.settings import Settings


def load_check_files(settings: Settings, given: Path | None) -> tuple[Check, ...]:
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
    from indexes.layout import IndexLayout, load_manifest
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


def render_junit(verdicts: Sequence[Verdict], *, generation: int) -> str:
    """Return one suite with a test for each question; a failure says what is not met, and what stands there.

    Source: the schema that Jenkins and GitLab read, github.com/testmoapp/junitxml.
    """
    failed = sum(not one.passed for one in verdicts)
    totals = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0"}
    suites = Tree.Element("testsuites", {"name": "sitegraph check", **totals})
    suite = Tree.SubElement(suites, "testsuite", {"name": f"generation {generation}", **totals})
    for one in verdicts:
        name, place = one_line(one.check.id), one.check.where.partition(":")[0] or "checks"
        case = Tree.SubElement(suite, "testcase", {"classname": place, "name": name})
        if not one.passed:
            lines = [say_failure(finding) for finding in one.failures]
            failure = Tree.SubElement(case, "failure", {"message": lines[0]})
            near = [f"+ {f.passage.text} ({f.passage.citation})" for f in one.failures if f.passage]
            failure.text = "\n".join(map(one_line, (one.check.question, *lines, *near)))
    Tree.indent(suites)
    return Tree.tostring(suites, encoding="unicode", xml_declaration=True)
