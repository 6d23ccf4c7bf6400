"""The folder of pages: whole writes, nothing outside of it, and clear words for what cannot be read."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.wiki import store as folder_module
from retrieval.wiki.store import Wiki, resolve_links, wiki_folder
from schemas.errors import ConfigError, ParseError, StoreUnavailable
from tests.fakes.read_only import only_readable
from tests.fakes.wiki import hand_page

PAGE = hand_page("Leases", "Held by the [[Porter]].", slug="leases")


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    """An empty wiki beside a file that is none of its business."""
    (tmp_path / "outside.md").write_text("---\ntitle: secret\n---\n")
    return Wiki(tmp_path / "wiki")


def test_a_wiki_lies_beside_the_index_and_never_in_it(tmp_path: Path) -> None:
    assert wiki_folder(tmp_path / "index") == tmp_path / "index.wiki"


def test_pages_are_written_read_listed_and_found(wiki: Wiki) -> None:
    assert wiki.list().pages == ()
    other = hand_page("Coal", "In the cellar.", category="place", slug="coal")
    assert (wiki.write(PAGE), wiki.write(other)) == (PAGE, other)
    assert wiki.read("topic", "leases") == PAGE
    assert wiki.list().pages == (other, PAGE)
    assert [hit.page for hit in wiki.search("what becomes of a lease")] == [PAGE]
    assert (wiki.folder / "topic" / "leases.md").read_text().startswith("---\ntitle: Leases\n")


def test_a_page_is_replaced_whole_or_not_at_all(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    wiki.write(PAGE)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module.os, "fsync", full)
    with pytest.raises(StoreUnavailable, match="No space left"):
        wiki.write(replace(PAGE, body="Half."))
    assert wiki.read("topic", "leases") == PAGE
    assert os.listdir(wiki.folder / "topic") == ["leases.md"]


def test_a_file_that_a_dead_process_left_behind_is_no_page_and_stops_no_write(wiki: Wiki) -> None:
    wiki.write(PAGE)
    left = wiki.folder / "topic" / f".leases.{os.getpid()}.0.tmp"
    left.write_text("half")
    wiki.write(replace(PAGE, body="Anew."))
    assert [page.body for page in wiki.list().pages] == ["Anew."]
    assert left.read_text() == "half"


@pytest.mark.parametrize(
    ("category", "slug"),
    [
        ("..", "outside"),
        ("topic", "../../outside"),
        ("topic", "/etc/passwd"),
        ("", "x"),
        ("topic", ""),
        ("con", "x"),
    ],
)
def test_a_page_outside_of_the_folder_is_never_read_and_never_written(
    wiki: Wiki, category: str, slug: str, tmp_path: Path
) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(ConfigError):
        wiki.read(category, slug)
    with pytest.raises(ConfigError):
        wiki.write(replace(PAGE, category=category, slug=slug))
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_link_that_leads_out_of_the_folder_is_never_followed(wiki: Wiki, tmp_path: Path) -> None:
    wiki.write(PAGE)
    outside = tmp_path / "outside.md"
    (wiki.folder / "topic" / "linked.md").symlink_to(outside)
    (tmp_path / "elsewhere").mkdir()
    (wiki.folder / "linked").symlink_to(tmp_path / "elsewhere")
    (wiki.folder / "gone").symlink_to(tmp_path / "nowhere")
    before = outside.read_text()

    with pytest.raises(ParseError, match="is a link"):
        wiki.read("topic", "linked")
    for category in ("linked", "gone"):
        with pytest.raises((ParseError, StoreUnavailable)):
            wiki.write(replace(PAGE, category=category))
    wiki.write(replace(PAGE, slug="linked"))

    assert outside.read_text() == before
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "nowhere").exists()
    assert wiki.read("topic", "linked").title == "Leases"
    assert [one.path for one in wiki.list().problems] == ["gone", "linked"]


def test_what_is_no_page_is_named_with_what_to_do_and_the_rest_is_read(wiki: Wiki) -> None:
    wiki.write(PAGE)
    root, topic = wiki.folder, wiki.folder / "topic"
    (root / "stray.md").write_text("x")
    (root / "Bad Category").mkdir()
    (topic / "Memory Leak.md").write_text("x")
    (topic / "sub").mkdir()
    (topic / "binary.md").write_bytes(b"\xff\xfe")
    (topic / "long.md").write_text("x" * 1_000_001)
    (topic / "broken.md").write_text("---\ntitle: [\n---\n")
    (topic / "folder.md").mkdir()
    os.mkfifo(topic / "pipe.md")
    (topic / "picture.png").write_bytes(b"\x89")
    (topic / ".obsidian").mkdir()

    listing = wiki.list()

    assert listing.pages == (PAGE,)
    assert {one.path: one.message.split(";")[0].split(":")[0] for one in listing.problems} == {
        "stray.md": "is in no category",
        "Bad Category": "is not a valid category name",
        "topic/Memory Leak.md": "is not a valid page name",
        "topic/sub": "is a folder inside a category",
        "topic/binary.md": "is not UTF-8",
        "topic/long.md": "is longer than 1000000 bytes",
        "topic/broken.md": "front matter is not valid YAML",
        "topic/folder.md": "is a folder inside a category",
        "topic/pipe.md": "is not a file",
    }


@pytest.mark.parametrize("taken_by", ["page", "broken", "link", "folder"])
def test_a_new_page_never_takes_the_place_of_anything(wiki: Wiki, taken_by: str) -> None:
    wiki.write(hand_page("Coal", "x", slug="coal"))
    place = wiki.folder / "topic" / "leases.md"
    {
        "page": lambda: wiki.write(PAGE),
        "broken": lambda: place.write_text("broken"),
        "link": lambda: place.symlink_to("coal.md"),
        "folder": place.mkdir,
    }[taken_by]()
    before = place.lstat()
    assert wiki.add(replace(PAGE, body="Mine.")) is None
    after = place.lstat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(os.listdir(place.parent)) == ["coal.md", "leases.md"]


def test_of_many_who_add_a_page_at_once_one_does(wiki: Wiki) -> None:
    bodies = [f"By {number}." for number in range(12)]
    with ThreadPoolExecutor(4) as threads:
        added = list(threads.map(lambda body: wiki.add(replace(PAGE, body=body)), bodies))
    (first,) = [page for page in added if page]
    assert wiki.list().pages == (first,)
    assert os.listdir(wiki.folder / "topic") == ["leases.md"]


def test_a_page_is_added_where_the_file_system_has_no_links(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(folder_module.os, "link", unknown)
    assert wiki.add(PAGE) == PAGE
    assert wiki.add(replace(PAGE, body="Mine.")) is None
    assert wiki.list().pages == (PAGE,)
    assert os.listdir(wiki.folder / "topic") == ["leases.md"]


def test_a_page_is_revised_only_as_it_was_read(wiki: Wiki) -> None:
    saved = wiki.write(replace(PAGE, body="Saved meanwhile."))
    assert wiki.revise(PAGE, replace(PAGE, summary="new")) is None
    assert wiki.list().pages == (saved,)
    assert wiki.revise(saved, replace(saved, summary="new")) == replace(saved, summary="new")
    (wiki.folder / "topic" / "leases.md").unlink()
    assert wiki.revise(saved, saved) is None


def test_a_page_that_cannot_be_opened_is_a_problem_and_the_rest_is_read(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki.write(PAGE)
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(wiki.folder / "topic")
        server.bind("socket.md")
    listing = wiki.list()
    assert listing.pages == (PAGE,)
    assert [one.path for one in listing.problems] == ["topic/socket.md"]


def test_a_name_of_any_bytes_is_a_problem_that_can_be_printed(wiki: Wiki) -> None:
    wiki.write(PAGE)
    os.mkdir(os.fsencode(wiki.folder) + b"/ca\xfft")
    (wiki.folder / "topic" / os.fsdecode(b"no\xfft.md")).write_text("x")
    assert [one.path for one in wiki.list().problems] == ["ca\\xfft", "topic/no\\xfft.md"]
    assert all(one.path.encode("utf-8") for one in wiki.list().problems)


def test_a_page_that_is_not_there_is_said_so(wiki: Wiki) -> None:
    with pytest.raises(ConfigError, match="no such page"):
        wiki.read("topic", "nothing")


def test_a_page_without_a_title_is_never_written(wiki: Wiki) -> None:
    with pytest.raises(ConfigError, match="title is missing"):
        wiki.write(replace(PAGE, title=" \n "))
    assert not wiki.folder.exists()


def test_a_folder_that_cannot_be_written_to_is_unavailable(wiki: Wiki) -> None:
    wiki.write(PAGE)
    with only_readable(wiki.folder), pytest.raises(StoreUnavailable, match="the wiki cannot be used here"):
        wiki.write(PAGE)
    assert wiki.read("topic", "leases") == PAGE


def test_links_name_pages_by_place_slug_or_title_and_the_rest_lead_nowhere() -> None:
    porter = hand_page("The Night Porter", "x", slug="porter")
    page = hand_page("A", "[[porter]] [[topic/porter]] [[the night porter]] [[Nobody]]", slug="a")
    assert resolve_links((page, porter)) == {"topic/a": ("Nobody",)}


def test_whoever_reads_while_others_write_sees_whole_pages(wiki: Wiki) -> None:
    bodies = [f"{letter}{letter * 50_000}" for letter in "abcd"]
    wiki.write(replace(PAGE, body=bodies[0]))
    with ThreadPoolExecutor(4) as threads:
        writes = [threads.submit(wiki.write, replace(PAGE, body=body)) for body in bodies * 3]
        seen = {wiki.read("topic", "leases").body for _ in range(40)}
        assert [write.result().slug for write in writes] == ["leases"] * 12
    assert seen <= set(bodies)
    assert os.listdir(wiki.folder / "topic") == ["leases.md"]
