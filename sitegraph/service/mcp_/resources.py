"""The resources and the prompt of the server: a chunk as text, its page and figure drawn, a prompt."""

import re
from dataclasses import dataclass

from indexes.wiring import Readers
from retrieval.bundle.prompt import render_prompt
from retrieval.bundle.render import cite_line, show_line
from schemas.evidence import ContextBundle
from schemas.ids import record_sha256
from schemas.nodes import OBSERVED_FIELDS
from schemas.records import to_record
from schemas.text import replace_unseen
from sitegraph.service import answers
from sitegraph.service.contract import RetrieveRequest
from sitegraph.service.figures import draw_figure
from sitegraph.service.items import describe_item
from sitegraph.service.mcp_.framing import fence
from sitegraph.service.mcp_.tools import read_known, retrieve_bundle
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem

CHUNK_TEMPLATE = "sitegraph://chunk/{id}"
PAGE_TEMPLATE = "sitegraph://chunk/{id}/page.png"
FIGURE_TEMPLATE = "sitegraph://chunk/{id}/figure.png"

_URI = re.compile(r"sitegraph://chunk/(?:chunk:)?([a-z2-7]{26})(/(?:page|figure)\.png)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResource:
    """The contents of a resource: text, or a picture as PNG; and the generation they are of."""

    generation: int
    text: str | None = None
    picture: bytes | None = None


def chunk_of_uri(uri: str) -> str | None:
    """Return the id of the chunk that a URI names (`sitegraph://chunk/abc` > `chunk:abc`), else None."""
    found = _URI.fullmatch(uri)
    return f"chunk:{found[1]}" if found else None


def read_resource(parts: Parts, uri: str) -> ReadResource:
    """Read a resource.

    Raises: HttpProblem: there is none.
    """
    id_ = chunk_of_uri(uri)
    if id_ is None:
        raise HttpProblem(
            404,
            f"no such resource; there are {CHUNK_TEMPLATE}, {PAGE_TEMPLATE} and {FIGURE_TEMPLATE}",
            "NotFound",
        )

    def read(readers: Readers) -> ReadResource:
        if uri.endswith("/figure.png"):
            return ReadResource(generation=readers.generation, picture=draw_figure(parts, readers, id_))
        if uri.endswith("/page.png"):
            picture = parts.picture(readers, answers.chunk_of_generation(readers, id_))
            return ReadResource(generation=readers.generation, picture=picture)
        return ReadResource(generation=readers.generation, text=fence(describe_item(readers, id_)["text"]))

    return read_known(parts, id_, read)


def digest_chunks(readers: Readers, ids: tuple[str, ...]) -> dict[str, str | None]:
    """Return what tells one version of a chunk from another, by id; None for those that are gone.

    When a page was fetched makes no version.
    """
    found = {chunk.id: to_record(chunk) for chunk in readers.chunks.get(ids)}
    return {
        id_: record_sha256({key: value for key, value in found[id_].items() if key not in OBSERVED_FIELDS})
        if id_ in found
        else None
        for id_ in ids
    }


NAME = "answer_with_citations"
ARGUMENT = "question"


def write_prompt(parts: Parts, question: str) -> tuple[str, ContextBundle]:
    """Return the prompt for a question, as `ask` gives it to a model, and its evidence."""
    bundle = retrieve_bundle(parts, RetrieveRequest(query=question))
    cited = (
        f"{one.S} chunk_id {one.chunk_id} citation {show_line(cite_line(one, one.pdf))}"
        for one in bundle.evidence
    )
    return replace_unseen("\n".join((render_prompt(bundle), "", "For the line of JSON:", *cited))), bundle
