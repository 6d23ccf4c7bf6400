"""The language model that the settings name, and what reads entities besides the rules."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from indexes.stores.ledger.ledger import Ledger
from ingest.fetch.proxies import is_sendable
from ingest.link.extractors import ModelExtractor, SpacyExtractor, require_pipeline
from ingest.urls import canonical_url, host_port
from schemas.errors import ConfigError
from schemas.names import Complete, EntityExtractor
from schemas.report import Problem
from schemas.settings import LanguageModelSettings, install_line


def open_model(settings: LanguageModelSettings, *, budgeted: bool) -> Complete | None:
    """Return what asks the model of the settings, within their time; None where they name none.

    *budgeted*: all that is asked may cost no more calls and tokens than the settings say.
    Raises: ConfigError: a URL without a model, no URL of HTTP, or the extra with the client is not installed.
    """
    if settings.llm_url is None:
        return None
    model = _model_of(settings)
    try:
        from ingest.fetch.completion import CompletionLimits, open_completion
    except ModuleNotFoundError as error:
        message = f"needs {error.name}, which is not installed; run: {install_line('light')}"
        raise ConfigError(message, subject="SITEGRAPH_LLM_URL") from error
    limits = CompletionLimits(seconds=settings.llm_seconds)
    if budgeted:
        limits = replace(limits, calls=settings.llm_calls, tokens=settings.llm_tokens)
    return open_completion(settings.llm_url, model=model, api_key=settings.llm_key, limits=limits)


def check_extractor(settings: LanguageModelSettings) -> None:
    """Check what the settings name against all that can be known of it without loading or asking it.

    Raises: ConfigError: a URL without a model, a URL that is none, a key that no header can carry, both a URL
    and a pipeline, or a pipeline that is not there.
    """
    if settings.spacy is not None and settings.llm_url is not None:
        raise ConfigError(
            "cannot be combined with SITEGRAPH_LLM_URL; use one of them", subject="SITEGRAPH_SPACY"
        )
    if settings.spacy is not None:
        require_pipeline(settings.spacy)
    if settings.llm_url is not None:
        _check_server(settings, settings.llm_url)


def _model_of(settings: LanguageModelSettings) -> str:
    if settings.llm_model is None:
        raise ConfigError(
            "names no model; set it together with SITEGRAPH_LLM_URL", subject="SITEGRAPH_LLM_MODEL"
        )
    return settings.llm_model


def _check_server(settings: LanguageModelSettings, url: str) -> None:
    if not _is_web_address(url):
        message = f"{url!r} is not an http or https URL; put a key into SITEGRAPH_LLM_KEY"
        raise ConfigError(message, subject="SITEGRAPH_LLM_URL")
    _model_of(settings)
    if settings.llm_key is not None and not is_sendable(settings.llm_key):
        raise ConfigError(
            "holds a line end, a space at an end or a character outside ASCII, "
            "which is not allowed in a header",
            subject="SITEGRAPH_LLM_KEY",
        )


def open_extractor(
    settings: LanguageModelSettings, ledger: Ledger, *, run_id: str, should_stop: Callable[[], bool]
) -> EntityExtractor | None:
    """Return the extractor that the settings name, None where they name none.

    Raises: ConfigError: they do not pass `check_extractor`, or the pipeline is none.
    """
    check_extractor(settings)
    if settings.spacy is not None:
        return SpacyExtractor(settings.spacy)
    complete = open_model(settings, budgeted=False)
    if complete is None or settings.llm_model is None:
        return None
    return ModelExtractor(
        complete,
        model=settings.llm_model,
        answers=ledger.answers,
        on_failure=partial(_save_problem, ledger, run_id),
        should_stop=should_stop,
    )


def _save_problem(ledger: Ledger, run_id: str, subject: str, message: str) -> None:
    reason = f"{message}; entities of some passages were read by rules alone"
    ledger.runs.add_problems(run_id, [Problem(url=subject, reason=reason)])


def _is_web_address(url: str) -> bool:
    """Whether a request can be made of it: no client takes a host with labels that no name can have."""
    canonical = canonical_url(url)
    if canonical is None or not canonical.startswith("http") or not url.isprintable():
        return False
    host = host_port(canonical)[0].removesuffix(".")
    return ":" in host or all(0 < len(label) < 64 for label in host.split("."))
