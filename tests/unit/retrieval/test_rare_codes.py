"""A rare code in a question after something else adds what has it and takes no passage its score."""

from collections.abc import Mapping

import pytest

from ingest.parse.document import ParseRequest, parse_document
from retrieval.question.query import build_query
from retrieval.question.route import Route
from retrieval.retriever import Retriever
from retrieval.search.relevance import Measure, scale_of
from retrieval.search.seeds import EmbeddedQuery, SeedList, fuse_lists, gather_lists
from tests.fakes.real_sites import unpack
from tests.fakes.small_index import AS_OF, GENERATION, SmallIndex, build_index

pytestmark = pytest.mark.data

MANUAL = "5.2.15-2/usr/share/doc/bash/bashref.html"
QUESTIONS: Mapping[str, str] = {
    "Which startup file is read by a non-interactive shell, as BASH_ENV says?": "looks for the variable",
    "How does bash behave when invoked as sh, is BASH_ENV used?": "tries to mimic the startup",
    "Is errexit inherited by command substitution with inherit_errexit?": "substitution inherits",
    "Which file descriptor gets the output of set -x if BASH_XTRACEFD is unset?": "BASH_XTRACEFD",
    "In posix mode with POSIXLY_CORRECT, do assignments before special builtins persist?": (
        "persist in the shell"
    ),
    "How do I bind a key sequence to a shell command and read READLINE_LINE?": "Cause shell-command",
    "What is the exit status if a command is not found, e.g. with command_not_found_handle?": "127",
    "Does a subshell environment inherit traps that functrace or BASH_COMMAND need?": "traps",
}
"""By question what its passage says."""


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> SmallIndex:
    """The reference manual of bash, from Texinfo."""
    folder = unpack("twins/bash.tar.xz", MANUAL, tmp_path_factory.mktemp("bash"))
    fragment = parse_document(
        (folder / MANUAL).read_bytes(),
        ParseRequest(uri="https://manual.test/bashref.html", source="bash"),
        count_tokens=lambda text: len(text.split()),
    )
    return build_index([(fragment.nodes, fragment.chunks)], ())


def rank(index: SmallIndex, text: str, passage: str) -> int:
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    evidence = retriever.retrieve(build_query(text, top_k=50, token_budget=100_000)).evidence
    places = [n for n, one in enumerate(evidence, 1) if passage in " ".join(one.text.split())]
    return min(places, default=99)


@pytest.mark.parametrize("text", QUESTIONS)
def test_what_defines_the_thing_asked_for_comes_no_later_than_where_the_code_has_half_of_the_score(
    manual: SmallIndex, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = rank(manual, text, QUESTIONS[text])
    monkeypatch.setattr("retrieval.retriever.route_of", lambda _text, _known: Route.ID)
    assert place <= rank(manual, text, QUESTIONS[text])


def test_what_a_question_is_after_is_found_beside_a_rare_code(manual: SmallIndex) -> None:
    text = "How does bash behave when invoked as sh, is BASH_ENV used?"
    assert rank(manual, text, QUESTIONS[text]) <= 6


def test_a_rare_code_raises_what_has_it_and_lowers_no_score(manual: SmallIndex) -> None:
    text = "How does bash behave when invoked as sh, is BASH_ENV used?"
    vector = manual.encoder.encode_query(text)
    asked = EmbeddedQuery(query=build_query(text), vector=vector)
    lists = gather_lists(manual.chunks, asked)
    holders = {hit.chunk_id for hit in lists[SeedList.CODES]}
    docs = {hit.doc for hit in lists[SeedList.TEXT_BM25]}
    plain, raised = (
        Measure(manual.chunks, asked, scale_of(lists, asked), telling=telling).of(docs)
        for telling in (None, dict.fromkeys(holders, 1.0))
    )
    (doc,) = docs
    assert holders
    assert all(raised[doc][chunk] == score for chunk, score in plain[doc].items() if chunk not in holders)
    assert all(raised[doc][chunk] > plain[doc][chunk] for chunk in holders if 0 < plain[doc][chunk] < 1)
    fused = {route: dict.fromkeys(hit.chunk_id for hit in fuse_lists(lists, route)) for route in Route}
    for route, found in fused.items():
        with_codes = {hit.chunk_id for hit in fuse_lists(lists, route, holders)}
        assert with_codes >= found.keys()
