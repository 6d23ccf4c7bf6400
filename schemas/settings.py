"""Settings of an installation: environment first, then a file, then defaults."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from schemas.errors import ConfigError
from schemas.extras import PACKAGE
from schemas.program import program_version

PREFIX = "SITEGRAPH_"
SETTINGS_FILE = "sitegraph.toml"
GRAPH_BOOST = 0.1
_ON, _OFF = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})
_MOST = {"similar_count": 100, "batch_size": 4096}
"""Three times as many similar chunks are kept of each of the index; a stop waits for a batch of texts."""
_NEVER_EMPTY = frozenset({"groups"})
"""Elsewhere an empty variable counts as none; here that would open the whole index to who may see a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, with its default; `SITEGRAPH_<NAME>` in the environment, `name` in the file.

    `ledger_url` is an SQLAlchemy URL (default: SQLite in the index folder). `raw_url` is where a new index
    keeps raw bytes and parsed fragments, `s3://BUCKET/PREFIX` (default: in its folder). A request to object
    storage may take `bucket_seconds`, repetitions included. `neo4j_embeddings`:
    the chunks that people find in Neo4j have vectors. `model` is a
    sentence-transformers name or path (default: the index's own, at first the packaged MiniLM). `workers` is
    the number of parser processes. `device`, `dtype` and `batch_size` are the encoder's in bulk: a device of
    torch (`cpu`, `cuda`), `auto`, `fp32` or `bf16` (default: the index's own, at first `auto`), and texts
    of a batch. `late_interaction`: chunks keep vectors of their tokens, by which questions are compared with
    the best ones word by word (default: the index's own, at first off). `encode_ahead` is how many texts may
    wait for the encoder, which bounds the memory they take.
    `task_runner` is where documents are fetched, parsed and embedded: `threads` of the run's own process, or
    workers of `dask` or `ray`, of the cluster at `task_runner_address` (default: `task_runner_workers`
    processes of this machine, for as long as a run).
    `chromium` is the browser for sources with
    `javascript: true` (default: the one on the PATH). `keep_generations` is how many published generations
    stay readable, besides those that the rules of `keep` name; of `keep_changes` it is known what they
    changed, with the texts that went.
    A chunk is joined by `similar_to` to at most `similar_count` others, of a cosine of at
    least `similar_score`. `reader_cache_mb` is what the stores of a process that serves may keep in memory.
    `serve_token` is what `serve` asks for as bearer token, `source_url` where the source of this version is,
    if it is not to be given from where it runs. `metrics_file` is where each run leaves its metrics for
    node_exporter; `metrics_open`: `serve` gives them without a token. `deny` are terms, with commas between,
    that no question may say. `graph_boost` is what is added to the score of a chunk that was found, and that
    a typed edge of a document named by id leads to. `llm_url` is the base URL of a server that speaks
    OpenAI's chat completions, which then reads entities besides the rules, by `llm_model` and with `llm_key`;
    `spacy` is a package with a pipeline of spaCy that does so instead. An answer may take
    `llm_seconds`, and one `ask` may cost `llm_calls` requests and `llm_tokens`. `signing_key` is the file of
    a private key that signs generations, `trust` of the public keys whose signatures readers ask for.
    `pull_token` is sent as bearer token to the server that an index is copied from. Readers of an index
    elsewhere keep copies of at most `disk_cache_mb` in the folder `cache`, or in the user's cache folder.
    `checks` is a file of questions that runs of every source ask before they publish. `groups` are those of
    who reads, with commas between (default: the whole index); `tokens` is a file of bearer tokens with the
    groups of each, for `serve`.
    """

    index: str = ".sitegraph"
    graph: str | None = None
    ledger_url: str | None = field(default=None, repr=False)
    raw_url: str | None = field(default=None, repr=False)
    bucket_seconds: int = 60
    neo4j_uri: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: str | None = field(default=None, repr=False)
    neo4j_embeddings: bool = False
    model: str | None = None
    workers: int = 2
    threads: int = 2
    device: str = "cpu"
    dtype: str | None = None
    late_interaction: bool | None = None
    batch_size: int = 16
    encode_ahead: int = 10_000
    task_runner: str = "threads"
    task_runner_address: str | None = None
    task_runner_workers: int = 2
    keep_generations: int = 3
    keep: str | None = None
    keep_changes: int = 100
    similar_count: int = 5
    similar_score: float = 0.7
    user_agent: str = field(default_factory=lambda: f"{PACKAGE}/{program_version()}")
    llm_url: str | None = None
    llm_model: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_seconds: int = 60
    llm_calls: int = 40
    llm_tokens: int = 200_000
    spacy: str | None = None
    cache: str | None = None
    chromium: str | None = None
    reader_cache_mb: int = 1536
    serve_token: str | None = field(default=None, repr=False)
    source_url: str | None = None
    metrics_file: str | None = None
    metrics_open: bool = False
    deny: str | None = None
    graph_boost: float = GRAPH_BOOST
    signing_key: str | None = None
    trust: str | None = None
    pull_token: str | None = field(default=None, repr=False)
    disk_cache_mb: int = 20_000
    checks: str | None = None
    groups: str | None = None
    tokens: str | None = None
    fault: str | None = None

    def environment(self) -> dict[str, str]:
        """The settings as environment variables, for processes and readers that take those."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {PREFIX + name.upper(): str(value) for name, value in values.items() if value is not None}


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


def graph_boost_of(environ: Mapping[str, str]) -> float:
    """Read `graph_boost` alone; raises ConfigError: it is none."""
    name = f"{PREFIX}GRAPH_BOOST"
    return load_settings({name: environ.get(name, "")}).graph_boost


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
