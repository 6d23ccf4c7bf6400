"""What a repair does about each kind of damage, and what it cannot know; decided by what was found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from flows.commit.rebuild_stores import AUTHORITY
from flows.run.find_damage import DRAWN, FETCHED, PARSED, TABLES, UNKNOWN_DOCUMENT, IndexPart
from indexes.publish.files import Damage


class RepairAction(StrEnum):
    """What is made whole, in the order in which it is done; each from what comes before it, or beside it."""

    POINTERS = "pointers"
    LEDGER = "ledger"
    DOCUMENTS = "documents"
    FRAGMENTS = "fragments"
    LEDGER_ROWS = "ledger rows"
    VECTORS = "vectors"
    ENCODER = "encoder"
    LINKS = "links"
    AUTHORITY = "authority"
    SIMILAR = "similar"
    ROWS = "rows"
    TABLES = "tables"
    VIEW = "view"
    REFUSED = "refused"


HOW: Mapping[RepairAction, str] = {
    RepairAction.POINTERS: "put back from what repeats them",
    RepairAction.LEDGER: "filled again from the graph and the parsed documents",
    RepairAction.DOCUMENTS: "entered in the ledger again, from the graph and the parsed documents",
    RepairAction.FRAGMENTS: "parsed again from the bytes, in place: their names are their hashes",
    RepairAction.LEDGER_ROWS: "written again from the parsed documents, in place",
    RepairAction.VECTORS: "dropped, and taken from the chunk store again",
    RepairAction.ENCODER: "exported again from the model, in place",
    RepairAction.LINKS: "read from the graph again; in place where the hash agrees, else as a generation",
    RepairAction.AUTHORITY: "weighed again; in place where the hash agrees, else as a generation",
    RepairAction.SIMILAR: "compared again; in place where the hash agrees, else as a generation",
    RepairAction.ROWS: "linked again from the parsed documents; the rows that differ make a generation",
    RepairAction.TABLES: "all rows are written into new tables, as a generation",
    RepairAction.VIEW: "the view for people in the graph store is rebuilt",
    RepairAction.REFUSED: "nothing else holds these bytes; a run of the source fetches them again: "
    "sitegraph run SOURCE.yaml",
}

FIRST = frozenset({RepairAction.LEDGER, RepairAction.DOCUMENTS})
"""After these everything is looked at again: what is damaged shows only where the ledger is whole."""

NEW_GENERATION = frozenset({RepairAction.ROWS, RepairAction.TABLES})


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairStep:
    """One action, and all that it is for."""

    action: RepairAction
    damage: tuple[Damage, ...]

    @property
    def how(self) -> str:
        """Say what is done, or why nothing is."""
        return HOW[self.action]


def plan_repair(
    found: Mapping[IndexPart, Sequence[Damage]], *, more: Mapping[RepairAction, Sequence[Damage]], rows: bool
) -> tuple[RepairStep, ...]:
    """Decide what to do, in order.

    Args: found: damage by part, as `find_by_part` gives it; more: damage that nobody else looks for; rows:
    compare all rows with what the parsed documents give, whether damage was seen or not.
    """
    by_action: dict[RepairAction, list[Damage]] = {action: list(damage) for action, damage in more.items()}
    for part, damage in found.items():
        for one in damage:
            by_action.setdefault(_action(part, one), []).append(one)
    if rows:
        by_action.setdefault(RepairAction.ROWS, [])
    if RepairAction.TABLES in by_action:  # the whole contains the difference
        by_action[RepairAction.TABLES] += by_action.pop(RepairAction.ROWS, [])
    told = {action: tuple(dict.fromkeys(by_action[action])) for action in _order(by_action)}
    return tuple(RepairStep(action=action, damage=damage) for action, damage in told.items())


def _order(actions: Iterable[RepairAction]) -> Sequence[RepairAction]:
    wanted = set(actions)
    return [action for action in RepairAction if action in wanted]


def _action(part: IndexPart, damage: Damage) -> RepairAction:
    subject, what = damage
    match part:
        case IndexPart.MANIFEST:
            return RepairAction.POINTERS
        case IndexPart.FILES if subject.startswith(TABLES):
            return RepairAction.TABLES
        case IndexPart.FILES:
            return RepairAction.AUTHORITY if subject.startswith(AUTHORITY) else RepairAction.POINTERS
        case IndexPart.DATABASES:
            return RepairAction.LEDGER if "ledger" in subject.rpartition("/")[2] else RepairAction.VECTORS
        case IndexPart.ENCODER:
            return RepairAction.ENCODER
        case IndexPart.LEDGER:
            return RepairAction.DOCUMENTS if what == UNKNOWN_DOCUMENT else RepairAction.LEDGER
        case IndexPart.DOCUMENTS if what.startswith(PARSED):
            return RepairAction.FRAGMENTS
        case IndexPart.DOCUMENTS if what.startswith(FETCHED) or what == DRAWN:
            return RepairAction.REFUSED
        case IndexPart.LINKS:
            return RepairAction.LINKS
        case IndexPart.VIEW:
            return RepairAction.VIEW
        case _:
            return RepairAction.ROWS


def ledger_is_lost(steps: Iterable[RepairStep]) -> bool:
    """Whether both the ledger and the tables that it could be told from are damaged."""
    actions = {step.action for step in steps}
    return {RepairAction.LEDGER, RepairAction.TABLES} <= actions


def worth_trying(steps: Sequence[RepairStep], tried: Iterable[RepairStep]) -> tuple[RepairStep, ...]:
    """Return the steps to take now: those before which the ledger must be whole wait, what has been tried for
    the same damage is not tried again, and rows that a difference did not repair are all written again.
    """
    done, now = set(tried), []
    for step in steps:
        if step.action is RepairAction.REFUSED:
            continue
        if step not in done:
            now.append(step)
        elif step.action is RepairAction.ROWS and step.damage:
            now.append(RepairStep(action=RepairAction.TABLES, damage=step.damage))
    now = [step for step in now if step not in done]
    first = [step for step in now if step.action in FIRST]
    return tuple(first or now)
