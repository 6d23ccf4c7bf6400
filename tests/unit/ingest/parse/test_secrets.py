"""No secret of a document is in anything that is made of it, and what is left is consistent."""

import pytest

from ingest.parse.document import parse_document
from schemas.fragment import GraphFragment, ParseRequest
from schemas.ids import canonical_json
from schemas.nodes import DocumentKind
from schemas.records import to_record
from schemas.redaction import REDACTED
from tests.fakes.pages import count_words, parse_file, parse_page, sections_of, texts_of
from tests.fakes.secret_samples import draw, github_token, private_key, web_token

TOKEN, PASSWORD = github_token(), draw(24, seed=7)


def everything(fragment: GraphFragment) -> str:
    """All that is kept of a document, in one text."""
    return canonical_json(to_record(fragment))


def holds_nothing(fragment: GraphFragment, *values: str) -> bool:
    """Whether no value is kept, nor its letters in lower case, as an id of a heading would have them."""
    kept = everything(fragment).lower()
    return not any(line.lower() in kept for value in values for line in value.splitlines() if len(line) > 30)


PAGE = f"""<html><head><title>On {TOKEN}</title><link rel=canonical href="/start?k={TOKEN}"></head><body>
<nav aria-label=breadcrumb><a href="/">Home</a> <a href="/b?t={TOKEN}">The {TOKEN}</a></nav>
<main><h1 id="tok-{TOKEN}">Token {TOKEN}</h1>
<p>Before. <b>{TOKEN[:9]}</b>{TOKEN[9:]} is it. <a id=mid></a>Behind it. password: {PASSWORD}</p>
<figure><img src=x.png alt="{TOKEN}"><figcaption>Picture of {TOKEN}</figcaption></figure>
<pre><code>export TOKEN=<span>'{TOKEN}'</span></code></pre>
<table><caption>All of {TOKEN}</caption><tr><th>name<th>value<tr><td>api_key<td>{PASSWORD}</table>
<h2 id=later>Later, {PASSWORD}</h2><p>See <a href="/ok.html#later">the page {PASSWORD}</a>.</p>
</main></body></html>"""


def test_a_page_keeps_no_secret_anywhere() -> None:
    fragment = parse_page(PAGE)
    assert holds_nothing(fragment, TOKEN)
    assert PASSWORD not in everything(fragment)
    assert fragment.secrets == ("github_token", "high_entropy")
    assert fragment.warnings[-1] == "secrets redacted: 1 github_token, 1 high_entropy"
    assert fragment.title == f"Token {REDACTED}"
    assert [link.text for link in fragment.links if "ok" in link.target] == [f"the page {REDACTED}"]


def test_offsets_and_fragments_of_a_redacted_page_are_those_of_its_text() -> None:
    fragment = parse_page(PAGE)
    sections = {section.id: section for section in sections_of(fragment)}
    assert fragment.chunks
    for chunk in fragment.chunks:
        assert chunk.text == sections[str(chunk.section_id)].text[slice(*chunk.offsets)]
    first, last = fragment.chunks[0], fragment.chunks[-1]
    assert "mid" in (first.fragment, *first.fragments)
    assert (last.fragment, last.text) == ("later", f"See the page {REDACTED}.")


@pytest.mark.parametrize(
    "query", [f"key={TOKEN}", f"q=key%3D{TOKEN}%26", f"api_key={PASSWORD}", f"to#{TOKEN}"]
)
def test_a_link_whose_address_carries_a_secret_is_left_out(query: str) -> None:
    fragment = parse_page(f'<h1>Go</h1><p><a href="/in?{query}">in</a> or <a href="/out?key=a">out</a></p>')
    assert [link.text for link in fragment.links] == ["out"]
    assert len(fragment.secrets) == 1


def test_a_page_without_secrets_is_not_touched() -> None:
    fragment = parse_page("<main><h1>Keys</h1><p>A password: <b>changeme</b>, or a token.</p></main>")
    assert (fragment.secrets, fragment.warnings) == ((), ())
    assert texts_of(fragment)["Keys"] == "A password: changeme, or a token."


def test_another_secret_in_its_place_changes_no_id_and_no_hash() -> None:
    old, new = (parse_page(PAGE.replace(TOKEN, github_token(seed))) for seed in (2, 3))
    assert everything(old) == everything(new)


