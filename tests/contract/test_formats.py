"""What every document format promises, ours and those of packages that are installed; docs/extending.md.

Its samples are `tests/samples/formats/NAME.NUMBER.ENDING`. Where the first holds the word that `SECRET` is, a
secret is put in its place.
"""

import io
import random
import zipfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ingest.parse.document import format_of, parse_document
from ingest.parse.formats.registry import installed_formats
from ingest.parse.round_trip import check_round_trips
from schemas.edges import EdgeKind
from schemas.errors import ParseError, UnsupportedMedia
from schemas.formats import NAME, DocumentFormat, ParseTools
from schemas.fragment import GraphFragment, ParseRequest
from schemas.ids import canonical_json
from schemas.nodes import ChunkNode, Page, PdfDoc, PdfPage, PdfRegion, Section
from schemas.records import from_record, to_record
from tests.fakes.pages import count_words
from tests.fakes.secret_samples import github_token

SECRET = "SECRET-GOES-HERE"
SAMPLES = Path(__file__).parents[1] / "samples" / "formats"
FORMATS = installed_formats()
BY_NAME = {one.name: one for one in FORMATS}
FILES = sorted(SAMPLES.iterdir())
KIND = {"text": "markdown"}
"""Formats whose documents are of another kind than their name."""


def name_of(path: Path) -> str:
    return path.name.partition(".")[0]


def request_for(path: Path) -> ParseRequest:
    return ParseRequest(uri=f"files://contract/{path.name}", source="contract", path=path.name)


@cache
def parse(path: Path, data: bytes | None = None) -> GraphFragment:
    return parse_document(
        path.read_bytes() if data is None else data, request_for(path), count_tokens=count_words
    )


@dataclass(frozen=True)
class Outcome:
    """Of which document something came, and the error if it was one."""

    uri: str
    error: ParseError | UnsupportedMedia | None = None


def outcome(path: Path, data: bytes) -> Outcome:
    """What comes of a document; any other error than the two that a parser may raise goes through."""
    try:
        return Outcome(uri=parse(path, data).uri)
    except (ParseError, UnsupportedMedia) as error:
        return Outcome(uri=error.subject, error=error)


