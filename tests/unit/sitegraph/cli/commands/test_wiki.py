"""`sitegraph wiki`: what a person sees of the pages."""

import json
from pathlib import Path

import pytest

from retrieval.wiki.store import Wiki
from sitegraph.cli.app import run_app
from tests.fakes.governance import governance_documents
from tests.fakes.wiki import hand_page

POLICY = governance_documents()[0][0][1][0]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A wiki with a page that holds, one whose passage changed, and a broken one."""
    wiki = Wiki(tmp_path / "pages")
    rests_on = {POLICY.id: POLICY.content_hash}
    wiki.write(hand_page("Retention", "Seven years, see [[Nobody]].", slug="retention", rests_on=rests_on))
    wiki.write(hand_page("Coal", "In the cellar.", slug="coal", rests_on={POLICY.id: "another"}))
    (tmp_path / "pages" / "topic" / "broken.md").write_text("broken")
    return tmp_path / "pages"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert run_app(["wiki", *arguments]) == 0
    return tuple(capsys.readouterr())  # type: ignore[return-value]


def test_pages_are_listed_and_broken_ones_are_warnings(
    pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = told(capsys, "list", "--wiki", str(pages))
    assert out.splitlines() == ["current      topic/coal  Coal", "current      topic/retention  Retention"]
    assert "warning: topic/broken.md: has no front matter" in err
    out, _ = told(capsys, "list", "--wiki", str(pages), "--format", "json")
    listed = json.loads(out)
    assert [one["slug"] for one in listed["pages"]] == ["coal", "retention"]
    assert [one["path"] for one in listed["problems"]] == ["topic/broken.md"]


def test_pages_are_found_by_words_and_read_by_name(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = told(capsys, "search", "how long is retention", "--wiki", str(pages))
    assert out.endswith("topic/retention  Retention\n")
    out, _ = told(capsys, "read", "topic/coal", "--wiki", str(pages))
    assert out.startswith("---\ntitle: Coal\n")
    out, _ = told(capsys, "read", "topic/coal", "--wiki", str(pages), "--format", "json")
    assert json.loads(out)["body"] == "In the cellar."


def test_check_says_which_pages_are_stale_and_writes_it_on_them(
    pages: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = told(capsys, "check", "--wiki", str(pages), "--index", str(folder))
    assert out.splitlines() == [
        "stale        topic/coal  Coal",
        "  1 of 1 passages that it rests on changed; ask again to rebuild it",
        "current      topic/retention  Retention",
        "  [[Nobody]] is not a page",
    ]
    assert "status: stale" in (pages / "topic" / "coal.md").read_text()


def test_signs_that_move_a_cursor_are_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = tmp_path / "topic"
    topic.mkdir()
    (topic / "x.md").write_text('---\ntitle: "a\\e[31mb"\n---\nred \x1b[31m text')
    for arguments in (["list"], ["read", "topic/x"], ["search", "text"]):
        out, _ = told(capsys, *arguments, "--wiki", str(tmp_path))
        assert "\x1b" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "words"], "list takes no text"),
        (["search"], "search needs words or a page"),
        (["read", "coal"], "write CATEGORY/SLUG"),
        (["read", "topic/nothing"], "topic/nothing.md: no such page"),
        (["read", "../outside"], "is not a valid category"),
        (["list", "--index", "index", "--wiki", "index/wiki"], "is inside the index"),
        (["list", "--wiki", "file"], "is a file; choose a folder for --wiki"),
        (["check"], "not an index; make one with"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    assert run_app(["wiki", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_wiki_that_is_not_there_yet_is_empty(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "list", "--index", str(folder)) == ("", "")
    assert not folder.with_name(f"{folder.name}.wiki").exists()


def test_a_page_is_json_whatever_a_person_keeps_in_its_front_matter(
    pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    block = "title: A\nreviewed: 2026-01-01\nshare: .nan\nby: {1: [.inf, 2.5, yes], 2026-01-02: null}\n"
    (pages / "topic" / "theirs.md").write_text(f"---\n{block}---\nx")
    out, _ = told(capsys, "read", "topic/theirs", "--wiki", str(pages), "--format", "json")
    assert json.loads(out)["extra"] == {
        "reviewed": "2026-01-01",
        "share": "nan",
        "by": {"1": ["inf", 2.5, True], "2026-01-02": None},
    }


def test_what_a_search_could_not_read_is_a_warning(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = told(capsys, "search", "coal", "--wiki", str(pages))
    assert "warning: topic/broken.md: has no front matter" in err


def test_the_name_of_a_file_moves_no_cursor(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (pages / "topic" / "\x1b[31mred.md").write_text("x")
    _, err = told(capsys, "list", "--wiki", str(pages))
    assert "topic/\\x1b[31mred.md: is not a valid page name" in err
    assert "\x1b" not in err


@pytest.mark.parametrize("command", [["wiki", "list"], ["ask", "Why?"]])
def test_the_root_of_the_file_system_is_no_index(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app([*command, "--index", "/"]) == 2
    assert "has no place beside it" in capsys.readouterr().err
