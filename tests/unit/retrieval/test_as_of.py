"""Which kept generation a number or a date means, and answers from it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from indexes.following import EARLIER_KEPT
from indexes.publish.current import write_current
from indexes.wiring import OpenedStores, Readers, open_readers
from retrieval.as_of import check_mode, choose_generation, find_generation
from retrieval.ask_modes import AskMode
from retrieval.evidence import build_retriever
from retrieval.live import open_retriever
from retrieval.question.query import build_query
from schemas.errors import ConfigError
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import AS_OF
from tests.unit.retrieval.test_live import ASKED, copy_index, edition, editions

KEPT: Mapping[int, str] = {
    4: "2026-02-27T23:59:59+00:00",
    5: "2026-03-01T08:00:00.250+00:00",
    7: "2026-03-01T20:00:00+00:00",
}


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ("4", 4),
        ("7", 7),
        ("2026-02", 4),
        ("2026-02-28", 4),
        ("2026-03-01", 7),
        ("2026-03-01T12:00", 5),
        ("2026-03-01T08:00:00", 5),
        ("2026-03-01T07:59:59Z", 4),
        ("2026-03-01T21:30:00+02:00", 5),
        ("2031-01", 7),
    ],
)
def test_a_number_or_a_date_means_the_newest_generation_made_by_then(wanted: str, number: int) -> None:
    assert choose_generation(wanted, KEPT) == number


@pytest.mark.parametrize("wanted", ["6", "3", "2026-02-26", "2019-01", "2026"])
def test_what_is_not_kept_is_refused_with_what_is(wanted: str) -> None:
    with pytest.raises(ConfigError, match=r"kept: 4 of 2026-02-27.*, 5 of .*, 7 of "):
        choose_generation(wanted, KEPT)


@pytest.mark.parametrize("wanted", ["yesterday", "2026-13", "2026-02-30", "-1", "7.0", "", "v7", "2026-3-1"])
def test_what_is_no_date_is_refused_by_its_form(wanted: str) -> None:
    with pytest.raises(ConfigError, match="must be the number of a generation, a month"):
        choose_generation(wanted, KEPT)


def test_an_answer_as_of_a_generation_is_what_it_was_when_that_was_current(
    folder: Path, tmp_path: Path
) -> None:
    root = copy_index(folder, tmp_path / "index")
    publish_next(root, edition(2))
    then = build_retriever(open_readers(root, environment={})).retrieve(ASKED)
    publish_next(root, edition(3))

    with open_retriever(root, environment={}, clock=lambda: 0.0, cache_mb=64) as live:
        assert editions(live.retrieve(ASKED)) == {3}
        assert live.retrieve(ASKED, as_of="2") == then
        assert live.retrieve(ASKED, as_of="3") == live.retrieve(ASKED)
        assert editions(live.retrieve(ASKED)) == {3}, "a question about the past changes nobody's present"
        assert live.retrieve(ASKED, as_of=AS_OF[:10]).generation == 3, "all were made on one day"
        with pytest.raises(ConfigError, match="kept"):
            live.retrieve(ASKED, as_of="99")


def test_connections_of_an_earlier_generation_are_closed_once_it_is_left_and_nobody_asks_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, opened, apart = copy_index(folder, tmp_path / "index"), list[OpenedStores](), OpenedStores.apart
    for number in range(2, EARLIER_KEPT + 4):
        publish_next(root, edition(number))

    def seen(stores: OpenedStores) -> OpenedStores:
        opened.append(apart(stores))
        return opened[-1]

    def are_open() -> list[bool]:
        return [{"chunks", "graph"} <= vars(stores).keys() for stores in opened]

    monkeypatch.setattr(OpenedStores, "apart", seen)
    with open_retriever(root, environment={}, clock=lambda: 0.0, cache_mb=64) as live:

        def ask_others(readers: Readers) -> bool:
            for number in range(2, EARLIER_KEPT + 2):
                live.retrieve(ASKED, as_of=number)
            return are_open()[0] and not list(readers.chunks.get(["chunk:none"]))

        assert live.read(ask_others, as_of=1), "whoever asks ends on what was given"
        assert are_open() == [False, *[True] * EARLIER_KEPT]
        assert editions(live.retrieve(ASKED, as_of=2)) == {2}
        assert len(opened) == 1 + EARLIER_KEPT, "those that are held are asked again"
        live.retrieve(ASKED, as_of=1)
        assert are_open() == [False, True, *[False] * (EARLIER_KEPT - 1), True]
    assert not any(are_open())


def test_what_was_rolled_back_is_no_past(folder: Path, tmp_path: Path) -> None:
    root = copy_index(folder, tmp_path / "index")
    publish_next(root, edition(2))
    publish_next(root, edition(3))
    write_current(root, 2)

    assert find_generation(root, "2030-01") == 2
    with pytest.raises(ConfigError, match="generation 3 is not kept"):
        find_generation(root, "3")


def test_the_wiki_is_not_written_from_the_past() -> None:
    check_mode(AskMode.WIKI, as_of=None)
    check_mode(AskMode.PLAIN, as_of="1")
    with pytest.raises(ConfigError, match="wiki"):
        check_mode(AskMode.WIKI, as_of="1")


def test_a_question_of_many_pasts_keeps_few_of_them_open(folder: Path, tmp_path: Path) -> None:
    root = copy_index(folder, tmp_path / "index")
    for number in (2, 3, 4, 5):
        publish_next(root, edition(number))
    query = build_query("Archive boxes", top_k=3)
    with open_retriever(root, environment={}, clock=lambda: 0.0) as live:
        for number in (2, 3, 4, 2, 5, 3):
            assert editions(live.retrieve(query, as_of=str(number))) == {number}
        assert len(live._index._earlier) == 2
