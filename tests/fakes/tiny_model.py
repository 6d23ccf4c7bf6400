"""A second real model: the packaged one's tokenizer, and one layer of seeded weights."""

import json
import shutil
from pathlib import Path

from indexes.embed.weights import load_model_spec

DIM = 32
_SMALLER = {
    "hidden_size": DIM,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}


def write_tiny_model(folder: Path) -> Path:
    """Write the model into *folder* and give it; it gives vectors of 32 that mean little."""
    import torch
    from transformers import BertConfig, BertModel

    shutil.copytree(load_model_spec().path, folder, ignore=shutil.ignore_patterns("*.safetensors", "*.onnx"))
    config = {**json.loads((folder / "config.json").read_text()), **_SMALLER}
    torch.manual_seed(1)
    BertModel(BertConfig.from_dict(config)).save_pretrained(folder)
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({**json.loads(pooling.read_text()), "word_embedding_dimension": DIM}))
    return folder
