"""Who may see a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.plan import access
from ingest.plan.access import CLOSED, asked_of, has_path_rule, may_see, why_closed
from ingest.urls import canonical_url, file_url
from schemas.access import PathAccess, SourceAccess, refusal_of
from schemas.source import Source
from schemas.uses import Use
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


def told(source: Source, url: str) -> str | None:
    return why_closed(source, url, asked_of(source, url))


def lists(*groups: str | None) -> frozenset[frozenset[str]]:
    """Lists of one group each."""
    return frozenset(frozenset({group}) for group in groups if group)


CLOSED_PATHS = (
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
    *("/a%252fb/..%2fhr/pay", "/a%2fb/..;/hr/pay", "/a%5cb/..;/hr/pay", "/a%255cb/..%2fhr/pay"),
    *("//hr/%252e%252e/..%2fpay", "/HR//..%2fpay", "/pub/..%2fhr//..%2fpay", "/hr./public%252f/pay"),
    *("/hr%252fpublic%255c/pay", "/hr/a%252fb/..%2f..%2fhr/pay", "/(S(abc))/hr/pay", "/(A(x)F(y))/hr/p"),
    *(
        "/hr:$I30:$INDEX_ALLOCATION/pay",
        "/pub/pay.html:$DATA",
        "/index.php./hr/pay",
        "/index.php%20/hr/p",
    ),
    *("/h%E2%81%AAr/pay", "/h%CD%8Fr/pay", "/h%F3%A0%80%A0r/pay", "/hr%E2%80%A8/pay", "/hr%3Fpay"),
)


def is_closed(source: Source, url: str) -> bool:
    """Whether an address is for `hr` or for nobody."""
    asked = asked_of(source, canonical_url(url) or "")
    return lists("hr") <= asked or asked >= CLOSED


def test_globs_match_what_servers_make_of_an_address() -> None:
    assert [path for path in CLOSED_PATHS if not is_closed(SITE, HOST + path)] == []


WWW = "http://www.h.example"
PORT = "http://h.example:8080"


FORMS: list[tuple[list[str], list[str]]] = [
    *(
        (
            [glob],
            [
                f"{WWW}/HR/pay",
                f"{WWW}//hr/pay",
                "https://www.h.example/hr/pay",
                "http://h.example/hr/pay",
            ],
        )
        for glob in (
            *("http://*.h.example/hr/*", "http://w*.h.example/hr/*", "http://???.h.example/hr/*"),
            *("http://[wv]*.h.example/hr/*", "*://www.h.example/hr/*", "http*://www.h.example/hr/*"),
            *("*www.h.example/hr/*", "*.h.example/hr/*", "*/hr/*", "https://h.example//hr/*"),
        )
    ),
    *(
        ([glob], [f"{PORT}/HR/pay", f"{PORT}//hr/pay", "https://h.example:8080/hr/pay"])
        for glob in (
            *("http*://h.example:8080/hr/*", "*://h.example:*/hr/*", "[h]ttp://h.example:8080/hr/*"),
            *("*:8080/hr/*", "*8080/hr/*", "http://h.example:80*/hr/*"),
        )
    ),
    (["/p/*", "+/p/*.html"], ["/p/plan.txt?a=.html", "/P/plan.txt?a=.html", "/p/plan.pdf%3F.html"]),
    (["/hr/*", "+/hr/*public*"], ["/hr/pay?x=public", "/HR/pay?public"]),
    (["/hr/*", "+/hr/public/*"], ["/hr/public/a%252fb/..%2f..%2fpay"]),
    (["/pub/pay.php"], ["/pub/pay.php/x", "/PUB/pay.php/x/y"]),
    (["/hr/*", "+/hr/*.html"], ["/hr/pay.php/x.html", "/HR/pay.php/x.html", "/HR/pay.php"]),
    (["/hr/*.html"], ["/hr/pay", "/HR/pay", "/hr/pay.htm", "/hr/a/", "/hr/"]),
    (["/hr/*/index.html"], ["/hr/a/", "/hr/a"]),
    (["/hr/index.html*"], ["/hr/", "/hr"]),
    (["/hr/index.*"], ["/hr/", "/hr"]),
    (["/hr/index.html"], ["/hr/index", "/hr/"]),
    (["/hr/pay.*"], ["/hr/pay", "/HR/Pay"]),
    (["http*://h.example:80*/index.html"], ["http://h.example:8000/HR/A/INDEX.HTML"]),
    (["*/*.html", "+http://www.h.example*/hr/*"], ["http://h.example/HR/PAY.HTML"]),
    (["*/hr/*.html", "+https://h.example/[h]r/*"], ["http://h.example:8000/hr/"]),
    *(([f"/pub/pay.{end}"], ["/pub/pay"]) for end in ("pdf", "shtml", "txt", "docx", "cgi", "do", "cfm")),
    (["/pub/pay.html"], ["/pub/pay.html.en", "/pub/pay.en.html"]),
    (["/a/hr/*"], ["/a/b/index.html/..;/..;/hr/pay", "/a/index.php/hr/pay"]),
    (["/view?doc=pay%20scale"], ["/view?doc=pay+scale", "/view?doc=pay%2520scale"]),
    (["/view?doc=pay+scale"], ["/view?doc=pay%20scale"]),
    (["/view?pay"], ["/view?x&pay", "/view?pay="]),
    (
        ["/view?doc=pay", "+/view", "+/view?lang=en"],
        [
            *("/view?doc[]=pay", "/view?doc=a&doc=pay&doc=b", "/view?%20doc=pay", "/view?x&doc=pay"),
            *("/view?lang=en&doc=pay", "/view?q=%E9&doc=pay"),
        ],
    ),
    (["/view?doc[]=pay"], ["/view?doc=pay"]),
]


def test_no_form_of_a_glob_or_an_address_opens_what_another_closes() -> None:
    for globs, urls in FORMS:
        paths = tuple(
            PathAccess(
                path=path if "h.example" in path or path[0] == "*" else f"http://h.example{path}",
                groups=(to,),
            )
            for path, to in ((one.lstrip("+"), "public" if one[0] == "+" else "hr") for one in globs)
        )
        source = web_source(access=SourceAccess(paths=paths))
        whole = [f"http://h.example{url}" if url[0] == "/" else url for url in urls]
        assert [url for url in whole if not is_closed(source, url)] == [], globs


def test_a_glob_that_opens_a_host_or_its_start_pages_does_so() -> None:
    globs = ("http://*.h.example/pub/*", "http://h.example/top/*.html")
    paths = tuple(PathAccess(path=one, groups=("public",)) for one in globs)
    source = web_source(access=SourceAccess(groups=("staff",), paths=paths))
    for url in (f"{WWW}/pub/a", "http://h.example/top/index.html", f"{WWW}/pub/index.html"):
        assert asked_of(source, url) == frozenset(), url


@pytest.mark.parametrize(
    "host", ["http://docs.example.org", f"{HOST}:8443", f"{HOST}.", "https://www.docs.example.org"]
)
def test_a_site_is_one_by_whichever_door(host: str) -> None:
    assert asked_of(SITE, f"{host}/hr/pay") == lists("hr")


UNREADABLE = (
    "/%C0%AFhr/pay",
    "/view?doc=%C1%B0ay&lang=en",
    "/hr%u002Fpay",
    "/pub%00/pay",
    "/HUMANR~1/pay",
    f"/%{'25' * 20}2Fhr",
    "/a;b/c",
)


def test_what_nobody_can_read_is_closed_and_said() -> None:
    for path in UNREADABLE:
        assert lists("*") <= asked_of(SITE, HOST + path), path
        assert "seen only in the whole index" in (told(SITE, HOST + path) or ""), path


OPEN_PATHS = (
    *("/", "/pub/", "/hrm/pay", "/pub/hr.html", "/hr/holidays.html", "/HR/Holidays.html", "/caf%C3%A9"),
    *("/100%25", "/view?doc=pub&lang=en", "/view?doc=pay", "/pub/pay.pdf", "/x/..", "/~user/"),
    *(
        "/caf%E9",
        "/s?q=caf%E9",
        "/v~1",
        "/wiki/Help:Contents",
        "/%E9t%E9",
        "/index.php/a",
        "/a?b;c=//d/../e",
    ),
)


def test_a_page_that_no_glob_means_stays_open() -> None:
    for path in OPEN_PATHS:
        url = canonical_url(HOST + path) or ""
        assert (asked_of(SITE, url), told(SITE, url)) == (frozenset(), None), path


def test_an_address_that_may_be_read_as_a_closed_one_is_told() -> None:
    assert told(SITE, f"{HOST}/hr/pay") is None
    assert "only for hr: servers may read" in (told(SITE, f"{HOST}/HR/pay") or "")


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
    asked = asked_of(source, canonical_url(HOST + path) or "")
    assert lists("hr") <= asked or asked >= CLOSED
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
        assert lists("hr") <= asked_of(SITE, url) or asked_of(SITE, url) >= CLOSED
    files = file_source(access=STAFF)
    assert lists("hr") <= asked_of(files, file_url("notes", f"hr/{tail}"))
    assert has_path_rule(files, file_url("notes", f"hr/{tail}"))


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


@pytest.mark.parametrize(
    ("reader", "sees"),
    [
        ((), True),
        (("*",), True),
        (("*", "allow=ai-input"), False),
        (("allow=ai-input",), False),
        (("*", "allow=search"), True),
        (("hr", "allow=search", "allow=ai-input"), False),
    ],
)
def test_a_refusal_keeps_out_those_alone_who_allow_the_use(reader: tuple[str, ...], sees: bool) -> None:
    assert may_see(frozenset(reader), refusal_of(Use.AI_INPUT)) is sees
    assert may_see(frozenset(reader), refusal_of(Use.AI_INPUT), ("staff",)) is (sees and "*" in reader)
