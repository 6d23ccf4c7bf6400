"""Cut a folder of documents with this release's parser alone: `python -m bench.peers.export_chunks FROM TO`.

Of each document a JSON list of the texts that the encoder is given of its chunks, under the document's name.
"""

import json
import sys
from pathlib import Path

from bench.peers.documents import write_documents
from indexes.embed.pending import text_input
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import load_model_spec
from ingest.parse.document import parse_document
from schemas.fragment import ParseRequest


def export(documents: Path, chunks: Path) -> None:
    """Write the chunks of every document."""
    counter = TokenCounter(load_model_spec().path / "tokenizer.json")
    exported = {}
    for path in sorted(documents.iterdir()):
        request = ParseRequest(uri=path.as_uri(), source="race", path=path.name)
        fragment = parse_document(path.read_bytes(), request, count_tokens=counter.count)
        exported[path.name] = json.dumps([text_input(chunk) for chunk in fragment.chunks])
    write_documents(chunks, exported)


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]))
