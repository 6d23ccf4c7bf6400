"""One document in several forms, on a real server: which one is indexed, and what is told of the others."""

from pathlib import Path

from runtime.parser_pool import ParserPool
from schemas.source import Rate
from sitegraph.actions.explain import explain, translations_of
from tests.fakes.folder_server import python_server
from tests.fakes.known import web_source
from tests.fakes.plain_run import crawl, open_plain_run, publish_ledger, states

CHAPTERS = tuple(f"chapter{number}" for number in range(5))


def words(name: str, number: int = 240) -> str:
    return " ".join(f"{name}-{nth}" for nth in range(number))


def write(path: Path, text: str, *, head: str = "", lang: str = "en") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<html lang={lang}><head>{head}</head><body><main>{text}</main></body></html>")


def write_site(root: Path) -> None:
    """A manual in chapters and in one page, a page in two languages, in versions, and for printers."""
    chapters = {name: f"<h1>{name}</h1><p>{words(name)}</p>" for name in CHAPTERS}
    links = " ".join(f"<a href={name}.html>{name}</a>" for name in CHAPTERS)
    write(root / "manual/index.html", f"<h1>Manual</h1><p>It has {links} and <a href=../manual.html>all</a>.")
    for name, text in chapters.items():
        write(root / f"manual/{name}.html", text)
    write(root / "manual.html", "<h1>Manual</h1>" + "".join(chapters.values()))
    both = "".join(f"<link rel=alternate hreflang={lang} href=/{lang}/tour.html>" for lang in ("en", "de"))
    write(root / "en/tour.html", f"<h1>Tour</h1><p>{words('sight')}", head=both)
    wrong = "<link rel=canonical href=/en/tour.html>"
    write(root / "de/tour.html", f"<h1>Rundgang</h1><p>{words('blick')}", head=both + wrong, lang="de")
    canonical = "<link rel=canonical href=/stable/api.html>"
    write(root / "stable/api.html", f"<h1>Calls</h1><p>{words('call')}", head=canonical)
    write(root / "1.0/api.html", f"<h1>Calls</h1><p>This is 1.0. {words('call')}", head=canonical)
    write(root / "0.9/api.html", f"<h1>Calls</h1><p>{words('relic')}", head=canonical)
    write(root / "print/stable/api.html", f"<h1>Calls</h1><p>{words('call')} Printed today.")
    for version in ("latest", "2.1", "2.0"):
        settings = words("setting") if version == "2.0" else f"{words('setting')} as of 2.1"
        write(root / f"docs/{version}/settings.html", f"<h1>Settings</h1><p>{settings}")
    write(root / "docs/1.0/settings.html", f"<h1>Settings</h1><p>{words('setting', 180)} {words('gone', 60)}")
    pages = (
        *(f"docs/{name}/settings.html" for name in ("latest", "2.1", "2.0", "1.0")),
        "manual/",
        "en/tour.html",
        "stable/api.html",
        "1.0/api.html",
        "0.9/api.html",
    )
    named = " ".join(f"<a href={name}>{name}</a>" for name in (*pages, "print/stable/api.html"))
    write(root / "index.html", f"<h1>Start</h1><p>There are {named}.")


def test_one_form_of_each_document_is_indexed_and_each_language_is_one(
    tmp_path: Path, parsers: ParserPool
) -> None:
    write_site(tmp_path / "site")
    with python_server(tmp_path / "site") as server:
        rate = Rate(per_host_delay=0)
        source = web_source(seeds=(server.url,), allow_private=(server.address,), rate=rate)
        with open_plain_run(tmp_path / "index", source, parsers=parsers) as plain:
            publish_ledger(plain, crawl(plain, "first"))

            site = server.url.rstrip("/")
            copies = {
                "/manual.html": (
                    f"{site}/manual/",
                    f"single-page version of the pages under {site}/manual/",
                ),
                "/1.0/api.html": (
                    f"{site}/stable/api.html",
                    f"names {site}/stable/api.html as canonical, which says the same",
                ),
                "/docs/2.1/settings.html": (
                    f"{site}/docs/latest/settings.html",
                    f"same content as {site}/docs/latest/settings.html",
                ),
                "/docs/2.0/settings.html": (
                    f"{site}/docs/latest/settings.html",
                    f"version of {site}/docs/latest/settings.html that says nearly the same",
                ),
                "/print/stable/api.html": (
                    f"{site}/stable/api.html",
                    f"printable twin of {site}/stable/api.html",
                ),
            }

            def duplicates() -> dict[str, str]:
                return {path: why for path, (state, why) in states(plain).items() if state == "duplicate"}

            assert duplicates() == {path: why for path, (_, why) in copies.items()}

            for path, (original, why) in copies.items():
                (record,) = explain(plain.index, site + path)["documents"]
                assert (record["leads_to"], record["reason"]) == (original, why)
            live = plain.index.ledger.generations.live(plain.index.current()).values()
            assert {one.uri.removeprefix(site): len(one.aliases) for one in live if one.aliases} == {
                "/docs/latest/settings.html": 2,
                "/manual/": 1,
                "/stable/api.html": 2,
            }
            row = plain.index.ledger.documents.get(source.name, [f"{site}/en/tour.html"])
            (german,) = translations_of(plain.index, row[f"{site}/en/tour.html"])
            assert german == {"uri": f"{site}/de/tour.html", "lang": "de", "state": "fetched"}

            assert crawl(plain, "again").changes == ()
            assert duplicates() == {path: why for path, (_, why) in copies.items()}
            write(tmp_path / "site/1.0/api.html", f"<h1>Calls</h1><p>This is 1.0. {words('own')}")
            assert {change.uri for change in crawl(plain, "apart").changes} == {
                f"{site}/stable/api.html",
                f"{site}/1.0/api.html",
            }
