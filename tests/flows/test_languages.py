"""Pages that are not English are found by other forms of their words, by the language that is stated."""

import gzip
import tarfile
from pathlib import Path

import pytest

from indexes.wiring import open_readers
from schemas.evidence import Filter, SearchField
from tests.fakes.real_sites import DATA
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

REAL_FRENCH = ("0644", "0645")
"""Two pages of a shop, with `lang="fr"`."""

GERMAN = {
    "haus.md": "# Hausordnung\n\nDie Schlüssel aller Häuser verwahrt der Pförtner.\n",
    "vertrag.md": "# Verträge\n\nKündigungsfristen gelten für alle Verträge und stehen im Anhang.\n",
}


def _words(index: Path, word: str) -> list[str]:
    """Texts that full-text search finds, without any vector."""
    chunks = open_readers(index, environment={}).chunks
    hits = chunks.search_text(
        SearchField.TEXT, word, top_k=20, filters=[Filter(field="source", values=("papers",))]
    )
    return [chunk.text for chunk in chunks.get([hit.chunk_id for hit in hits])]


@pytest.mark.data
def test_real_french_pages_are_stemmed_as_french(sitegraph: Sitegraph, tmp_path: Path) -> None:
    archive = DATA / "html-wcxb" / "dev-html.tar"
    if not archive.exists():
        pytest.skip(f"no real pages: {archive} is not there")
    (tmp_path / "papers").mkdir()
    with tarfile.open(archive) as pages:
        for name in REAL_FRENCH:
            member = pages.extractfile(f"dev/html/{name}.html.gz")
            assert member is not None
            page = gzip.decompress(member.read())
            (tmp_path / "papers" / f"{name}.html").write_bytes(page)
    (tmp_path / "papers.yaml").write_text("name: papers\nkind: files\nroots: [papers]\n")

    assert sitegraph.run(tmp_path / "papers.yaml", tmp_path / "index")["documents"]["added"] == 2

    # None of these forms is on the pages; an English stemmer finds none of them (checked when written).
    for word, stem in (("choisissant", "chois"), ("garantissait", "garanti"), ("utilisant", "utilis")):
        found = _words(tmp_path / "index", word)
        assert found, word
        assert all(stem in text.casefold() and word not in text.casefold() for text in found)


def test_a_source_says_the_language_of_documents_that_do_not(sitegraph: Sitegraph, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    for name, text in GERMAN.items():
        (tmp_path / "papers" / name).write_text(text)
    source = tmp_path / "papers.yaml"
    source.write_text("name: papers\nkind: files\nroots: [papers]\n")
    sitegraph.run(source, tmp_path / "index")
    assert _words(tmp_path / "index", "Haus") == []

    source.write_text(source.read_text() + "language: de\n")
    assert sitegraph.run(source, tmp_path / "index")["generation"] == 2

    assert [text for text in _words(tmp_path / "index", "Haus") if "Häuser" in text]
    assert [text for text in _words(tmp_path / "index", "Kündigungsfrist") if "Kündigungsfristen" in text]
    languages = {chunk["lang"] for chunk in sitegraph.export(tmp_path / "index")["chunks"]}
    assert languages == {"de"}
