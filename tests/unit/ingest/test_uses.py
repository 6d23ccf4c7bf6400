"""What directives, Content Signals and TDM reservations say of uses."""

import json

import pytest

from ingest.fetch.robots import RobotsRules
from ingest.parse.access import header_directives
from ingest.uses import (
    TDM,
    join_terms,
    joined_uses,
    next_outside,
    read_tdm_file,
    terms_of_directives,
    terms_of_reservation,
    terms_of_tdm_file,
)
from schemas.uses import Use, UseOrigin, UseTerm, refused_uses, tell_uses
from tests.fakes.secret_samples import github_token

BOTH, AI = {"search", "ai-input"}, {"ai-input", "ai-train"}
AT, LATER = "2026-12-01T07:00:00+00:00", "2026-12-02T07:00:00+00:00"


def said(terms: tuple[UseTerm, ...]) -> dict[str, bool]:
    return {str(term.use): term.allowed for term in terms}


@pytest.mark.parametrize(
    ("header", "refused"),
    [
        (None, set()),
        ("all", set()),
        ("noai, noimageai", AI),
        ("NoAI", AI),
        ("noimageai", set()),
        ("noindex", BOTH),
        ("none", BOTH),
        ("nosnippet", {"ai-input"}),
        ("max-snippet: 0", {"ai-input"}),
        ("max-snippet: 20", set()),
        ("otherbot: noai", set()),
        ("otherbot: noai, sitegraph: nosnippet", {"ai-input"}),
        ("nofollow\nnoai", AI),
        ("unavailable_after: Sat, 25 Jun 2050 15:00:00 GMT, noai", BOTH | AI),
        ("unavailable_after: some day", set()),
        ("unavailable_after: 2050-01-01T00:00:00Z", BOTH),
    ],
)
def test_directives_refuse_uses(header: str | None, refused: set[str]) -> None:
    words = header_directives(header, robot="sitegraph")
    assert set(refused_uses(terms_of_directives(words, UseOrigin.HEADER))) == refused


def test_a_page_that_is_to_be_unavailable_is_refused_from_that_day_on() -> None:
    words = header_directives("unavailable_after: 25 Jun 2050 15:00:00 GMT", robot="sitegraph")
    terms = terms_of_directives(words, UseOrigin.META)
    assert refused_uses(terms) == dict.fromkeys(("search", "ai-input"), "2050-06-25T15:00:00+00:00")
    assert "search refused from 2050-06-25 on (meta: unavailable_after" in tell_uses(terms)


def test_a_date_in_a_header_does_not_name_a_robot() -> None:
    line = "unavailable_after: Sat, 25 Jun 2010 15:00:00 GMT, noindex"
    assert "noindex" in header_directives(line, robot="sitegraph")


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        ("", {}),
        ("Content-Signal: ai-input=no", {}),
        ("User-agent: *\nContent-Signal: search=yes, ai-train=no", {"search": True, "ai-train": False}),
        ("User-Agent: *\nAllow: /\ncontent-signal : AI-Input = no", {"ai-input": False}),
        ("User-Agent: *\nAllow: /\ncontent-signal : AI-Input=NO", {"ai-input": False}),
        ("User-agent: *\nContent-Signal: ai-input=maybe, use=reference, search=no", {"search": False}),
        ("User-agent: a\n\nUser-agent: *\nContent-Signal: ai-input=no", {"ai-input": False}),
        ("User-agent: other\nContent-Signal: ai-input=no", {}),
        ("User-agent: *\nContent-Signal: ai-input=no\n\nUser-agent: sitegraph\nAllow: /", {}),
        (
            "User-agent: sitegraph\nContent-Signal: ai-input=yes\nUser-agent: *\nContent-Signal: ai-input=no",
            {"ai-input": True},
        ),
        ("User-agent: *\nContent-Signal: search=yes\nContent-Signal: search=no", {"search": False}),
        ("User-agent: *\nContent-Signal: search=yes # ai-input=no", {"search": True}),
    ],
)
def test_robots_txt_signals_to_the_group_that_is_meant(robots: str, expected: dict[str, bool]) -> None:
    assert said(RobotsRules(robots, "sitegraph").uses) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, {}), ("", {}), ("2", {}), ("0", dict.fromkeys(AI, True)), (" 1 ", dict.fromkeys(AI, False))],
)
def test_a_reservation_of_mining_is_of_what_models_read(value: str | None, expected: dict[str, bool]) -> None:
    assert said(terms_of_reservation(value, None, UseOrigin.HEADER)) == expected


def test_a_reservation_names_its_policy_but_no_secret() -> None:
    (one, _) = terms_of_reservation("1", "https://example.org/policy.json", UseOrigin.META)
    assert one.said == "tdm-reservation: 1, tdm-policy: https://example.org/policy.json"
    key = f"https://example.org/?token={github_token()}"
    (one, _) = terms_of_reservation("1", key, UseOrigin.META)
    assert one.said == "tdm-reservation: 1"


