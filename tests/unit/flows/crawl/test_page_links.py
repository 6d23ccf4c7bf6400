"""Links as people write them, on pages of nginx and Python: each is found where a browser finds it."""

from pathlib import Path
from urllib.parse import unquote

from runtime.parser_pool import ParserPool
from schemas.source import Rate, Source
from tests.fakes.folder_server import FolderServer, nginx_server, python_server
from tests.fakes.known import web_source
from tests.fakes.pdfs import heading, new_pdf
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger

FILES = (
    "two words.html", "back/slash.html", "deep/er.html", "stra\u00dfe.html", "x%20y.html", "based/on.html",
    "old.htm", "twin.html", "framed.html", "object.html", "picture.pdf", "whole.pdf",
)  # fmt: skip
LINKS = """
<a href=" two words.html ">a</a> <a href="two%20words.html">a</a> <a href="back\\slash.html">b</a>
<a href="//{address}/deep//er.html">c</a> <a href="stra\u00dfe.html">d</a> <a href="stra%c3%9fe.html">d</a>
<a href="x%2520y.html">e</a> <a href="old.htm">f</a> <a href="based.html">g</a> <a href="nowhere.html">h</a>
<a href="http://[wrong/">i</a> <a href="http://wrong host/">j</a> <a href="mailto:a@b.c">k</a>
<object data="object.html"></object> <iframe src=framed.html></iframe>
<img src=dot.png srcset="dot2.png 2x, picture.pdf 3x">
"""


def write_site(folder: Path, address: str) -> None:
    """Files whose text is their name, and a start page that leads to them in every way."""
    for name in FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("pdf"):
            path.write_bytes(new_pdf([[heading(name)]]).tobytes())
        else:
            words = " ".join(f"{path.stem}-{number}" for number in range(40))
            path.write_text(f"<body><main><h1>{name}</h1><p>{words}</main>", "utf-8")
    (folder / "based.html").write_text(
        "<head><base href=based/></head><body><main><h1>Based</h1><p>It is <a href=on.html>on</a>.</main>"
    )
    head = "<meta charset=utf-8><link rel=alternate type=application/pdf href=whole.pdf>"
    text = LINKS.replace("{address}", address)
    (folder / "index.html").write_text(f"<head>{head}</head><body><main><h1>Start</h1><p>Read: {text}</main>")


def crawl_site(server: FolderServer, plain: PlainRun) -> dict[str, str]:
    """State of each address after a run, by its path, decoded once."""
    publish_ledger(plain, crawl(plain, "first"))
    known = plain.index.ledger.documents.of_source(plain.source.name)
    return {unquote(row.uri.removeprefix(server.url)): row.state.value for row in known}


def source_at(server: FolderServer) -> Source:
    return web_source(seeds=(server.url,), allow_private=(server.address,), rate=Rate(per_host_delay=0))


FOUND = {
    "": "fetched", "two words.html": "fetched", "back/slash.html": "fetched", "stra\u00dfe.html": "fetched",
    "x%20y.html": "fetched", "old.htm": "fetched", "based.html": "fetched", "based/on.html": "fetched",
    "object.html": "fetched", "framed.html": "fetched", "picture.pdf": "fetched", "whole.pdf": "fetched",
    "deep//er.html": "fetched", "nowhere.html": "missing",
}  # fmt: skip


def test_every_link_is_found_where_a_browser_finds_it_and_wrong_ones_are_one_line(
    tmp_path: Path, parsers: ParserPool
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    with (
        python_server(folder) as server,
        open_plain_run(tmp_path / "index", source_at(server), parsers=parsers) as plain,
    ):
        write_site(folder, server.address)

        assert crawl_site(server, plain) == FOUND
        problems = plain.index.ledger.runs.problems("first")
        assert [(problem.url, problem.reason) for problem in problems] == [
            (server.url, "links: 2 that no browser could follow left out, such as 'http://[wrong/'")
        ]


def test_a_page_under_several_file_names_is_one_document(tmp_path: Path, parsers: ParserPool) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    rules = "try_files $uri $uri.html $uri.htm $uri/index.html =404;"
    with (
        nginx_server(folder, tmp_path / "nginx", rules=rules) as server,
        open_plain_run(tmp_path / "index", source_at(server), parsers=parsers) as plain,
    ):
        write_site(folder, server.address)
        links = " ".join(f"<a href={name}>{name}</a>" for name in ("twin", "twin.html", "old", "two%20words"))
        (folder / "index.html").write_text(f"<body><main><h1>Start</h1><p>Read: {links}</main>")

        assert crawl_site(server, plain) == {
            "": "fetched", "twin": "fetched", "twin.html": "duplicate", "old": "fetched",
            "two words": "fetched",
        }  # fmt: skip
