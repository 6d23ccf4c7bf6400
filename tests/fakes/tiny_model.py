"""A second real model: the packaged one's tokenizer, and one layer of seeded weights; made once."""

import json
import shutil
from pathlib import Path

from indexes.embed.weights import file_sha256, load_model_spec
from tests.fakes.exported_encoder import encoder_cache, one_at_a_time

DIM = 32
_SMALLER = {
    "hidden_size": DIM,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}


def write_tiny_model(folder: Path) -> Path:
    """Write the model into *folder* and give it; it gives vectors of 32 that mean little."""
    kept = encoder_cache().parent / f"tiny-{file_sha256(Path(__file__))[:12]}"
    with one_at_a_time():
        if not kept.exists():
            part = kept.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            _make_tiny_model(part)
            part.rename(kept)
    return Path(shutil.copytree(kept, folder))


def _make_tiny_model(folder: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    shutil.copytree(load_model_spec().path, folder, ignore=shutil.ignore_patterns("*.safetensors", "*.onnx"))
    config = {**json.loads((folder / "config.json").read_text()), **_SMALLER}
    torch.manual_seed(1)
    BertModel(BertConfig.from_dict(config)).save_pretrained(folder)
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({**json.loads(pooling.read_text()), "word_embedding_dimension": DIM}))
