"""What reads entities besides the rules, as the settings have it: a language model, or spaCy."""

from functools import partial

from flows.completions import open_model
from indexes.stores.ledger.ledger import Ledger
from ingest.link.model_extractor import ModelExtractor
from ingest.link.spacy_ import SpacyExtractor
from schemas.errors import ConfigError
from schemas.extraction import EntityExtractor
from schemas.report import Problem
from schemas.settings import Settings


def open_extractor(settings: Settings, ledger: Ledger, *, run_id: str) -> EntityExtractor | None:
    """Give the extractor that the settings name, None where they name none.

    Raises: ConfigError: a URL without a model, both a URL and a pipeline, or a pipeline that is not there.
    """
    if settings.spacy is not None:
        if settings.llm_url is not None:
            raise ConfigError("stands beside SITEGRAPH_LLM_URL; take one of them", subject="SITEGRAPH_SPACY")
        return SpacyExtractor(settings.spacy)
    complete = open_model(settings, budgeted=False)
    if complete is None or settings.llm_model is None:
        return None
    return ModelExtractor(
        complete,
        model=settings.llm_model,
        answers=ledger.answers,
        on_failure=partial(_tell, ledger, run_id),
    )


def _tell(ledger: Ledger, run_id: str, subject: str, message: str) -> None:
    reason = f"{message}; entities of some passages were read by rules alone"
    ledger.runs.add_problems(run_id, [Problem(url=subject, reason=reason)])