def test_a_value_told_by_its_name_once_is_hidden_everywhere() -> None:
    fragment = parse_page(
        f"<h1>{PASSWORD}</h1><p>Say {PASSWORD}.</p><h2>How</h2><pre>password = {PASSWORD}</pre>"
    )
    assert PASSWORD not in everything(fragment)
    assert fragment.secrets == ("high_entropy",)


def test_a_key_is_hidden_whether_its_lines_are_one_block_or_many() -> None:
    key = private_key()
    lines = "".join(f"<p>{line}</p>" for line in key.splitlines())
    for body in (f"<pre>{key}</pre>", lines, f"<table><tr><td>key<td>{key}</table>"):
        fragment = parse_page(f"<main><h1>Key</h1><p>Keep it.</p>{body}<p>It was here.</p></main>")
        assert holds_nothing(fragment, key)
        assert fragment.secrets == ("private_key",)
        assert texts_of(fragment)["Key"].endswith("It was here.")


MARKDOWN = f"""---
id: GOV-0017
title: How to use {TOKEN}
status: {TOKEN}
relates_to: [GOV-0001, "{TOKEN}"]
owner_token: {PASSWORD}
---
# Use {TOKEN}

Say `password = "{PASSWORD}"`, then [go {TOKEN}](other.md?t={TOKEN}).

| key | value |
|---|---|
| token | {TOKEN} |
"""


def test_a_markdown_file_keeps_no_secret_of_its_front_matter_either() -> None:
    fragment = parse_file(MARKDOWN)
    assert holds_nothing(fragment, TOKEN)
    assert PASSWORD not in everything(fragment)
    assert (fragment.doc_id, fragment.secrets) == ("GOV-0017", ("github_token", "high_entropy"))


@pytest.mark.parametrize("path", ["notes.md", "notes.txt"])
def test_a_secret_that_nobody_reads_is_reported_as_well(path: str) -> None:
    fragment = parse_file(f"---\ntitle: Notes\napi_key: {PASSWORD}\n---\n# Notes\n\nNothing here.\n", path)
    assert PASSWORD not in everything(fragment)
    assert fragment.secrets == ("high_entropy",)


def test_a_key_in_a_script_is_reported_unless_it_is_meant_for_all() -> None:
    script = "<main><h1>Map</h1><p>Look.</p></main><script>load('{}')</script><!-- {} -->"
    assert parse_page(script.format(TOKEN, "")).secrets == ("github_token",)
    assert parse_page(script.format("", private_key())).secrets == ("private_key",)
    assert parse_page(script.format("AIza" + draw(35), web_token())).secrets == ()


def test_a_page_that_is_not_indexed_keeps_no_secret_in_its_title() -> None:
    fragment = parse_page(f"<meta name=robots content=noindex><title>{TOKEN}</title><h1>{TOKEN}</h1>")
    assert fragment.noindex
    assert holds_nothing(fragment, TOKEN)


def test_the_address_of_a_document_is_its_name_and_stays() -> None:
    uri = f"http://docs.example/{TOKEN}"
    request = ParseRequest(uri=uri, url=uri, source="docs", content_type="text/html")
    fragment = parse_document(f"<h1>{TOKEN}</h1>".encode(), request, count_tokens=count_words)
    assert (fragment.uri, fragment.kind, fragment.title) == (uri, DocumentKind.HTML, REDACTED)


def test_links_that_differed_by_a_secret_alone_are_one_that_stands_where_each_did() -> None:
    other = github_token(2)
    assert other != TOKEN
    fragment = parse_page(
        f'<main><h1>Keys</h1><p>Use <a href="/in">key {TOKEN}</a> today.</p>'
        f'<h2>Later</h2><p>Use <a href="/in">key {other}</a> then, and <a href="/in">the door</a>.</p></main>'
    )
    texts = {chunk.id: chunk.text for chunk in fragment.chunks}
    hidden, door = fragment.links
    assert (hidden.text, hidden.count, door.text, door.count) == (f"key {REDACTED}", 2, "the door", 1)
    places = [texts[place.chunk][place.offset or 0 :] for place in hidden.places]
    assert [place[: len(hidden.text)] for place in places] == [hidden.text, hidden.text]
    assert len({place.chunk for place in hidden.places}) == 2
