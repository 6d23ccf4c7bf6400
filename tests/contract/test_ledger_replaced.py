"""Files that lose their last name are noted then: deleting those leaves what listing all would leave."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.retention import FileKind
from schemas.documents import DocumentState
from schemas.ids import page_id
from tests.fakes.ledger_rows import SITE, begin, drop, freeze, make_known, make_live, publish, put

STEPS = 120
PATHS = "abcdef"
STATES = (DocumentState.FETCHED, DocumentState.FETCHED, DocumentState.GONE, DocumentState.OUT_OF_SCOPE)


@dataclass
class Folder:
    """Files by kind, as a run writes and deletes them."""

    ledger: Ledger
    files: dict[FileKind, set[str]] = field(default_factory=lambda: {kind: set() for kind in FileKind})

    def crawl(
        self,
        path: str,
        version: str,
        state: DocumentState,
        *,
        variant: int = 0,
        withheld: bool = False,
        pages: str | None,
    ) -> None:
        """Fetch and parse a document; the bytes of two variants give one fragment."""
        raw, fragment = f"raw of {path} {version} {variant}", f"fragment of {path} {version}"
        self.files[FileKind.RAW].add(raw)
        self.files[FileKind.FRAGMENT].update({fragment, pages or fragment})
        self.ledger.pages.save({fragment: pages})
        self.ledger.origins.save({fragment: None if withheld else raw})
        fields = {"raw_sha": raw, "parsed_sha": raw, "fragment_sha": fragment, "withheld": withheld}
        doc = page_id(f"{SITE}/{path}")
        self.ledger.documents.save([make_known(path, state=state, doc=doc, **fields)])

    def collect(self) -> None:
        retention = self.ledger.retention
        for kind, files in self.files.items():
            noted = retention.replaced(kind)
            unneeded = retention.unneeded(kind, noted)
            files.difference_update(unneeded)
            retention.forget(kind, noted, deleted=unneeded)

    def needed(self) -> dict[FileKind, frozenset[str]]:
        retention = self.ledger.retention
        return {kind: retention.needed(kind) for kind in FileKind}


@pytest.mark.parametrize("seed", range(3))
def test_after_each_of_many_steps_the_files_are_those_that_are_needed(ledger: Ledger, seed: int) -> None:
    rng, folder, base, kept = random.Random(seed), Folder(ledger), 0, 0

    def crawl() -> None:
        version = str(rng.randrange(4))
        pages = rng.choice([None, f"pages {rng.randrange(3)}"])
        folder.crawl(
            rng.choice(PATHS),
            version,
            rng.choice(STATES),
            variant=rng.randrange(2),
            withheld=rng.random() < 0.2,
            pages=pages,
        )

    def commit() -> None:
        nonlocal base
        live = {doc.uri: doc for doc in ledger.generations.live(base).values()}
        known = ledger.documents.get("site", [f"{SITE}/{path}" for path in PATHS])
        changes = [
            put(make_live(uri.rpartition("/")[2], str(row.fragment_sha)[-1]))
            if row.state is DocumentState.FETCHED
            else drop(live[uri])
            for uri, row in known.items()
            if row.state is DocumentState.FETCHED or uri in live
        ]
        if rng.random() < 0.2:
            number = begin(ledger, base=base)
            freeze(ledger, number, changes)
            ledger.generations.abort(number)
        else:
            base = publish(ledger, *changes, base=base)

    def prune() -> None:
        nonlocal kept
        kept = max(kept, base - 1)
        ledger.generations.forget_before(kept)

    def forget() -> None:
        if rng.random() < 0.1:
            ledger.documents.forget("site")

    steps: list[Callable[[], None]] = [crawl, crawl, crawl, commit, prune, forget]
    for number in range(STEPS):
        rng.choice(steps)()
        folder.collect()
        assert folder.files == folder.needed(), number


def test_what_was_read_in_a_deleted_fragment_is_forgotten_with_it(ledger: Ledger) -> None:
    folder = Folder(ledger)
    for version in "12":
        folder.crawl("a", version, DocumentState.FETCHED, pages=f"pages {version}")
    folder.collect()

    assert ledger.pages.of(["fragment of a 1", "fragment of a 2"]) == {"fragment of a 2": "pages 2"}
    assert ledger.retention.replaced(FileKind.FRAGMENT) == frozenset()


def test_a_new_ledger_asks_for_a_sweep_until_there_was_one(ledger: Ledger) -> None:
    assert ledger.retention.is_sweep_due()
    ledger.retention.swept()
    assert not ledger.retention.is_sweep_due()


@pytest.mark.parametrize("state", ["finished", "refused"])
def test_a_run_that_ends_asks_for_none(ledger: Ledger, state: str) -> None:
    ledger.retention.swept()
    ledger.runs.start("run-1", source="site", now="2026-01-01T00:00:00+00:00")
    ledger.runs.finish("run-1", state=state, now="2026-01-01T00:00:01+00:00", report=None)
    ledger.runs.start("run-2", source="site", now="2026-01-02T00:00:00+00:00")
    assert not ledger.retention.is_sweep_due()


def test_a_run_after_one_that_broke_off_asks_for_a_sweep(ledger: Ledger) -> None:
    ledger.retention.swept()
    ledger.runs.start("run-1", source="site", now="2026-01-01T00:00:00+00:00")
    ledger.runs.start("run-2", source="site", now="2026-02-01T00:00:00+00:00")
    assert ledger.retention.is_sweep_due()
    ledger.retention.swept()
    assert not ledger.retention.is_sweep_due()


def test_a_run_that_goes_on_asks_for_a_sweep(ledger: Ledger) -> None:
    ledger.retention.swept()
    ledger.runs.start("run-1", source="site", now="2026-01-01T00:00:00+00:00")
    ledger.runs.resume("site")
    assert ledger.retention.is_sweep_due()
