"""No secret on a page of a PDF is in anything that is made of it, even one broken over lines."""

from schemas.ids import canonical_json
from schemas.nodes import PdfRegion
from schemas.records import to_record
from schemas.redaction import REDACTED
from tests.fakes.pdfs import Text, code, heading, parse, pdf_bytes, prose
from tests.fakes.secret_samples import draw, github_token, private_key, web_token

TOKEN, PASSWORD, KEY, LONG = github_token(), draw(24, seed=7), private_key(lines=8), web_token()
BROKEN = "\n".join(LONG[at : at + 60] for at in range(0, len(LONG), 60))


def test_a_pdf_keeps_no_secret_anywhere() -> None:
    blocks = [heading(f"About {TOKEN}"), Text(f"Use {TOKEN} with password: {PASSWORD} and go on."), code(KEY)]
    data = pdf_bytes(
        [blocks, [heading("Next"), Text(prose("lamp"))]], toc=[(1, f"About {TOKEN}", 1)], title=TOKEN
    )
    # parse() goes past parse_document, whose warning is tested with the pages
    fragment = parse(data)
    kept = canonical_json(to_record(fragment))
    assert not any(value in kept for value in (TOKEN, PASSWORD, *KEY.splitlines()[1:-1]))
    assert fragment.secrets == ("github_token", "high_entropy", "private_key")
    assert fragment.title == REDACTED


def test_a_token_broken_over_lines_is_hidden_in_each() -> None:
    fragment = parse(pdf_bytes([[heading("Web tokens"), Text(prose("lamp")), code(f"{BROKEN}\nbehind")]]))
    kept = canonical_json(to_record(fragment))
    assert fragment.secrets == ("jwt",)
    assert not any(LONG[at : at + 12] in kept for at in range(len(LONG) - 11))
    assert "behind" in kept


def test_offsets_of_a_redacted_pdf_are_those_of_its_regions() -> None:
    fragment = parse(
        pdf_bytes([[heading("Web tokens"), Text(f"{prose('lamp')} It is {TOKEN}."), code(BROKEN)]])
    )
    regions = {node.id: node for node in fragment.nodes if isinstance(node, PdfRegion)}
    assert fragment.chunks
    for chunk in fragment.chunks:
        assert chunk.text == regions[str(chunk.region_id)].text[slice(*chunk.offsets)]
    assert any(REDACTED in chunk.text for chunk in fragment.chunks)
