"""Formats that are read by their source: an honest file loses nothing, and what a parser loses is found."""

import json
import random
import time
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import pytest

from ingest.parse.coverage.cover import cover
from ingest.parse.document import format_of, parse_document
from ingest.parse.wording import fold_words
from schemas.fragment import GraphFragment, ParseRequest, UnreadWords, WordCoverage
from tests.fakes.pages import count_words
from tests.unit.ingest.parse.coverage.test_losses import Loser, text, words

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
NUMBER = 164

ASCIIDOC = f"""= {text(0, 2)}
:unseen: {text(300, 2)}

// {text(302, 2)}
{text(2, 40)}, *{text(42, 3)}*.

[[unseen]]
{text(45, 3)}
{"-" * len(text(45, 3))}

* {text(48, 8)}
* link:unseen.html[{text(56, 8)}]

[cols="unseen"]
|===
| {text(64, 2)} | {text(66, 2)}
2+| {text(68, 4)}
a| {text(72, 4)}
|===

.{text(76, 2)}
----
{text(78, 4)}
// of code
----

{text(82, 2)}:: {text(84, 20)}

{text(104, 40)}

ifdef::unset[]
{text(300, 2)}
endif::[]
ifdef::unseen[]
{text(144, 20)}
endif::[]
"""

RST = f"""{text(0, 2)}
{"=" * len(text(0, 2))}

.. {text(300, 2)}

{text(2, 40)}, **{text(42, 3)}**.

.. _unseen:

{text(45, 3)}
{"-" * len(text(45, 3))}

- {text(48, 8)}
- :ref:`{text(56, 8)} <unseen>`

===========  {"=" * 40}
{words(65)[64]}     {text(65, 3)}
{words(69)[68]}     {text(69, 7)}
===========  {"=" * 40}

.. code-block:: unseen
   :linenos:

   {text(76, 6)}

{text(82, 2)}
   {text(84, 20)}

.. note:: {text(104, 10)}

   {text(114, 50)}
"""

MAN = f"""'\\" t
.\\" {text(300, 2)}
.if n .nr unseen 1
.ie t unseen
.el .nh
.TH {text(0, 2)}
.SH {text(2, 2)}
{text(4, 38)}, \\fB{text(42, 3)}\\fP.
.SS "{text(45, 3)}"
.IP \\(bu 4
{text(48, 8)}
.IP \\(bu 4
.BR "{text(56, 7)}" "({words(64)[63]})"
.TS
tab(|);
l l.
{text(64, 2)}|{text(66, 2)}
{text(68, 4)}|T{{
{text(72, 4)}
T}}
.TE
.nf
{text(76, 6)}
.fi
.TP 8
.B {text(82, 2)}
{text(84, 20)}
.PP
{text(104, 60)}
"""

MDOC = f""".Dd {text(0, 2)}
.Dt {text(2, 2)}
.Os unseen
.Sh {text(4, 2)}
.Nd {text(6, 36)}
.Em {text(42, 3)}
.Ss {text(45, 3)}
.Bl -bullet -offset unseen
.It
{text(48, 8)}
.It
.Ar {text(56, 7)} , {words(64)[63]}
.El
.Bd -literal
{text(64, 18)}
.Ed
.Bl -tag -width unseen
.It Fl {text(82, 2)}
{text(84, 20)}
.El
{text(104, 60)}
"""

INFO = f"""This is a.info, produced by makeinfo from unseen.

\x1f
File: a.info,  Node: Top,  Next: Unseen

{text(0, 2)}
{"*" * len(text(0, 2))}

{text(2, 43)}.

* Menu:

* {text(45, 3)}: Unseen.   {text(48, 8)}

\x1f
File: a.info,  Node: Unseen,  Prev: Top

{text(56, 2)}
{"=" * len(text(56, 2))}

   • {text(58, 10)}
     {text(68, 8)}

     {text(76, 6)}

{text(82, 2)}
     {text(84, 20)}

   {text(104, 60)}; *note {text(164, 2)}: Unseen.

\x1f
Tag Table:
Node: Unseen\x7f9
"""

OPENAPI = json.dumps(
    {
        "openapi": "3.0.3",
        "info": {"title": text(0, 2), "description": f"{text(2, 40)}, **{text(42, 3)}**."},
        "paths": {
            f"/{words(46)[45]}": {
                "get": {
                    "summary": text(46, 2),
                    "description": f"- {text(48, 8)}\n- {text(56, 8)}\n\n```\n{text(64, 12)}\n```",
                    "parameters": [{"name": words(77)[76], "in": "query", "description": text(77, 5)}],
                    "responses": {
                        "200": {
                            "description": text(82, 22),
                            "content": {"a/b": {"schema": {"$ref": "#/components/schemas/A"}}},
                        }
                    },
                }
            }
        },
        "components": {
            "schemas": {
                "A": {"properties": {words(105)[104]: {"description": text(105, 59), "example": "unseen"}}},
                "Unseen": {"description": "unseen"},
            }
        },
    }
)

