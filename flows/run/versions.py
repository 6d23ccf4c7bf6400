"""What a run derives with: the version of its parsers, and the model that encodes.

The settings name a model and the arithmetic that it encodes documents in; without them both are those of the
vectors which readers see. A run with another of either changes the whole index, and only where that was
accepted (flows/run/opening.py).
"""

from dataclasses import replace
from pathlib import Path

from indexes.embed.named_models import DEFAULT_MODEL
from indexes.embed.weights import ModelSpec, load_model_spec
from indexes.layout import ModelManifest
from ingest.sources.registry import citing
from runtime.programs import engine
from schemas.ids import record_sha256
from schemas.records import to_record
from schemas.settings import CacheSettings, Settings
from schemas.source import Source


def find_model(settings: Settings) -> ModelSpec:
    """Find the model that the settings name, the packaged one by default."""
    spec = load_model_spec(settings.model or DEFAULT_MODEL, settings)
    return replace(spec.in_dtype(settings.dtype), token_vectors=bool(settings.late_interaction))


def is_same(held: ModelManifest, spec: ModelSpec) -> bool:
    """Whether both give the same vectors, so that one may be compared with the other's, and as many."""
    return (held.sha256, held.dtype, held.token_vectors) == (spec.sha256, spec.dtype, spec.token_vectors)


def names_of_change(held: ModelManifest, spec: ModelSpec) -> tuple[str, str]:
    """What to call the model before a change and the one after, with what differs beside the name."""
    pairs: list[tuple[str, str]] = []
    if held.dtype != spec.dtype:
        pairs.append((held.dtype, spec.dtype))
    if held.token_vectors != spec.token_vectors:
        pairs.append((_tokens(held.token_vectors), _tokens(spec.token_vectors)))
    if not pairs:
        return held.name, spec.name
    before, after = (", ".join(said) for said in zip(*pairs, strict=True))
    return f"{held.name} ({before})", f"{spec.name} ({after})"


def _tokens(kept: bool) -> str:
    return f"late interaction {'on' if kept else 'off'}"


def manifest_of(spec: ModelSpec) -> ModelManifest:
    """What an index remembers of a model."""
    return ModelManifest(
        name=spec.name,
        sha256=spec.sha256,
        dim=spec.dim,
        max_tokens=spec.max_tokens,
        dtype=spec.dtype.value,
        token_vectors=spec.token_vectors,
        stems=spec.many_languages,
    )


def encoder_cache(settings: CacheSettings) -> Path:
    """Where exported encoders are kept for the next index: in the cache of the user, unless the settings say.

    Source: XDG Base Directory Specification, and its like on other systems, by platformdirs.
    """
    if settings.cache:
        return Path(settings.cache)
    from platformdirs import user_cache_path

    return user_cache_path("sitegraph", appauthor=False) / "encoders"


def pipeline_version(model: ModelSpec, source: Source) -> str:
    """Name everything a fragment, or what its links lead to, depends on besides the bytes."""
    from ingest.parse.document import PARSER_VERSION

    parts = {"parser": PARSER_VERSION, "tokenizer": model.sha256, "name": source.name, "seeds": source.seeds}
    settings = {"metadata": to_record(source.metadata), "scope": to_record(source.scope)}
    # Pages may address us by name; and bytes that were not kept, or may no longer be, are fetched again.
    more = {"user_agent": source.user_agent, "keep_raw": source.keep_raw}
    # A page that could not be recognised may be once Tesseract is installed.
    recognised = {"ocr": [*source.ocr, engine()]} if source.ocr else {}
    spoken = {"language": source.language} if source.language else {}
    related = {"relations": source.relations} if source.relations else {}
    cleaned = {"cleaning": source.cleaning.version} if source.cleaning else {}
    # What an earlier version read of front matter did not have its groups.
    shown = {"access": 1} if source.access.is_stated else {}
    cited = citing(source)
    # What the manual is called is in no document.
    dated = {"version": to_record(replace(source.family, name=""))} if source.family else {}
    return record_sha256(
        {**parts, **settings, **more, **recognised, **spoken, **related, **cleaned, **shown, **cited, **dated}
    )[:16]
