"""What a page says about itself, believed only inside its owner's domain."""

import pytest

from schemas.fragment import GraphFragment
from tests.fakes.pages import links_of, parse_page

SITE = "http://docs.example.org"


def read(page: str, **known: str) -> GraphFragment:
    """Parse a page of a domain that somebody registered."""
    uri = f"{SITE}/guide/start.html"
    return parse_page(page, uri=uri, url=uri, **known)


@pytest.mark.parametrize(
    ("head", "target"),
    [
        ("<base href=/other/>", f"{SITE}/other/a.html"),
        ("<base href='http://en.example.org/x/'>", "http://en.example.org/x/a.html"),
        ("<base href=/first/><base href=/second/>", f"{SITE}/first/a.html"),
        ("<base target=_blank><base href=/first/>", f"{SITE}/first/a.html"),
        ("<base href='http://evil.test/'>", f"{SITE}/guide/a.html"),
        ("<base href='http://evil.test/'><base href=/second/>", f"{SITE}/guide/a.html"),
        ("<base href='ftp://docs.example.org/'>", f"{SITE}/guide/a.html"),
        ("<base href='data:text/html,x'>", f"{SITE}/guide/a.html"),
        ("<base href=''>", f"{SITE}/guide/a.html"),
    ],
)
def test_links_start_at_the_first_base_if_it_stays_with_the_owner(head: str, target: str) -> None:
    assert links_of(read(f"{head}<p><a href=a.html>here</a>"))["here"].target == target


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href=/own.html>", f"{SITE}/own.html"),
        ("<link rel='nofollow CANONICAL' href='own.html#part'>", f"{SITE}/guide/own.html"),
        ("<link rel=canonical href=https://www.example.org/own>", "https://www.example.org/own"),
        ("<base href=/base/><link rel=canonical href=own>", f"{SITE}/base/own"),
        ("<link rel=canonical href=/own><link rel=canonical href=/own>", f"{SITE}/own"),
        ("<link rel=canonical href=/own><link rel=canonical href=/two>", None),
        ("<link rel=canonical href=start.html>", None),
        ("<link rel=canonical href=https://elsewhere.test/>", None),
        ("<link rel=canonical href=mailto:a@b.c>", None),
        ("<link rel=canonical>", None),
        ("<link rel=alternate href=/own.html>", None),
        ("</head><body><p>A comment<link rel=canonical href=/mine.html>", None),
    ],
)
def test_a_page_may_name_one_other_address_of_its_owner_as_its_own(head: str, canonical: str | None) -> None:
    assert read(f"<html><head>{head}<body><p>Text.").canonical == canonical


def test_a_canonical_address_is_a_hint_and_changes_nothing_of_the_content() -> None:
    plain = read("<head></head><body><h1>A</h1><p>Text.")
    hinted = read("<head><link rel=canonical href=/own></head><body><h1>A</h1><p>Text.")
    assert (hinted.doc, hinted.content_hash, hinted.chunks) == (plain.doc, plain.content_hash, plain.chunks)


def test_translations_are_named_once_each_in_order() -> None:
    links = "".join(
        f"<link rel=alternate hreflang={lang} href={href}>"
        for lang, href in [("de", "/de/"), ("fr", "/fr/"), ("x-default", "/de/"), ("en", "start.html")]
    )
    foreign = "<link rel=alternate hreflang=it href=https://elsewhere.test/it/>"
    feed = "<link rel=alternate type=application/rss+xml href=/feed>"
    assert read(f"{links}{foreign}{feed}<p>Text.").alternates == (f"{SITE}/de/", f"{SITE}/fr/")


def test_a_page_to_choose_a_language_on_is_no_translation() -> None:
    links = "<link rel=alternate hreflang=X-Default href=/><link rel=alternate hreflang=de href=/de/>"
    found = read(f"{links}<p>Text.")
    assert (found.alternates, found.translations) == ((f"{SITE}/", f"{SITE}/de/"), (f"{SITE}/de/",))


@pytest.mark.parametrize(("root", "lang"), [("", "pt-BR"), ("<html lang=en>", "en")])
def test_a_page_that_states_no_language_has_that_by_which_it_names_itself(root: str, lang: str) -> None:
    links = "<link rel=alternate hreflang=x-default href=start.html>"
    links += "<link rel=alternate hreflang=de href=/de/><link rel=alternate hreflang=pt-BR href=start.html>"
    assert {chunk.lang for chunk in read(f"{root}{links}<p>Text.").chunks} == {lang}


def test_every_translation_is_kept() -> None:
    links = "".join(f"<link rel=alternate hreflang=x{n} href=/{n}>" for n in range(305))
    assert len(read(f"{links}<p>Text.").alternates) == 305


@pytest.mark.parametrize(
    ("meta", "target"),
    [
        ("<meta http-equiv=refresh content='0; url=/new.html'>", f"{SITE}/new.html"),
        ("<meta http-equiv=Refresh content=\"5;URL='next.html#x'\">", f"{SITE}/guide/next.html"),
        ("<meta http-equiv=refresh content='; url=/new.html'>", f"{SITE}/new.html"),
        ("<meta http-equiv=refresh content='6; url=/new.html'>", None),
        ("<meta http-equiv=refresh content='99999999999999; url=/new.html'>", None),
        ("<meta http-equiv=refresh content='0; url=start.html'>", None),
        ("<meta http-equiv=refresh content=3>", None),
        ("<noscript><meta http-equiv=refresh content='0; url=/plain'></noscript>", None),
        (
            "<noscript><meta http-equiv=refresh content='1; url=/new.html'></noscript>"
            "<script>window.location.replace('/new.html' + location.hash)</script>",
            f"{SITE}/new.html",
        ),
        (
            "<noscript><meta http-equiv=refresh content='1; url=/plain'></noscript>"
            "<script>location.href = '/new.html'</script>",
            None,
        ),
    ],
)
def test_a_quick_refresh_leads_on_and_a_slow_one_or_a_reload_does_not(meta: str, target: str | None) -> None:
    assert read(f"<html><head>{meta}</head><body><p>Moved.").refresh == target


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ("<meta name=robots content=NOINDEX>", (True, False)),
        ("<meta name=robots content='max-snippet:-1, none'>", (True, True)),
        ("<meta name=acmebot content=nofollow>", (False, True)),
        ("<meta name=AcmeBot content='none'><meta name=robots content=all>", (True, True)),
        ("<meta name=otherbot content=none>", (False, False)),
    ],
)
def test_meta_elements_for_all_robots_and_for_ours_are_obeyed(meta: str, expected: tuple[bool, bool]) -> None:
    fragment = read(f"{meta}<h1>A</h1><p>Text.", robot="acmebot")
    assert (fragment.noindex, fragment.nofollow) == expected
    assert bool(fragment.chunks) is not fragment.noindex
