"""The text format, read back with the parser of Prometheus's own client."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse

from runtime.telemetry.families import index_families
from runtime.telemetry.prometheus import QuestionOutcome, Questions, render, write_textfile
from tests.unit.runtime.telemetry.test_families import INDEX, NOW

FAMILIES = index_families(INDEX, now=NOW)


def test_a_textfile_reads_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "made" / "sitegraph.prom"

    write_textfile(file, FAMILIES)

    read = {s.name: s for family in parse(file.read_text()) for s in family.samples}
    assert read["sitegraph_generation"].value == 7
    assert read["sitegraph_documents_due"].labels == {"index": "/srv/index", "source": "handbook"}
    assert [path.name for path in file.parent.iterdir()] == ["sitegraph.prom"]
    assert file.stat().st_mode & 0o044 == 0o044, "node_exporter is another user"


def test_a_process_that_dies_while_it_writes_leaves_the_old_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "sitegraph.prom"
    write_textfile(file, FAMILIES)
    before = file.read_bytes()
    newer = index_families(replace(INDEX, generation=8), now=NOW)

    child = os.fork()
    if child == 0:
        os.rename = lambda *_: os._exit(9)  # type: ignore[assignment] # all is written, and nothing renamed
        write_textfile(file, newer)
        os._exit(1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 9
    assert file.read_bytes() == before
    left = [path.name for path in tmp_path.iterdir() if path != file]
    assert left, "it died before it was renamed"
    assert [name for name in left if name.endswith(".prom")] == [], "node_exporter reads *.prom"


def test_a_folder_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path) -> None:
    file = tmp_path / "sitegraph.prom"
    write_textfile(file, FAMILIES)

    with pytest.raises(OSError):
        write_textfile(file / "below" / "a.prom", FAMILIES)

    assert "sitegraph_generation" in file.read_text()


@pytest.mark.parametrize(
    ("accept", "reader", "kind"),
    [
        ("", parse, "text/plain"),
        ("application/openmetrics-text; version=1.0.0", parse_openmetrics, "application/openmetrics-text"),
    ],
)
def test_a_scrape_is_answered_in_the_format_it_asks_for(accept: str, reader: object, kind: str) -> None:
    questions = Questions("/srv/index")
    questions.asked(QuestionOutcome.FOUND, 0.2)

    body, content_type = render(FAMILIES, accept=accept, counted=questions.registry, folder=None)

    assert content_type.startswith(kind)
    read = {(s.name, s.labels.get("outcome")): s.value for f in reader(body.decode()) for s in f.samples}  # type: ignore[operator]
    assert read["sitegraph_questions_total", "found"] == 1
    assert read["sitegraph_questions_total", "refused"] == 0, "a rate needs the 0 from which it rises"
    assert read["sitegraph_question_duration_seconds_count", None] == 1
    assert read["sitegraph_generation", None] == 7
