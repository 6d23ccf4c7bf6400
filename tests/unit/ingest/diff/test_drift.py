"""Which versions say something else than a page did, and when such a text is taken for what it is."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.diff.drift import (
    DRIFTED,
    count_hold,
    has_drifted,
    has_settled,
    is_read_anew,
    measure_drift,
    runs_of,
)
from ingest.diff.guard import drift_message
from schemas.documents import DocumentState, HistoryEntry, HistoryEvent
from schemas.fragment import GraphFragment
from tests.fakes.known import NOW, SITE, known, live
from tests.fakes.pages import parse_page

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(subject: str, number: int) -> str:
    """A text of so many words, no two alike."""
    return " ".join(f"{subject}{LETTERS[at // 26]}{LETTERS[at % 26]}" for at in range(number))


def page(*parts: tuple[str, str]) -> GraphFragment:
    """A page of headings and what stands under each, the first its title."""
    said = "".join(
        f"<h{1 if place == 0 else 2}>{heading}</h{1 if place == 0 else 2}><p>{text}.</p>"
        for place, (heading, text) in enumerate(parts)
    )
    return parse_page(f"<title>{parts[0][0]}</title><main>{said}</main>")


TIDES = page(("Tides", words("tide", 60)), ("Springs", words("spring", 60)))
STUB = page(("Tides", words("note", 40)))


@pytest.mark.parametrize(
    ("before", "now", "held"),
    [
        (TIDES, TIDES, False),
        (TIDES, page(("Sorry", words("sorry", 60))), True),
        (TIDES, page(("Sorry", words("sorry", 300))), True),
        (TIDES, page(("Tides", words("sorry", 20))), True),
        # A part of it is left, or it stands among more.
        (TIDES, page(("Sorry", words("tide", 40))), False),
        (TIDES, page(("Sorry", words("tide", 20))), True),
        (TIDES, page(("News", f"{words('news', 300)} {words('tide', 60)}")), False),
        # Written anew under the same headings, but not where little stands under them.
        (TIDES, page(("Tides", words("ebb", 50)), ("Springs", words("neap", 50))), False),
        (TIDES, page(("Tides", words("ebb", 20)), ("Springs", words("neap", 20))), True),
        (TIDES, page(("Moons", words("ebb", 50)), ("Springs", words("neap", 50))), True),
        # A stub that was filled, a notice that gave way to content; not a page of some length.
        (STUB, page(("Ships", words("ship", 200))), False),
        (STUB, page(("Ships", words("ship", 100))), True),
        (page(("Tides", words("tide", 200))), page(("Ships", words("ship", 670))), True),
        # Too little to tell by.
        (page(("Tides", words("tide", 20))), page(("Sorry", words("sorry", 60))), False),
        # Reading order and case do not count, numbers neither.
        (TIDES, page(("SPRINGS", words("spring", 60).upper()), ("TIDES", words("tide", 60).upper())), False),
    ],
)
def test_a_page_is_held_that_keeps_little_of_what_it_said(
    before: GraphFragment, now: GraphFragment, held: bool
) -> None:
    assert has_drifted(now, before) is held


def test_a_list_of_links_may_lead_elsewhere_each_time() -> None:
    def listing(subject: str) -> GraphFragment:
        items = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in words(subject, 60).split())
        return parse_page(f"<title>News</title><main><h1>News</h1><ul>{items}</ul></main>")

    assert not has_drifted(listing("spring"), listing("autumn"))
    assert has_drifted(page(("Sorry", words("sorry", 60))), listing("autumn"))


def test_prices_and_dates_are_no_words() -> None:
    then, now = (
        page(
            (
                "Rates",
                " ".join(f"{name} {factor * at}.5" for at, name in enumerate(words("rate", 60).split())),
            )
        )
        for factor in (3, 7)
    )
    drift = measure_drift(now, then)
    assert drift is not None
    assert drift.runs == 1


def test_a_sign_is_a_word_where_words_are_not_set_apart() -> None:
    assert len(runs_of("港の鐘は朝に鳴る")) == 6


@given(st.text(max_size=400), st.text(max_size=400))
def test_a_text_that_only_grew_keeps_all_that_it_said(text: str, more: str) -> None:
    assert runs_of(text) <= runs_of(f"{text}\n{more}")


def held(looks: int, days: float, reason: str = DRIFTED) -> bool:
    """Whether a text has settled that was found at so many looks, the first so many days before the last."""
    row = known(reason=reason)
    for look in range(looks):
        passed = timedelta(days=days * look / max(1, looks - 1))
        row = count_hold(
            known(
                reason=reason,
                misses=row.misses,
                missed_at=row.missed_at,
                checked_at=(NOW + passed).isoformat(),
            )
        )
    return has_settled(row)


@pytest.mark.parametrize(
    ("looks", "days", "settled"),
    [(3, 7, True), (2, 30, False), (99, 6.9, False), (99, 7, True), (1, 0, False)],
)
def test_a_text_is_meant_after_three_looks_and_seven_days(looks: int, days: float, settled: bool) -> None:
    assert held(looks, days) is settled
    assert not held(looks, days, reason="a login page")


def test_bytes_that_readers_see_already_are_only_read_in_another_way() -> None:
    def parsed(raw: str, content: str) -> HistoryEntry:
        return HistoryEntry(
            source="handbook",
            uri=SITE,
            seq=1,
            event=HistoryEvent.PARSED,
            to_state=DocumentState.FETCHED,
            raw_sha=raw,
            content_hash=content,
        )

    now = known(raw_sha="r1", content_hash="c2")
    assert is_read_anew(now, live(content_hash="c1"), (parsed("r1", "c1"),))
    assert not is_read_anew(now, live(content_hash="c1"), (parsed("r0", "c1"), parsed("r1", "c2")))


def test_many_pages_that_say_something_else_are_told_in_one_line() -> None:
    rows = [known(f"{SITE}{n}", state=DocumentState.QUARANTINED, reason=DRIFTED) for n in range(5)]
    others = [known(f"{SITE}x", state=DocumentState.QUARANTINED, reason="a login page"), known()]
    told = drift_message([*rows, *others], many=5, live=40)
    assert told is not None
    assert told.startswith("5 of 40 documents say something else than before and are held")
    assert told.endswith("sitegraph run SOURCE.yaml --accept")
    assert drift_message([*rows[1:], *others], many=5, live=40) is None
