"""What a repair does about each kind of damage, and what it cannot know; decided by what was found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from flows.commit.repair import AUTHORITY
from flows.run.find_damage import DRAWN, FETCHED, PARSED, TABLES, UNKNOWN_DOCUMENT, Part
from indexes.publish.files import Damage


class Action(StrEnum):
    """What is made whole, in the order in which it is done; each from what comes before it, or beside it."""

    POINTERS = "pointers"
    LEDGER = "ledger"
    DOCUMENTS = "documents"
    FRAGMENTS = "fragments"
    LEDGER_ROWS = "ledger rows"
    VECTORS = "vectors"
    ENCODER = "encoder"
    AUTHORITY = "authority"
    SIMILAR = "similar"
    ROWS = "rows"
    TABLES = "tables"
    VIEW = "view"
    REFUSED = "refused"


HOW: Mapping[Action, str] = {
    Action.POINTERS: "put back from what repeats them",
    Action.LEDGER: "what readers see is told to it again, from the graph and the parsed documents",
    Action.DOCUMENTS: "told to the ledger again, from the graph and the parsed documents",
    Action.FRAGMENTS: "parsed again from the bytes, in place: their names are their hashes",
    Action.LEDGER_ROWS: "written again from the parsed documents, in place",
    Action.VECTORS: "dropped, and taken from the chunk store again",
    Action.ENCODER: "exported again from the model, in place",
    Action.AUTHORITY: "weighed again; in place where the hash agrees, else as a generation",
    Action.SIMILAR: "compared again; in place where the hash agrees, else as a generation",
    Action.ROWS: "linked again from the parsed documents; the rows that differ make a generation",
    Action.TABLES: "all rows are written into new tables, as a generation",
    Action.VIEW: "shown again to people who look into the graph store",
    Action.REFUSED: "nothing else holds these bytes; a run of the source fetches them again: "
    "sitegraph run SOURCE.yaml",
}

FIRST = frozenset({Action.LEDGER, Action.DOCUMENTS})
"""After these everything is looked at again: what is damaged shows only where the ledger is whole."""

NEW_GENERATION = frozenset({Action.ROWS, Action.TABLES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action, and all that it is for."""

    action: Action
    damage: tuple[Damage, ...]

    @property
    def how(self) -> str:
        """Say what is done, or why nothing is."""
        return HOW[self.action]


def plan_repair(
    found: Mapping[Part, Sequence[Damage]], *, more: Mapping[Action, Sequence[Damage]], rows: bool
) -> tuple[Step, ...]:
    """Decide what to do, in order.

    Args: found: damage by part, as `find_by_part` gives it; more: damage that nobody else looks for; rows:
    compare all rows with what the parsed documents give, whether damage was seen or not.
    """
    by_action: dict[Action, list[Damage]] = {action: list(damage) for action, damage in more.items()}
    for part, damage in found.items():
        for one in damage:
            by_action.setdefault(_action(part, one), []).append(one)
    if rows:
        by_action.setdefault(Action.ROWS, [])
    if Action.TABLES in by_action:  # the whole contains the difference
        by_action[Action.TABLES] += by_action.pop(Action.ROWS, [])
    told = {action: tuple(dict.fromkeys(by_action[action])) for action in _order(by_action)}
    return tuple(Step(action=action, damage=damage) for action, damage in told.items())


def _order(actions: Iterable[Action]) -> Sequence[Action]:
    wanted = set(actions)
    return [action for action in Action if action in wanted]


def _action(part: Part, damage: Damage) -> Action:
    subject, what = damage
    match part:
        case Part.MANIFEST:
            return Action.POINTERS
        case Part.FILES if subject.startswith(TABLES):
            return Action.TABLES
        case Part.FILES:
            return Action.AUTHORITY if subject.startswith(AUTHORITY) else Action.POINTERS
        case Part.DATABASES:
            return Action.LEDGER if "ledger" in subject.rpartition("/")[2] else Action.VECTORS
        case Part.ENCODER:
            return Action.ENCODER
        case Part.LEDGER:
            return Action.DOCUMENTS if what == UNKNOWN_DOCUMENT else Action.LEDGER
        case Part.DOCUMENTS if what.startswith(PARSED):
            return Action.FRAGMENTS
        case Part.DOCUMENTS if what.startswith(FETCHED) or what == DRAWN:
            return Action.REFUSED
        case Part.VIEW:
            return Action.VIEW
        case _:
            return Action.ROWS


def ledger_is_lost(steps: Iterable[Step]) -> bool:
    """Whether both the ledger and the tables that it could be told from are damaged."""
    actions = {step.action for step in steps}
    return {Action.LEDGER, Action.TABLES} <= actions


def worth_trying(steps: Sequence[Step], tried: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps to take now: those before which the ledger must be whole wait, what has been tried for
    the same damage is not tried again, and rows that a difference did not mend are all written again.
    """
    done, now = set(tried), []
    for step in steps:
        if step.action is Action.REFUSED:
            continue
        if step not in done:
            now.append(step)
        elif step.action is Action.ROWS and step.damage:
            now.append(Step(action=Action.TABLES, damage=step.damage))
    now = [step for step in now if step not in done]
    first = [step for step in now if step.action in FIRST]
    return tuple(first or now)
