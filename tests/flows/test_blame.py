"""`sitegraph blame` over three real versions of a page of git's manual, held against the pages themselves."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph
from tests.flows.test_real_sites import write_source
from tests.unit.sitegraph.service.conftest import serving

pytestmark = [pytest.mark.server, pytest.mark.data]

PAGE = "git-push.html"
VERSIONS = ("2.30.2", "2.39.5", "2.47.3")


def words(text: str) -> str:
    """A text without white space and quotation marks, which a parser may set otherwise."""
    return re.sub(r"[^\w.,;:-]+", "", text)


@pytest.fixture(scope="module")
def index(tiny: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """An index whose three generations are the versions of the page, and what each version says."""
    folder = tmp_path_factory.mktemp("blame")
    site, said = folder / "served", []
    site.mkdir()
    with serve_folder(site) as address:
        source = write_source(folder, address, seeds=[PAGE], more="scope: {max_pages: 1}\n")
        for number, version in enumerate(VERSIONS, start=1):
            page = next(unpack("sites/git.tar.xz", version, folder / version).rglob(PAGE)).read_bytes()
            (site / PAGE).write_bytes(page)
            said.append(words(html.fromstring(page).text_content()))
            report = tiny.run(source, folder / "index", accept=True)
            assert report["generation"] == number
    return folder / "index", said


@pytest.fixture(scope="module")
def blamed(tiny: Sitegraph, index: tuple[Path, list[str]]) -> list[tuple[str, dict[str, Any]]]:
    """The text of every other chunk, and what `blame` says of it."""
    found = []
    for chunk in tiny.export(index[0])["chunks"][::2]:
        called = tiny.call("blame", chunk["id"], "--index", str(index[0]), "--format", "json")
        assert called.returncode == 0, called.stderr
        found.append((chunk["text"], json.loads(called.stdout)))
    return found


def test_each_sentence_is_as_old_as_the_first_version_that_has_it(
    blamed: list[tuple[str, dict[str, Any]]], index: tuple[Path, list[str]]
) -> None:
    _, said = index
    right = wrong = 0
    dated = set()
    for text_of_chunk, record in blamed:
        assert words("".join(one["text"] for one in record["sentences"])) == words(text_of_chunk)
        for one in record["sentences"]:
            assert not one["or_before"], "the feed goes back to the first generation"
            dated.add(one["generation"])
            has = [words(one["text"]) in text for text in said]
            if not has[-1]:
                continue  # a table or a list that the parser writes in its own way
            first = max((n for n, there in enumerate(has) if not there), default=-1) + 2
            right, wrong = right + (one["generation"] == first), wrong + (one["generation"] != first)
    assert dated == {1, 2, 3}
    assert wrong / (right + wrong) <= 0.05, f"{wrong} of {right + wrong}: sentences that moved elsewhere"


def test_what_stood_there_before_is_told_word_by_word_though_its_generation_is_long_gone(
    blamed: list[tuple[str, dict[str, Any]]], index: tuple[Path, list[str]]
) -> None:
    _, said = index
    told = 0
    for _text, record in blamed:
        for newer, older in zip(record["versions"], record["versions"][1:], strict=False):
            old = "".join(piece["text"] for piece in newer["pieces"] if piece["mark"] != "added")
            assert old == older["text"]
            told += all(words(part) in said[older["generation"] - 1] for part in old.split("\n")[:1])
    assert told > 0


def test_an_id_of_before_leads_to_what_stands_there_now(
    tiny: Sitegraph, index: tuple[Path, list[str]]
) -> None:
    folder, _ = index
    entries = [
        json.loads(line)
        for line in tiny.call(
            "changes", "--since", "2", "--format", "jsonl", "--index", str(folder)
        ).stdout.splitlines()
    ]
    replaced = [one for one in entries if one["change"] == "replaced" and one["kind"] == "chunk"]
    texts = {
        one["new_id"]: tiny.call("blame", one["new_id"], "--index", str(folder)).stdout for one in replaced
    }
    old = next(
        one for one in replaced if re.search(r"^3 \d{4}-\d\d-\d\d", texts[one["new_id"]], re.MULTILINE)
    )
    gone = next(one for one in entries if one["change"] == "removed" and one["kind"] == "chunk")

    led = tiny.call("blame", old["old_id"], "--index", str(folder))
    lost = tiny.call("blame", gone["old_id"], "--index", str(folder))
    never = tiny.call("blame", "chunk:" + "a" * 26, "--index", str(folder))

    assert led.returncode == lost.returncode == never.returncode == 2
    assert f"run: sitegraph blame {old['new_id']}" in led.stderr
    shown = tiny.call("show", old["old_id"], "--index", str(folder))
    assert shown.returncode == 2
    assert f"run: sitegraph blame {old['old_id']} --index {folder}" in shown.stderr
    with serving(folder) as client:
        answers = {name: client.get(f"/chunks/{name}/history") for name in (old["old_id"], gone["old_id"])}
    assert {answer.status_code for answer in answers.values()} == {404}
    assert f"it is {old['new_id']} since generation 3" in answers[old["old_id"]].json()["detail"]
    assert "it is gone" in answers[gone["old_id"]].json()["detail"]
    assert "is gone since generation 3" in lost.stderr
    assert "{+" in texts[old["new_id"]]
