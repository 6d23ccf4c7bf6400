"""Going back: CURRENT, the ledger and the hold move together, and only to what is kept."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from flows.rollback import choose_target, lift_hold_of, roll_back
from flows.run.index import Index, open_index
from indexes.embed.manifest import WEIGHTS_FILE
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.publish.current import held_since, write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.lance.store import LanceGraphStore
from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.leases import Leases
from runtime.clock import SystemClock
from schemas.errors import ConfigError, DamageFound, StaleLease
from schemas.settings import Settings
from tests.fakes.encoder_files import write_encoder_files

AS_OF = "2026-03-01T12:00:00+00:00"
MODEL = ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index that has published generations 1 to 3."""
    layout = IndexLayout(tmp_path)
    layout.manifest.write_text(dump_manifest(IndexManifest(index_id="i", graph="lance", model=MODEL)))
    LanceGraphStore.create(layout.lance)
    write_encoder_files(layout.encoder)
    write_current(tmp_path, 0)
    opened = open_index(Settings(index=str(tmp_path)))
    for base in range(3):
        publish(opened, base=base)
    yield opened
    opened.close()


def publish(index: Index, *, base: int, recorded: bool = True) -> int:
    """Publish an empty generation on *base*."""
    generations = index.ledger.generations
    number = generations.begin(base=base, source="handbook", run_id="r", token=1, as_of=AS_OF)
    generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={})
    if recorded:
        generations.mark(number, GenerationState.PUBLISHED)
    dump_generation(index.layout, make_manifest(number, base=base))
    write_current(index.layout.root, number)
    return number


def make_manifest(number: int, *, base: int) -> GenerationManifest:
    """What an empty generation says of itself."""
    return GenerationManifest(
        generation=number, base=base, as_of=AS_OF, source="handbook", run_id="r", plan_sha="p"
    )


def states(index: Index) -> dict[int, str]:
    """State of each generation."""
    rows = [index.ledger.generations.get(number) for number in range(1, 6)]
    return {row.generation: row.state.value for row in rows if row is not None}


def test_without_a_number_readers_go_one_back(index: Index) -> None:
    assert roll_back(index, to=None) == {"generation": 2, "rolled_back_from": 3, "warnings": []}
    assert index.current() == 2
    assert states(index) == {1: "published", 2: "published", 3: "rolled_back"}


def test_a_generation_whose_manifest_was_pruned_is_no_place_to_go_back_to(index: Index) -> None:
    index.layout.generation(2).unlink()

    with pytest.raises(ConfigError, match="to generation 2; earlier generations still kept: 1"):
        roll_back(index, to=2)
    assert index.current() == 3


def test_one_that_a_crash_kept_from_being_recorded_is_rolled_back_too(index: Index) -> None:
    publish(index, base=3, recorded=False)

    assert roll_back(index, to=None)["generation"] == 3
    assert states(index)[4] == "rolled_back"
    assert index.ledger.generations.unfinished() == ()


class SleepersClock(SystemClock):
    """The clock of a process that sleeps so long before it looks that its lease is another run's by then."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    def now(self) -> datetime:
        if self._leases.holder("index", now=AS_OF):
            self._leases.acquire("index", holder="another run", now="2999", expires_at="3000")
        return super().now()


def test_one_that_slept_through_its_lease_leaves_readers_where_they_are(index: Index) -> None:
    index.clock = SleepersClock(index.ledger.leases)

    with pytest.raises(StaleLease, match="another run has taken over"):
        roll_back(index, to=None)
    assert index.current() == 3
    assert states(index) == {1: "published", 2: "published", 3: "published"}
    assert index.ledger.leases.holder("index", now="2999") == "another run"


def test_with_a_number_readers_go_there(index: Index) -> None:
    assert roll_back(index, to=1)["generation"] == 1
    assert states(index) == {1: "published", 2: "rolled_back", 3: "rolled_back"}


def test_publishing_is_held_from_then_on_until_lifted(index: Index) -> None:
    roll_back(index, to=None)
    assert held_since(index.layout) is not None
    assert lift_hold_of(index) == {"generation": 2, "lifted": True}
    assert lift_hold_of(index) == {"generation": 2, "lifted": False}


def test_the_next_generation_builds_on_the_one_gone_back_to_and_has_a_new_number(index: Index) -> None:
    roll_back(index, to=1)
    assert publish(index, base=1) == 4
    assert roll_back(index, to=None) == {"generation": 1, "rolled_back_from": 4, "warnings": []}


def test_a_refused_rollback_changes_nothing(index: Index) -> None:
    with pytest.raises(ConfigError, match=r"--to: cannot go back to generation 9; .* still kept: 1, 2"):
        roll_back(index, to=9)
    assert index.current() == 3
    assert held_since(index.layout) is None
    assert index.ledger.leases.holder("index", now=index.clock.now().isoformat()) is None


@pytest.mark.parametrize(
    ("kept", "to", "target"), [((1, 2, 3), None, 2), ((1, 2, 3), 1, 1), ((3, 7), None, 3), ((0, 1), 0, 0)]
)
def test_the_target_is_kept_and_earlier(kept: tuple[int, ...], to: int | None, target: int) -> None:
    assert choose_target(kept, current=kept[-1], to=to) == target


@pytest.mark.parametrize(("kept", "to"), [((1,), None), ((1, 2), 2), ((1, 2), 5), ((), None)])
def test_there_is_no_going_back_to_what_is_not_kept_or_not_earlier(
    kept: tuple[int, ...], to: int | None
) -> None:
    with pytest.raises(ConfigError, match="go back to") as refused:
        choose_target(kept, current=2 if len(kept) > 1 else 1, to=to)

    assert ("--to" in str(refused.value)) is (to is not None), "an option that nobody typed is not named"


def test_without_the_server_of_the_graph_readers_are_back_and_a_warning_says_so(
    tmp_path: Path,
) -> None:
    layout = IndexLayout(tmp_path)
    layout.manifest.write_text(dump_manifest(IndexManifest(index_id="i", graph="neo4j", model=MODEL)))
    write_encoder_files(layout.encoder)
    write_current(tmp_path, 0)
    opened = open_index(Settings(index=str(tmp_path), neo4j_uri="bolt://127.0.0.1:1"))
    for base in range(2):
        publish(opened, base=base)

    (warning,) = roll_back(opened, to=1)["warnings"]

    assert opened.current() == 1
    assert "the next run does it" in warning
    assert "Neo4j cannot be reached" in warning
    opened.close()


def test_nobody_is_led_back_to_a_generation_that_is_damaged(index: Index) -> None:
    index.ledger.manifests.save(2, index.layout.generation(2).read_text())
    rotten = index.layout.generation(2).read_text().replace(AS_OF, AS_OF.replace("03-01", "03-05"))
    index.layout.generation(2).write_text(rotten)

    with pytest.raises(DamageFound, match=r"2\.json: is damaged; choose another generation with: "):
        roll_back(index, to=2)

    assert index.current() == 3
    assert roll_back(index, to=1)["generation"] == 1


def test_nobody_is_led_back_to_a_generation_whose_encoder_is_damaged(index: Index) -> None:
    """With another model than the run's, no run would export it again."""
    (index.layout.encoder / WEIGHTS_FILE).write_bytes(b"rotten")

    with pytest.raises(DamageFound, match=rf"{WEIGHTS_FILE}: is missing or damaged; choose"):
        roll_back(index, to=2)

    assert index.current() == 3
    assert held_since(index.layout) is None