def with_secret(data: bytes, secret: str) -> bytes:
    """The document with a secret where its sample says, inside an archive too."""
    if not data.startswith(b"PK"):
        return data.replace(SECRET.encode(), secret.encode())
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            new.writestr(member, old.read(member).replace(SECRET.encode(), secret.encode()))
    return buffer.getvalue()


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def sample(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(params=[path for path in FILES if ".1." in path.name], ids=name_of)
def first_sample(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(params=FORMATS, ids=lambda one: one.name)
def document_format(request: pytest.FixtureRequest) -> DocumentFormat:
    assert isinstance(request.param, DocumentFormat)
    return request.param


def test_every_format_has_a_name_a_sample_and_an_ending(document_format: DocumentFormat) -> None:
    assert NAME.fullmatch(document_format.name)
    assert all(one.startswith(".") and one == one.lower() for one in document_format.suffixes)
    assert document_format.name in {name_of(path) for path in FILES}


def test_a_format_recognises_its_own_sample_and_no_other_takes_it_first(sample: Path) -> None:
    assert format_of(sample.read_bytes(), request_for(sample)).name == name_of(sample)


def test_a_format_says_no_to_the_samples_of_others_under_their_names(document_format: DocumentFormat) -> None:
    generic = {"markdown", "html", "text"}
    taken = {
        path.name
        for path in FILES
        if document_format.recognise(path.read_bytes()[:4_096], "", path.name)
        and name_of(path) != document_format.name
    }

    assert document_format.name in generic or taken == set()


@pytest.mark.parametrize("data", [b"", b" \n\t "], ids=["nothing", "white space"])
def test_an_empty_document_is_an_error(first_sample: Path, data: bytes) -> None:
    with pytest.raises(ParseError, match=r"the document is empty"):
        parse(first_sample, data)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_cut_document_is_an_error_or_what_is_left_of_it(first_sample: Path, share: float) -> None:
    data = first_sample.read_bytes()
    found = outcome(first_sample, data[: int(len(data) * share)])

    assert found.uri == request_for(first_sample).uri
    assert not (found.error is None and data.startswith(b"PK"))
    assert found.error is None or found.error.message


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_behind_the_first_are_an_error_or_a_document(first_sample: Path, seed: int) -> None:
    data = first_sample.read_bytes()
    noise = random.Random(seed).randbytes(4_000)
    for start in (0, 64, len(data) // 2):
        assert outcome(first_sample, data[:start] + noise).uri == request_for(first_sample).uri


def test_a_document_is_parsed_to_the_same_twice_and_comes_back_from_its_record(sample: Path) -> None:
    fragment, again = parse(sample), parse(sample, sample.read_bytes())

    record = to_record(fragment)
    assert again == fragment
    assert canonical_json(to_record(again)) == canonical_json(record)
    assert from_record(GraphFragment, record) == fragment


def test_the_kind_of_a_document_is_the_name_of_its_format(sample: Path) -> None:
    fragment = parse(sample)
    wanted = KIND.get(name_of(sample), name_of(sample))

    document = next(node for node in fragment.nodes if node.id == fragment.doc)
    assert (fragment.kind, {chunk.kind for chunk in fragment.chunks}) == (wanted, {wanted})
    assert isinstance(document, PdfDoc) or (isinstance(document, Page) and document.document_kind == wanted)
    assert fragment.title


def test_ids_do_not_depend_on_what_stands_in_other_documents(sample: Path) -> None:
    fragment = parse(sample)
    other = parse_document(
        sample.read_bytes(),
        ParseRequest(uri=f"files://contract/b/{sample.name}", source="contract", path=f"b/{sample.name}"),
        count_tokens=count_words,
    )
    ids = [node.id for node in fragment.nodes]

    assert len(ids) == len(set(ids))
    assert not set(ids) & {node.id for node in other.nodes}
    assert [chunk.content_hash for chunk in fragment.chunks] == [chunk.content_hash for chunk in other.chunks]


def test_sections_and_passages_fit_together(sample: Path) -> None:
    fragment = parse(sample)
    nodes = {node.id: node for node in fragment.nodes}
    contained = {edge.dst: edge.src for edge in fragment.edges if edge.kind is EdgeKind.CONTAINS}

    assert fragment.chunks
    assert {node.doc for node in nodes.values()} == {fragment.doc}
    assert {edge.src for edge in fragment.edges} | {edge.dst for edge in fragment.edges} <= nodes.keys()
    for node in nodes.values():
        if isinstance(node, Section):
            assert (node.heading_path[-1] if node.heading_path else "") == node.heading
            above = contained[node.id]
            assert fragment.doc in (above, contained.get(above))
            assert isinstance(nodes[above], Page)
        elif isinstance(node, ChunkNode):
            assert isinstance(nodes[contained[node.id]], Section | PdfRegion | PdfPage | PdfDoc)
    for chunk in fragment.chunks:
        assert chunk.parent_ids[0] == fragment.doc
        assert set(chunk.parent_ids) <= nodes.keys()
        assert "#" not in (chunk.fragment or "")
    assert [chunk.ordinal for chunk in fragment.chunks] == list(range(len(fragment.chunks)))
    assert all(trip.in_parent for trip in check_round_trips(fragment))


def test_a_secret_is_hidden_in_all_that_is_kept_and_told(first_sample: Path) -> None:
    data = first_sample.read_bytes()
    token = github_token()
    spoilt = with_secret(data, token)
    if spoilt == data:
        assert first_sample.suffix == ".pdf", f"{first_sample.name} has no {SECRET}"
        return  # its text is compressed; tests of the parser put secrets into PDFs

    fragment = parse(first_sample, spoilt)

    assert fragment.secrets
    assert token not in canonical_json(to_record(fragment))
    assert BY_NAME[name_of(first_sample)].unread_secrets(spoilt)


def test_a_page_of_html_under_the_name_of_a_format_is_html(document_format: DocumentFormat) -> None:
    page = b"<!DOCTYPE html>\n<html><title>Log in</title><h1>Log in</h1><p>Your name?</p></html>"
    for suffix in document_format.suffixes:
        path = f"report{suffix}"
        request = ParseRequest(uri=f"files://contract/{path}", source="contract", path=path)
        assert format_of(page, request).name == "html"


def test_no_format_takes_a_picture() -> None:
    picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(200)
    for one in FORMATS:
        assert not one.recognise(picture, "image/png", "picture.png")


def test_parsing_reads_no_clock_file_or_network(first_sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parse(first_sample)  # what is imported is imported
    for target in ("time.time", "socket.socket.connect", "uuid.uuid4", "subprocess.Popen.__init__"):
        monkeypatch.setattr(target, lambda *_, **__: pytest.fail("not from its bytes alone"))

    one = BY_NAME[name_of(first_sample)]
    assert one.parse(
        first_sample.read_bytes(), request_for(first_sample), ParseTools(count_tokens=count_words)
    )


def test_every_format_of_another_package_is_among_the_installed() -> None:
    offered = {point.load().name for point in entry_points(group="sitegraph.formats")}

    assert offered <= BY_NAME.keys()
