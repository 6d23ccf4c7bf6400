"""What lists and links to addresses, and what is said of documents without words, over both databases."""

from dataclasses import replace

import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger
from schemas.documents import DocumentState
from schemas.fragment import WordCoverage
from tests.fakes.ledger_rows import SITE, link_to, make_fragment, make_known


def test_the_listing_of_a_source_takes_the_place_of_the_one_before(ledger: Ledger) -> None:
    ledger.listings.save("site", {f"{SITE}/a": ("sitemap", "llms.txt"), f"{SITE}/o'neill": ("feed",)})
    ledger.listings.save("other", {f"{SITE}/a": ("feed",)})
    ledger.listings.save("site", {f"{SITE}/a": ("sitemap",), f"{SITE}/new": ("inventory", "seed")})

    assert ledger.listings.of_source("site") == {
        f"{SITE}/a": ("sitemap",),
        f"{SITE}/new": ("inventory", "seed"),
    }
    ledger.documents.forget("site")
    assert ledger.listings.of_source("site") == {}
    assert ledger.listings.of_source("other") == {f"{SITE}/a": ("feed",)}


def test_a_long_listing_is_kept_and_left_whole(ledger: Ledger) -> None:
    long = {f"{SITE}/{number}": ("sitemap",) for number in range(3000)}
    ledger.listings.save("site", long)
    assert ledger.listings.of_source("site") == long
    ledger.listings.save("site", {})
    assert ledger.listings.of_source("site") == {}


def test_what_is_said_of_translations_is_kept_by_address_until_its_document_or_source_goes(
    ledger: Ledger,
) -> None:
    said = {f"{SITE}/{name}": {"sitemap": (f"{SITE}/de", f"{SITE}/o'neill"), "header": ()} for name in "abc"}
    for source in ("site", "other"):
        ledger.translations.save(source, said)
    ledger.translations.save("site", {f"{SITE}/a": {}})
    ledger.documents.remove("site", [f"{SITE}/b"])

    assert ledger.translations.of("site") == {f"{SITE}/a": {}, f"{SITE}/c": said[f"{SITE}/c"]}
    assert ledger.translations.of("other", [f"{SITE}/b"]) == {f"{SITE}/b": said[f"{SITE}/b"]}
    ledger.documents.forget("site")
    assert ledger.translations.of("site") == {}
    assert ledger.translations.of("other") == said


def test_translations_that_no_page_names_are_no_links_of_pages(ledger: Ledger) -> None:
    fragment = replace(
        make_fragment("en", []), translations=(f"{SITE}/de",), told_translations=(f"{SITE}/fr",)
    )
    ledger.links.save([("en", fragment)])
    ledger.documents.save([make_known("en", state=DocumentState.FETCHED, fragment_sha="en", depth=1)])

    assert ledger.links.targets_of_source("site") == {f"{SITE}/de": 1}
    assert ledger.links.targets_of({"en"}) == {f"{SITE}/de", f"{SITE}/fr"}


def test_a_ledger_of_before_that_is_only_read_lists_nothing(ledger: Ledger) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE listed"))

    assert ledger.listings.of_source("site") == {}


def test_links_of_documents_that_are_there_are_counted_with_the_least_depth_and_not_to_themselves(
    ledger: Ledger,
) -> None:
    links = {
        "near": [link_to("near", "me"), link_to("both", "b"), link_to("one", "o")],
        "far": [link_to("both", "b"), link_to("near", "n")],
        "gone": [link_to("lost", "l")],
    }
    ledger.links.save([(path, make_fragment(path, found)) for path, found in links.items()])
    ledger.documents.save(
        [
            make_known("near", state=DocumentState.FETCHED, fragment_sha="near", depth=1),
            make_known("far", state=DocumentState.FAILED, fragment_sha="far", depth=4),
            make_known("gone", state=DocumentState.GONE, fragment_sha="gone"),
            make_known("near", source="other", state=DocumentState.FETCHED, fragment_sha="gone"),
        ]
    )

    assert ledger.links.targets_of_source("site") == {f"{SITE}/both": 1, f"{SITE}/one": 1, f"{SITE}/near": 4}
    assert ledger.links.targets_of_source("other") == {f"{SITE}/lost": 0}


def test_documents_without_words_say_why_they_have_none_where_that_is_known(ledger: Ledger) -> None:
    ledger.documents.save(
        [
            make_known("asks", state=DocumentState.FETCHED, fragment_sha="asks", words=0),
            make_known("old", state=DocumentState.NOT_MODIFIED, fragment_sha="old", words=0),
            make_known("full", state=DocumentState.FETCHED, fragment_sha="full", words=3),
            make_known("gone", state=DocumentState.GONE, fragment_sha="gone", words=0),
        ]
    )
    dropped = WordCoverage(seen=3, kept=0, lost=0, dropped=(("asks not to be indexed", 3),))
    ledger.coverage.save({"asks": dropped})

    found = ledger.coverage.of_textless("site")
    assert found == {f"{SITE}/asks": ("asks not to be indexed",), f"{SITE}/old": ()}


def test_the_report_of_the_last_run_that_ended_well_is_kept(ledger: Ledger) -> None:
    assert ledger.runs.last_good_report("site") == {}
    for number, state in enumerate(("finished", "finished", "refused")):
        run, at = f"run-{number}", f"2026-01-0{number + 1}T00:00:00+00:00"
        ledger.runs.start(run, source="site", now=at)
        ledger.runs.finish(run, state=state, now=at, report={"number": number})
    ledger.runs.start("run-9", source="site", now="2026-01-09T00:00:00+00:00")

    assert ledger.runs.last_good_report("site") == {"number": 1}
