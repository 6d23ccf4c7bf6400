"""The prompt of the server: a question, its evidence, and what an answer must keep to."""

from retrieval.bundle.prompt import render_prompt
from retrieval.bundle.render import cite_line, show_line
from schemas.evidence import ContextBundle
from schemas.unseen import replace_unseen
from sitegraph.service.contract import RetrieveRequest
from sitegraph.service.mcp_.tools import retrieve_bundle
from sitegraph.service.parts import Parts

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
