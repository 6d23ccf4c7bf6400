"""The nearest passages of each: exact, in one order, known to where they end, and searched for again."""

from dataclasses import replace

import numpy as np
import pytest

from indexes.embed.screen import open_screen
from ingest.link import nearest
from ingest.link.nearest import (
    NONE,
    Corpus,
    Floats,
    Ints,
    NearestChunks,
    join,
    no_neighbours,
    pack_neighbours,
    places_of,
    renumber,
    run_out,
    scores_of,
    search_again,
)

LEAST = 6000
Near = list[tuple[int, int]]


def corpus(vectors: Floats, sections: Ints | None = None) -> Corpus:
    """Vectors made of unit length, each in a section of its own unless given."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    own = np.arange(len(vectors)) if sections is None else sections
    return Corpus(
        places=np.arange(len(vectors)), vectors=units.astype(np.float32), sections=own.astype(np.uint64)
    )


def taken(of_all: Corpus, places: Ints) -> Corpus:
    """Some of the passages."""
    return Corpus(places=places, vectors=of_all.vectors[places], sections=of_all.sections[places])


def clustered(passages: int, *, seed: int = 0) -> Floats:
    """Directions in bundles, some of them equal."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(passages // 20, 16))
    vectors = centres[rng.integers(0, len(centres), passages)] + 0.4 * rng.normal(size=(passages, 16))
    vectors[: passages // 10] = vectors[0]
    return vectors.astype(np.float32)


def of(neighbours: NearestChunks, place: int) -> Near:
    """Score and place of one passage's neighbours, best first."""
    found = neighbours.known[place][neighbours.known[place] != NONE]
    return list(zip(scores_of(found).tolist(), places_of(found).tolist(), strict=True))


def by_hand(of_all: Corpus, place: int, *, width: int) -> Near:
    """The same by looking at every other passage."""
    products = of_all.vectors[place].astype(np.float64) * of_all.vectors
    scores = np.minimum(np.rint(products.sum(axis=1) * nearest.SCALE), nearest.SCALE).astype(int)
    apart = of_all.sections != of_all.sections[place]
    near = [(-int(scores[other]), other) for other in np.flatnonzero(apart & (scores >= LEAST)).tolist()]
    return [(-negated, other) for negated, other in sorted(near)[:width]]


def test_the_nearest_are_those_that_looking_at_every_pair_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "BLOCK", 64)
    everything = corpus(clustered(300), np.arange(300) // 3)
    neighbours = no_neighbours(300, width=6)

    join(neighbours, everything, (), least=LEAST)

    assert [of(neighbours, n) for n in range(300)] == [by_hand(everything, n, width=6) for n in range(300)]


def test_passages_that_come_later_are_found_and_become_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "BLOCK", 32)
    everything, late = corpus(clustered(120)), np.arange(5, 120, 7)
    at_once = no_neighbours(120, width=4)
    join(at_once, everything, (), least=LEAST)

    early = np.setdiff1d(np.arange(120), late)
    part = replace(taken(everything, early), places=np.arange(len(early)))
    before = no_neighbours(len(early), width=4)
    join(before, part, (), least=LEAST)
    bound = np.append(early, 120)
    step_by_step = renumber(before, place=early, bound=bound)
    halves = (taken(everything, early[50:]), taken(everything, early[:50]))
    join(step_by_step, taken(everything, late), halves, least=LEAST)

    assert np.array_equal(step_by_step.known, at_once.known)


@pytest.mark.parametrize("few", [0, nearest._FEW], ids=["too many to look at", "few"])
def test_a_screen_changes_no_neighbour(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(nearest, "BLOCK", 64)
    monkeypatch.setattr(nearest, "_FEW", few)
    everything, late = corpus(clustered(300), np.arange(300) // 3), np.arange(5, 300, 7)
    early = np.setdiff1d(np.arange(300), late)
    plain, screened = no_neighbours(300, width=6), no_neighbours(300, width=6)

    for neighbours, screen in ((plain, None), (screened, open_screen())):
        join(neighbours, taken(everything, early), (), least=LEAST, screen=screen)
        join(neighbours, taken(everything, late), (taken(everything, early),), least=LEAST, screen=screen)
        search_again(neighbours, taken(everything, late), (everything,), least=LEAST, screen=screen)

    assert np.array_equal(screened.known, plain.known)
    assert np.array_equal(screened.floors, plain.floors)


def test_of_hundreds_of_equal_passages_each_keeps_the_first_by_id() -> None:
    everything = corpus(np.ones((400, 8), np.float32))
    neighbours = no_neighbours(400, width=6)

    join(neighbours, everything, (), least=LEAST)

    assert of(neighbours, 3) == [(10000, place) for place in (0, 1, 2, 4, 5, 6)]
    assert of(neighbours, 399) == [(10000, place) for place in range(6)]


def test_passages_of_one_section_are_no_neighbours() -> None:
    everything = corpus(np.ones((4, 8), np.float32), np.array([7, 7, 8, 7]))
    neighbours = no_neighbours(4, width=3)

    join(neighbours, everything, (), least=LEAST)

    assert [of(neighbours, place) for place in range(4)] == [
        [(10000, 2)],
        [(10000, 2)],
        [(10000, 0), (10000, 1), (10000, 3)],
        [(10000, 2)],
    ]


def test_a_score_is_kept_from_the_least_on() -> None:
    angles = np.array([[1.0, 0.0], [0.6, 0.8], [0.5999, 0.80007]], np.float32)
    neighbours = no_neighbours(3, width=3)

    join(neighbours, corpus(angles), (), least=LEAST)

    assert of(neighbours, 0) == [(6000, 1)]


def test_where_more_was_known_than_is_kept_the_floor_says_so() -> None:
    neighbours = no_neighbours(5, width=2)

    join(neighbours, corpus(np.ones((5, 8), np.float32)), (), least=LEAST)

    assert (
        neighbours.floors.tolist() == pack_neighbours(np.full(5, 10000), np.array([3, 3, 2, 2, 2])).tolist()
    ), "behind the last one kept"


def test_places_move_and_floors_with_them() -> None:
    known = pack_neighbours(np.array([[10000, 9000]]), np.array([[1, 4]]))
    before = NearestChunks(known=np.repeat(known, 5, axis=0), floors=known[0, [1, 1, 1, 1, 1]] + 1)

    after = renumber(
        before, place=np.array([0, -1, 2, 3, 5]), bound=np.array([0, 1, 2, 3, 5, 7])
    )  # one goes, and two come: one before the last, one behind it

    assert of(after, 0) == [(9000, 5)]
    stayed = after.floors[[0, 2, 3, 5]]
    assert (scores_of(stayed).tolist(), places_of(stayed).tolist()) == ([9000] * 4, [7] * 4)
    assert [of(after, new) for new in (1, 4, 6)] == [[], [], []], "of what comes, nothing is known"
    assert after.floors[[1, 4, 6]].tolist() == [NONE] * 3


def test_only_who_lost_too_many_of_more_is_searched_for_again() -> None:
    everything = corpus(np.ones((6, 8), np.float32))
    neighbours = no_neighbours(6, width=3)
    join(neighbours, everything, (), least=LEAST)
    assert run_out(neighbours, wanted=1).tolist() == []
    neighbours.known[4] = NONE
    neighbours.known[5], neighbours.floors[5] = NONE, NONE

    lost = run_out(neighbours, wanted=1)
    search_again(neighbours, taken(everything, lost), (everything,), least=LEAST)

    assert lost.tolist() == [4], "of the other, all is known: there is nothing"
    assert of(neighbours, 4) == [(10000, 0), (10000, 1), (10000, 2)]
