"""Lines, paths, the baseline and the text of a report."""

from pathlib import Path

import pytest

from retrieval.lint.site import LintFinding, LintPlace, Severity, select_findings, split_by_baseline
from schemas.errors import ConfigError
from schemas.source import LintIgnore, LintOptions, Source
from sitegraph.actions.lint_report import (
    from_folder,
    line_in,
    read_baseline,
    summary_of,
    text_of,
    write_baseline,
)


def finding(path: str, rule: str = "orphan", severity: Severity = Severity.WARNING) -> LintFinding:
    place = LintPlace(
        source="s", uri=f"file:///s/{path}", path=path, line=3, text="It waits.", heading_path=("A", "B")
    )
    return LintFinding(rule=rule, severity=severity, message="is wrong", places=(place,), key=(path,))


@pytest.mark.parametrize(
    ("text", "sought", "line"),
    [
        ("a\nb\n[x](gone.md)\n", "gone.md)", 3),
        ("<p>The\n  <b>old</b> server\nwaits 30 seconds", "The old server waits 30 seconds.", 1),
        ("one\ntwo", "three", None),
        ("one\ntwo", "", None),
    ],
)
def test_a_line_is_found_by_the_words_or_by_the_first_of_them(
    text: str, sought: str, line: int | None
) -> None:
    assert line_in(text, sought) == line


def test_paths_are_relative_to_the_folder_the_report_is_read_in(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("x")
    sources = {"s": Source(name="s", kind="files", roots=(str(tmp_path / "docs"),))}

    inside, outside = (
        from_folder([finding("a.md")], sources, folder)[0].places[0].path
        for folder in (tmp_path, tmp_path / "other")
    )

    assert (inside, outside) == ("docs/a.md", "a.md")


def test_a_source_file_switches_off_rules_and_rules_on_pages() -> None:
    found = [
        finding("old/a.md"),
        finding("b.md"),
        finding("c.md", "unlinked"),
        finding("gen/d.md", "dead-link"),
    ]
    options = LintOptions(
        disable=("unlinked",),
        ignore=(LintIgnore(rule="orphan", path="old/*"), LintIgnore(rule="*", path="gen/*")),
    )

    assert [one.places[0].path for one in select_findings(found, {"s": options})] == ["b.md"]
    assert select_findings(found, {"other": options}) == tuple(found)


def test_a_baseline_hides_what_it_lists_and_tells_what_is_mended(tmp_path: Path) -> None:
    write_baseline(tmp_path / "base.json", [finding("a.md"), finding("b.md")])
    known = read_baseline(tmp_path / "base.json")

    new, mended = split_by_baseline([finding("b.md"), finding("c.md")], known)

    assert [one.places[0].path for one in new] == ["c.md"]
    assert mended == (finding("a.md").fingerprint,)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1}', '{"version": 9, "findings": []}'])
def test_what_is_no_baseline_is_an_error_that_says_how_to_make_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "base.json").write_text(text)

    with pytest.raises(ConfigError, match="--write-baseline"):
        read_baseline(tmp_path / "base.json")


def test_a_baseline_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--write-baseline"):
        read_baseline(tmp_path / "none.json")


def test_text_begins_with_the_place_as_editors_open_it() -> None:
    lines = text_of([finding("a.md")]).splitlines()

    assert lines == ["a.md:3: warning: is wrong [orphan]", '      A > B: "It waits."']


def test_a_summary_counts_by_severity() -> None:
    found = [finding("a.md"), finding("b.md"), finding("c.md", severity=Severity.ERROR)]

    assert summary_of(found, known=2) == "1 error, 2 warnings; 2 of the baseline not shown"
    assert summary_of([], known=0) == "no findings"