DOCUMENTS = {
    "a.adoc": ASCIIDOC,
    "a.rst": RST,
    "a.7": MAN,
    "b.7": MDOC,
    "a.info": INFO,
    "openapi.json": OPENAPI,
}
STAGES = [
    ("a.adoc", "ingest.parse.formats.asciidoc.asciidoc_to_html"),
    ("a.adoc", "ingest.parse.formats.asciidoc_inline.Inline.html"),
    ("a.rst", "ingest.parse.formats.rst._to_html"),
    ("a.7", "ingest.parse.formats.roff.Roff.plain"),
    ("a.7", "ingest.parse.formats.man._Page._linked"),
    ("b.7", "ingest.parse.formats.mdoc.MdocLine.read"),
    ("a.info", "ingest.parse.formats.info._text"),
    ("openapi.json", "ingest.parse.formats.openapi._Api._line"),
    *((name, "ingest.parse.chunk_spans.ChunkSpan.text_of") for name in DOCUMENTS),
]


def account_of(path: str, data: bytes, fragment: GraphFragment) -> WordCoverage:
    """The account of what a fragment has of a file."""
    request = ParseRequest(uri=f"files://docs/{path}", source="docs", path=path)
    found = cover(format_of(data, request), data, request, fragment, UnreadWords(), hides=False)
    assert found is not None
    return found


def parse(path: str, data: bytes) -> GraphFragment:
    request = ParseRequest(uri=f"files://docs/{path}", source="docs", path=path)
    return parse_document(data, request, count_tokens=count_words)


def with_loss(fragment: GraphFragment, chance: random.Random) -> tuple[set[str], GraphFragment]:
    """The words that are taken out of one chunk, all of it, a block, a line or one; and what is left."""
    at = chance.randrange(len(fragment.chunks))
    chunk = fragment.chunks[at]
    parts = chance.choice(
        ([chunk.text], chunk.text.split("\n\n"), chunk.text.split("\n"), chunk.text.split())
    )
    taken = chance.choice([part for part in parts if seen_in(part)])
    left = replace(chunk, text=chunk.text.replace(taken, "", 1), offsets=(0, 0))
    return seen_in(taken), replace(fragment, chunks=(*fragment.chunks[:at], left, *fragment.chunks[at + 1 :]))


def seen_in(text: str) -> set[str]:
    """The words of a text that stand in the document, and not only in what was made of it."""
    return set(fold_words(text).split()) & set(words(NUMBER + 2))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_nothing_is_lost_of_an_honest_file(path: str) -> None:
    found = parse(path, DOCUMENTS[path].encode()).coverage
    assert found is not None
    assert (found.lost, found.losses) == (0, ())
    assert found.seen >= NUMBER


@pytest.mark.parametrize("path", DOCUMENTS)
def test_what_is_taken_out_of_chunks_is_found_word_by_word(path: str) -> None:
    data = DOCUMENTS[path].encode()
    whole = parse(path, data)
    unknown = account_of(path, data, whole).lost  # what the parser left out, and told nobody here
    for seed in range(50):
        taken, left = with_loss(whole, random.Random(seed))
        assert account_of(path, data, left).lost >= unknown + len(taken), (seed, taken)


@pytest.mark.parametrize(("path", "stage"), STAGES, ids=[f"{path}-{name}" for path, name in STAGES])
def test_a_word_that_a_stage_loses_is_found(path: str, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in random.Random(stage).sample(words(NUMBER)[4:], NUMBER - 4):
        loser = Loser(word)
        with monkeypatch.context() as patch:
            patch.setattr(stage, loser.around(resolve_name(stage)))
            found = parse(path, DOCUMENTS[path].encode()).coverage
        if loser.has_lost:
            assert found is not None
            assert [loss.word for loss in found.losses] == [word]
            return
    pytest.fail(f"{stage} has none of the words")


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_each_format_of_ours_has_an_account_by_which_its_samples_lose_nothing(path: Path) -> None:
    found = parse(path.name, path.read_bytes()).coverage
    assert found is not None
    assert (found.lost, found.losses) == (0, ())
    assert found.seen > 0


OPENED = {
    "asciidoc_words": (
        "(((",
        "////\n",
        "_a ",
        "~a^b",
        "<<a,",
        "link:x[",
        "http://a[b,c=",
        "[[a",
        "x `+",
        "a|",
    ),
    "asciidoc_apart": ("{a", "<<a,b"),
    "rst_words": (".. a\n\n  b\n", ".. code::\n\n\n", ".. x:: a\n   b\n", "`<a ", "``a", "a-", "_a_ a."),
    "rst_apart": ("|a", ".. code::\n"),
    "man_words": (".de x\n", ".TS\na;\n", "\\\n", ".if n ", '.BR a "b\n', "\\[a", "\\*[", "\\h'", ".Ns Ar "),
    "info_words": ("\x1f\nFile: a\n*note a", "*note a: b ", "\x08[image"),
}


@pytest.mark.parametrize(("reader", "opened"), [(name, one) for name, some in OPENED.items() for one in some])
def test_what_is_opened_and_never_closed_takes_no_time(reader: str, opened: str) -> None:
    read = resolve_name(f"ingest.parse.coverage.sources.{reader}")
    data = ("\x1f\nFile: a\n" + opened * (40_000 // len(opened))).encode()
    start = time.process_time()
    for _ in read(data, ParseRequest(uri="files://docs/a", source="docs")):
        pass
    assert time.process_time() - start < 2  # what looks ahead to the end each time takes ten
