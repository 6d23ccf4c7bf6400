"""What a run does about a damaged index: what readers need is looked at first, and made again where it is no
more.

Everything in the stores follows from the parsed documents that the ledger names, and their vectors are in the
cache: so a damaged store is written from nothing, by the same steps as a first run, without fetching
anything.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from flows.commit.salvage import salvage_observed
from flows.derive.link import parse_again
from flows.run.contexts import CommitContext
from flows.run.find_damage import damaged_rows
from flows.run.index import Index
from flows.run.kept_generations import LINKS, lost_links
from flows.run.values import Difference
from indexes.layout import remedy
from indexes.places import remove_tree
from indexes.publish.files import HASHED_BYTES, Damage, FileCheck, files_of_generation, table_folders
from indexes.publish.generation import load_generation
from indexes.table_files import unreadable_in
from indexes.wiring import create_stores
from schemas.advice import ADVICE, Trouble
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import LiveDocument
from schemas.errors import DamageFound
from schemas.report import Problem

AUTHORITY = "authority/"
REPAIR = "repair"
"""The source of a generation that repairs, and of the lease that it takes."""


class Repair(StrEnum):
    """What a run makes again: nothing, what links and clicks say of documents, or all rows of all stores."""

    NOTHING = "nothing"
    AUTHORITY = "authority"
    STORES = "stores"


_TOLD = {Repair.AUTHORITY: "made again", Repair.STORES: "all rows are written again"}


def plan_repair(damaged: Collection[str]) -> Repair:
    """Decide by the damaged files, or tables."""
    if any(not path.startswith((AUTHORITY, LINKS)) for path in damaged):
        return Repair.STORES
    return Repair.AUTHORITY if damaged else Repair.NOTHING


def look_for_damage(run: CommitContext, *, repair: bool, writes: bool) -> Repair:
    """See whether the files are there that readers open, as they were published; tell what is not.

    Sizes of all and hashes of HASHED_BYTES are compared; with *repair*, all hashes and all rows. *writes*:
    also what only stops who writes, which `look_before_writing` sees otherwise.
    Raises: DamageFound: the stores are damaged, and so is the ledger from which they could be made.
    """
    return _tell(run, find_damaged_files(run.index, repair=repair, writes=repair or writes))


def look_before_writing(run: CommitContext) -> Repair:
    """See whether the store can write its tables, as `look_for_damage` does for readers."""
    index = run.index
    if index.current() == 0:
        return Repair.NOTHING
    folders = table_folders(index.layout, index.manifest, index.chunks.space(index.current()))
    return _tell(run, tuple(_unwritable(index, folders)))


def _tell(run: CommitContext, found: Sequence[Damage]) -> Repair:
    index = run.index
    needed = plan_repair([path for path, _ in found])
    if needed is Repair.STORES:
        require_ledger(index)
    if found:
        (path, what), others = found[0], f", as {len(found) - 1} more" if len(found) > 1 else ""
        problem = Problem(url=path, reason=f"{what}{others}; {_TOLD[needed]}")
        index.ledger.runs.add_problems(run.run_id, [problem])
        run.progress.say(f"{problem.url} {problem.reason}")
    return needed


def find_damaged_files(index: Index, *, repair: bool = False, writes: bool = True) -> tuple[Damage, ...]:
    """Return what is damaged of the files that readers of the current generation open.

    *writes*: also what only stops who writes; to tell, the driver is imported, which takes over a second.
    """
    number = index.current()
    if number == 0:
        return ()
    described = load_generation(index.layout, number)
    found = FileCheck(index.layout.root, None if repair else HASHED_BYTES).damaged(described.files)
    if not described.files:  # published by an earlier version
        found = tuple(_missing(index, number))
    found = (*found, *_unreadable(index, writes=writes))
    if repair and (lost := lost_links(index, number)):
        found = (*found, (lost, "is missing or damaged"))
    return found or (damaged_rows(index, number) if repair else ())


def _unreadable(index: Index, *, writes: bool) -> Iterable[Damage]:
    """What is no file of the generation, and yet stops the store from opening or writing its tables."""
    folders = table_folders(index.layout, index.manifest, index.chunks.space(index.current()))
    for folder in folders:
        for name in unreadable_in(folder):
            yield (folder / name).relative_to(index.layout.root).as_posix(), "cannot be read"
    if writes:
        yield from _unwritable(index, folders)


def _unwritable(index: Index, folders: Iterable[Path]) -> Iterable[Damage]:
    for folder in folders:
        if folder.is_dir() and _is_unlistable(folder):
            yield folder.relative_to(index.layout.root).as_posix(), "has versions that cannot be read"


def _is_unlistable(folder: Path) -> bool:
    from indexes.stores.lance.tables import why_unlistable

    return why_unlistable(folder.parent, folder.stem) is not None


def _missing(index: Index, number: int) -> Iterable[Damage]:
    """The same of a generation whose files were not recorded: whether they are there."""
    try:
        paths = files_of_generation(index.layout, index.manifest, number, index.chunks.space(number))
    except DamageFound as error:
        return [(f"lance/{error.subject}.lance", "is missing or damaged")]
    held = (path for path in paths if not path.startswith(AUTHORITY))
    return [(path, "is missing") for path in held if not (index.layout.root / path).is_file()]


def require_ledger(index: Index) -> None:
    """Raise DamageFound where the ledger does not know what the stores could be made again from."""
    number = index.current()
    live = index.ledger.generations.live(number).values()
    if index.ledger.generations.get(number) is None or any(not one.fragment_sha for one in live):
        raise DamageFound(
            "is damaged, and the ledger that it could be rebuilt from is lost; "
            f"{ADVICE[Trouble.PAST_REPAIR]}",
            subject=str(index.layout.root),
        )


def from_nothing(index: Index, difference: Difference) -> Difference:
    """Let the next generation add every document, of all sources, to an empty index.

    Raises: DamageFound: a parsed document is lost; the next run of its source parses it again.
    """
    after = dict(index.ledger.generations.live(difference.base))
    for change in difference.changes:
        after.pop(change.doc, None)
        if change.new is not None:
            after[change.doc] = change.new
    _require_fragments(index, after.values())
    observed = salvage_observed(index)
    for generation in index.ledger.generations.unfinished():
        index.ledger.generations.abort(generation.generation)
    added = (DocumentChange(kind=ChangeKind.ADDED, old=None, new=live) for _, live in sorted(after.items()))
    return replace(difference, base=0, changes=tuple(added), observed=observed)


def _require_fragments(index: Index, live: Iterable[LiveDocument]) -> None:
    lost = [one for one in live if not index.fragments.has(one.fragment_sha)]
    if lost:
        parse_again(index, lost)
        sources = ", ".join(sorted({one.source for one in lost}))
        raise DamageFound(
            f"its parsed form is lost, as are the rows of the index; run its source ({sources}) again, which "
            f"parses it: {remedy(index.layout.root)}",
            subject=lost[0].uri,
        )


def empty_stores(index: Index) -> None:
    """Put empty tables in the place of damaged ones; a graph server is written over."""
    space = index.chunks.space(index.current())
    index.close_stores()
    for folder in table_folders(index.layout, index.manifest, space):
        remove_tree(folder)
    create_stores(index.layout, index.manifest, index.settings.environment())
