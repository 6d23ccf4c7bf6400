"""sitegraph in the race: `sitegraph run`, with the encoder of the race in place of its own.

Everything else is the command's own, Prefect and the graph too. For lost rows it has `--repair`.
"""

import os
from collections.abc import Collection
from typing import Any

from bench.peers.contestant import read_order
from bench.peers.encoding import DIM, Encoder


class RaceEncoder:
    """Keeps the port Encoder."""

    dim = DIM
    model_sha256 = "0" * 64

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode_documents(self, texts: Collection[str]) -> Any:
        """Encode texts of chunks."""
        return self._encoder.encode(texts)

    def encode_query(self, text: str) -> Any:
        """Encode a question."""
        return self._encoder.encode([text])[0]

    def count_tokens(self, text: str) -> int:
        """Count words; nothing here is cut by it."""
        return len(text.split())


def main() -> None:
    """Run the command."""
    order = read_order()
    order.state.mkdir(exist_ok=True)
    source = order.state / "race.yaml"
    source.write_text(f"name: race\nkind: files\nroots: [{order.source}]\n")
    os.environ["PREFECT_HOME"] = str(order.state / "prefect")

    from flows.run.resources import Resources
    from sitegraph.cli.app import run_app

    encoder = RaceEncoder(Encoder(order))
    Resources.encoder = property(lambda _self: encoder)  # type: ignore[assignment,method-assign]
    Resources.export_encoder = lambda *_, **__: None  # type: ignore[method-assign]  # nobody asks this index
    index = ["--index", str(order.state / "index"), "--format", "json", "--quiet"]
    raise SystemExit(run_app(["run", str(source), *index, *(["--repair"] if order.mend else [])]))


if __name__ == "__main__":
    main()
