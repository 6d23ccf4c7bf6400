"""The language model that the settings name."""

from dataclasses import replace

from schemas.errors import ConfigError
from schemas.extraction import Complete
from schemas.extras import install_line
from schemas.settings import Settings


def open_model(settings: Settings, *, budgeted: bool) -> Complete | None:
    """Return what asks the model of the settings, within their time; None where they name none.

    *budgeted*: all that is asked may cost no more calls and tokens than the settings say.
    Raises: ConfigError: a URL without a model, no URL of HTTP, or the extra with the client is not installed.
    """
    if settings.llm_url is None:
        return None
    if settings.llm_model is None:
        raise ConfigError(
            "names no model; set it together with SITEGRAPH_LLM_URL", subject="SITEGRAPH_LLM_MODEL"
        )
    try:
        from ingest.fetch.completion import open_completion
        from ingest.fetch.completion_budget import CompletionLimits
    except ModuleNotFoundError as error:
        message = f"needs {error.name}, which is not installed; run: {install_line('pipeline')}"
        raise ConfigError(message, subject="SITEGRAPH_LLM_URL") from error
    limits = CompletionLimits(seconds=settings.llm_seconds)
    if budgeted:
        limits = replace(limits, calls=settings.llm_calls, tokens=settings.llm_tokens)
    return open_completion(
        settings.llm_url, model=settings.llm_model, api_key=settings.llm_key, limits=limits
    )
