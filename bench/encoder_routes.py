"""Texts a second, and a CPU second, of every route of the packaged model on this chip.

    python -m bench.encoder_routes TEXTS.json

All routes take the same texts in turn, several times; the best of each counts, since other work can only slow
them down. Prints one JSON object.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from indexes.embed.encoder import SentenceTransformerEncoder, load_sentence_transformer, offline_environment
from indexes.embed.weights import load_model_spec

ROUNDS = 2
THREADS = 2
BATCHES = (8, 16, 32)

Route = Callable[[Sequence[str]], object]


def main() -> None:
    """Measure all routes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("texts", type=Path)
    texts: list[str] = json.loads(parser.parse_args().texts.read_text())
    os.environ.update(offline_environment())
    routes = all_routes()
    for route in routes.values():
        route(texts[:: len(texts) // 32])
    rounds = [{name: speed(route, texts) for name, route in routes.items()} for _ in range(ROUNDS)]
    best = {
        name: {unit: max(one[name][unit] for one in rounds) for unit in ("per_second", "per_cpu_second")}
        for name in routes
    }
    print(json.dumps(best))


def speed(route: Route, texts: Sequence[str]) -> dict[str, float]:
    """Encode all texts once."""
    start, spent = time.monotonic(), time.process_time()
    route(texts)
    took, spent = time.monotonic() - start, time.process_time() - spent
    return {"per_second": round(len(texts) / took, 1), "per_cpu_second": round(len(texts) / spent, 1)}


def all_routes() -> dict[str, Route]:
    """Ours, with other batch sizes too; the library's own, whose threads share each batch, in both types."""
    import torch

    model = load_sentence_transformer(load_model_spec())

    def library(texts: Sequence[str], *, size: int, bf16: bool) -> Any:
        torch.set_num_threads(THREADS)
        try:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
                return model.encode(list(texts), batch_size=size, show_progress_bar=False)
        finally:
            torch.set_num_threads(1)

    def our_route(size: int) -> Route:
        encoder = SentenceTransformerEncoder(
            load_model_spec(), clock=time.process_time, threads=THREADS, batch_size=size
        )
        return encoder.encode_documents

    routes: dict[str, Route] = {"ours": our_route(16)}
    routes |= {f"ours, batches of {size}": our_route(size) for size in BATCHES if size != 16}
    for size in (16, 32, 64):
        routes[f"torch bf16, batches of {size}"] = partial(library, size=size, bf16=True)
    routes["torch fp32, batches of 16"] = partial(library, size=16, bf16=False)
    return routes


if __name__ == "__main__":
    main()