RULES = [
    {"location": "/", TDM: 0},
    {"location": "/docs/", TDM: 1, "tdm-policy": "https://example.org/p"},
    {"location": "/docs/open/*.html$", TDM: 0},
    {"location": "/docs/open/", TDM: "1"},
    {"location": 7, TDM: 1},
    "none",
]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/docs/a", False),
        ("/docs/open/a.html", True),
        ("/docs/open/a.html?q=1", False),
        ("/docs/open/a.pdf", False),
        ("/docs", True),
    ],
)
def test_the_longest_location_of_a_tdm_file_counts(path: str, allowed: bool) -> None:
    rules = read_tdm_file(json.dumps(RULES).encode())
    terms = terms_of_tdm_file(rules, f"https://example.org{path}")
    assert said(terms) == dict.fromkeys(AI, allowed)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b"[[]]", b"\xff", b"[" * 9000, b'[{"location": "/"}]']
)
def test_a_tdm_file_that_is_none_says_nothing(body: bytes) -> None:
    assert terms_of_tdm_file(read_tdm_file(body), "https://example.org/") == ()


@pytest.mark.parametrize(
    ("location", "path", "fits"),
    [
        ("/caf%c3%a9/", "/caf%C3%A9/", True),
        ("/café/", "/caf%C3%A9/", True),
        ("/a b", "/a%20b", True),
        ("/%7Eme", "/~me", True),
        ("/a*b*c$", "/abbc", True),
        ("/ab*bc$", "/abc", False),
        ("/*.pdf$", "/a.pdf?page=2", False),
        ("/*a*a*a*a*a*a*a*a*a*a*a*ab", f"/{'a' * 2_000}", False),
    ],
)
def test_locations_are_compared_as_rules_of_robots_are_and_none_takes_long(
    location: str, path: str, fits: bool
) -> None:
    rules = read_tdm_file(json.dumps([{"location": location, "tdm-reservation": 1}]).encode())
    assert bool(terms_of_tdm_file(rules, f"https://example.org{path}")) is fits


def test_a_reservation_in_a_page_stands_in_the_place_of_its_headers_and_that_of_the_files() -> None:
    meta, header, file = (
        terms_of_reservation(value, None, origin)
        for value, origin in (("0", UseOrigin.META), ("1", UseOrigin.HEADER), ("1", UseOrigin.TDMREP))
    )
    noai = terms_of_directives(["noai"], UseOrigin.ROBOTS)
    assert {term.origin for term in join_terms(file, header)} == {UseOrigin.HEADER}
    assert refused_uses(join_terms(file, header, meta)) == {}
    assert set(refused_uses(join_terms(file, header, meta, noai))) == AI, "who else refuses still does"


def test_what_is_said_again_was_seen_when_it_was_said_first() -> None:
    noai = terms_of_directives(["noai"], UseOrigin.HEADER)
    none_told = {UseOrigin.ROBOTS: (), UseOrigin.TDMREP: ()}
    first = next_outside((), none_told, noai, now=AT)
    again = next_outside(first, none_told, noai, now=LATER)
    assert {term.seen_at for term in again} == {AT}
    signal = RobotsRules("User-agent: *\nContent-Signal: ai-train=no", "sitegraph").uses
    more = next_outside(again, {**none_told, UseOrigin.ROBOTS: signal}, noai, now=LATER)
    assert {(term.origin, term.seen_at) for term in more} == {("header", AT), ("robots.txt", LATER)}
    lifted = next_outside(more, none_told, (), now=LATER)
    assert lifted == ()


def test_what_could_not_be_read_now_stays_as_it_was() -> None:
    reserved = terms_of_reservation("1", None, UseOrigin.TDMREP)
    held = next_outside((), {UseOrigin.TDMREP: reserved}, (), now=AT)
    assert next_outside(held, {UseOrigin.ROBOTS: ()}, (), now=LATER) == held


def test_what_a_page_states_is_joined_with_what_was_said_beside_it() -> None:
    stated = terms_of_directives(["nosnippet"], UseOrigin.META)
    beside = next_outside(
        (), {UseOrigin.TDMREP: terms_of_reservation("1", None, UseOrigin.TDMREP)}, (), now=AT
    )
    joined = joined_uses(stated, beside, now=LATER)
    assert [(term.use, term.origin, term.seen_at) for term in joined] == [
        (Use.AI_INPUT, UseOrigin.META, LATER),
        (Use.AI_INPUT, UseOrigin.TDMREP, AT),
        (Use.AI_TRAIN, UseOrigin.TDMREP, AT),
    ]
    assert joined_uses(stated, joined, now="2027-01-01T00:00:00+00:00") == joined
