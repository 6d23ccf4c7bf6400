"""Who may see a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.plan import access
from ingest.plan.access import asked_of, is_named, may_see, why_closed
from ingest.urls import canonical_url, file_url
from schemas.access import PathAccess, SourceAccess
from tests.fakes.known import file_source, web_source

STAFF = SourceAccess(
    groups=("staff",),
    paths=(
        PathAccess(path="hr/*", groups=("hr",)),
        PathAccess(path="hr/holidays.md", groups=("public",)),
    ),
)


@pytest.mark.parametrize(
    ("path", "groups"),
    [("guide.md", "staff"), ("hr/pay.md", "hr"), ("hr/holidays.md", None)],
)
def test_the_last_glob_that_matches_stands_in_the_place_of_the_source(path: str, groups: str | None) -> None:
    assert asked_of(file_source(access=STAFF), file_url("notes", path)) == lists(groups)


HOST = "https://docs.example.org"
SITE = web_source(
    access=SourceAccess(
        paths=(
            PathAccess(path=f"{HOST}/hr/*", groups=("hr",)),
            PathAccess(path=f"{HOST}/hr/holidays.html", groups=("public",)),
            PathAccess(path=f"{HOST}/pub/pay.html", groups=("hr",)),
            PathAccess(path=f"{HOST}/view?doc=pay*&lang=en", groups=("hr",)),
        )
    )
)


def lists(*groups: str | None) -> frozenset[frozenset[str]]:
    """Lists of one group each."""
    return frozenset(frozenset({group}) for group in groups if group)


@pytest.mark.parametrize(
    "path",
    [
        *("/hr/pay", "//hr/pay", "/HR/pay", "/hr%2Fpay", "/hr;v=1/pay", "/pub/..%2Fhr/pay", "/hr", "/hr/"),
        *("/hr%252Fpay", "/hr%25252Fpay", "/%2568r/pay", "/hr%5Cpay", "/pub%5C..%5Chr%5Cpay", "/hr/;/pay"),
        *(
            "/pub/..;/hr/pay",
            "/pub;a/..;b/hr/pay",
            "/pub/..%3B/hr/pay",
            "/hr./pay",
            "/hr%20/pay",
            "/hr...;x/p",
        ),
        *("/index.php/hr/pay", "/./hr/pay", "/pub/%2E./hr/pay", "/%EF%BC%A8%EF%BC%B2/pay", "/hr%EF%BC%8Fpay"),
        *("/pub/%EF%BC%8E%EF%BC%8E/hr/pay", "/h%C2%ADr/pay", "/h%E2%80%8Br/pay", "/hr::$INDEX_ALLOCATION/p"),
        *(
            "/pub/pay.html?v=1",
            "/pub/pay",
            "/pub/PAY.HTM",
            "/pub/pay.html/",
            "/pub/pay.html;x",
            "/pub/pay.html.",
        ),
        *(
            "/view?lang=en&doc=pay1",
            "/view?doc=pay1&x=y&lang=en",
            "/View?DOC=%70ay&lang=en",
            "/view/?lang=en;doc=pay",
        ),
        *("/view?doc=pub&doc=pay&lang=en", "/view?doc=pay&lang=en&doc=pub"),
    ],
)
def test_globs_match_what_servers_make_of_an_address(path: str) -> None:
    assert lists("hr") <= asked_of(SITE, canonical_url(HOST + path) or "")


@pytest.mark.parametrize(
    "host", ["http://docs.example.org", f"{HOST}:8443", f"{HOST}.", "https://www.docs.example.org"]
)
def test_a_site_is_one_by_whichever_door(host: str) -> None:
    assert asked_of(SITE, f"{host}/hr/pay") == lists("hr")


@pytest.mark.parametrize(
    "path",
    ["/%C0%AFhr/pay", "/hr%u002Fpay", "/pub%00/pay", "/HUMANR~1/pay", f"/%{'25' * 20}2Fhr", "/%E9t%E9"],
)
def test_what_nobody_can_read_is_closed_and_said(path: str) -> None:
    assert lists("*") <= asked_of(SITE, HOST + path)
    assert "seen only in the whole index" in (why_closed(SITE, HOST + path) or "")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/pub/", "/hrm/pay", "/pub/hr.html", "/hr/holidays.html", "/HR/Holidays.html", "/caf%C3%A9"),
        *("/100%25", "/view?doc=pub&lang=en", "/view?doc=pay", "/pub/pay.pdf", "/a;b/c", "/x/..", "/~user/"),
    ],
)
def test_a_page_that_no_glob_means_stays_open(path: str) -> None:
    url = canonical_url(HOST + path) or ""
    assert (asked_of(SITE, url), why_closed(SITE, url)) == (frozenset(), None)


def test_an_address_that_may_be_read_as_a_closed_one_is_told() -> None:
    assert why_closed(SITE, f"{HOST}/hr/pay") is None
    assert "only for hr: servers may read" in (why_closed(SITE, f"{HOST}/HR/pay") or "")


@pytest.mark.parametrize(
    "path", ["/pub/../hr/pay", "/pub/..%2Fhr/pay", "/PUB/..%2Fhr/pay", "/hr/pub/..%2Fpay"]
)
def test_a_glob_that_opens_opens_no_other_reading(path: str) -> None:
    closed = SourceAccess(
        groups=("staff",),
        paths=tuple(
            PathAccess(path=f"{HOST}/{glob}", groups=(group,))
            for glob, group in (("hr/*", "hr"), ("pub/*", "public"), ("hr/pub/*", "public"))
        ),
    )
    source = web_source(access=closed)
    assert lists("hr") <= asked_of(source, canonical_url(HOST + path) or "")
    assert asked_of(source, f"{HOST}/pub/a.html") == frozenset()
    assert asked_of(source, f"{HOST}/Pub/a.html") == lists("staff")  # as written, no glob opens it


def test_a_glob_stays_one_when_it_is_folded() -> None:
    globs = (f"{HOST}/a%2Ab/*", "http*://*/Secret/*", f"{HOST}:80*/r[AB]/*", "http://[[]::1]:81/x/*")
    source = web_source(
        access=SourceAccess(paths=tuple(PathAccess(path=one, groups=("hr",)) for one in globs))
    )
    for url in (f"{HOST}/A%2Ab/x", "http://h/SECRET/x", f"{HOST}:8080/RA/x", "http://[::1]:81/X/y"):
        assert asked_of(source, url) == lists("hr"), url
    for url in (f"{HOST}/acb/x", f"{HOST}/rc/x", "http://[::2]:81/x/y"):
        assert asked_of(source, url) == frozenset(), url


def test_globs_are_prepared_once_however_many_addresses_are_asked_of(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []

    def fold(glob: str) -> str:
        prepared.append(glob)
        return glob

    monkeypatch.setattr(access, "_folded_glob", fold)
    globs = tuple(f"{HOST}/closed-{number}/*" for number in range(300))
    source = web_source(
        access=SourceAccess(paths=tuple(PathAccess(path=one, groups=("hr",)) for one in globs))
    )

    for number in range(3):
        assert asked_of(source, f"{HOST}/closed-{number}/page") == lists("hr")

    assert sorted(prepared) == sorted(globs)


@given(st.text(alphabet="hr/%25Ff.;\\~ AHR\u00e9\uff0f", max_size=40))
def test_no_address_below_a_closed_folder_is_open(tail: str) -> None:
    url = canonical_url(f"{HOST}/hr/{tail}")
    if url is not None and url.startswith(f"{HOST}/hr/"):
        assert lists("hr") <= asked_of(SITE, url)
    files = file_source(access=STAFF)
    assert lists("hr") <= asked_of(files, file_url("notes", f"hr/{tail}"))
    assert is_named(files, file_url("notes", f"hr/{tail}"))


@pytest.mark.parametrize(
    ("reader", "source", "page", "sees"),
    [
        ((), (), (), True),
        ((), ("public",), (), True),
        ((), ("staff",), (), False),
        (("hr",), ("staff", "hr"), (), True),
        (("hr",), (), ("staff",), False),
        (("hr", "staff"), ("staff",), ("hr",), True),
        (("hr",), ("staff",), ("hr",), False),  # front matter cannot open what the source file closes
        ((), ("staff",), ("public",), False),
        (("staff",), ("*",), (), False),
        (("*",), ("*",), ("hr",), True),
    ],
)
def test_a_reader_needs_one_group_of_each_list(
    reader: tuple[str, ...], source: tuple[str, ...], page: tuple[str, ...], sees: bool
) -> None:
    assert may_see(frozenset(reader), source, page) is sees
