"""A repository of policies and decisions as organisations keep them: Markdown with front matter.

Twenty-five documents of a library that does not exist. Their relations stand in front matter alone, but for
one that the text mentions too; a README links to all of them, as such repositories have one.
"""

from collections.abc import Mapping
from pathlib import Path

DEPENDS, SUPERSEDES, RELATES = "depends_on", "supersedes", "relates_to"
IMPLEMENTS, VERIFIED_BY = "implements", "verified_by"

Relations = Mapping[str, tuple[str, ...]]

DOCUMENTS: dict[str, tuple[str, str, Relations, str]] = {
    "GOV-0001": (
        "Records policy",
        "active",
        {},
        "Whatever the library decides in writing is a record. Records are kept in the vault on the "
        "second floor, "
        "and the keeper of the vault signs for each of them.",
    ),
    "GOV-0002": (
        "Access policy",
        "active",
        {DEPENDS: ("GOV-0001",)},
        "Readers see what is older than thirty years. Staff see everything that their desk needs, "
        "and nothing else.",
    ),
    "GOV-0009": (
        "Retention rules of the old house",
        "superseded",
        {},
        "Letters were burnt after five years, in the stove of the boiler room, by two clerks together.",
    ),
    "GOV-0017": (
        "Retention policy",
        "active",
        {DEPENDS: ("GOV-0001",), SUPERSEDES: ("GOV-0009",)},
        "Letters are kept for seven years and then destroyed by the paper mill. A legal hold stops "
        "the clock. "
        "The policy requires a receipt from the mill for every lorry.",
    ),
    "GOV-0021": (
        "Night shift rules",
        "active",
        {},
        "Two people watch the building at night. One of them walks the stacks at every full hour.",
    ),
    "GOV-0030": (
        "Vendor policy",
        "active",
        {RELATES: ("GOV-0002",)},
        "Vendors are met in the porter's lodge. Nobody signs a contract on the day it was offered.",
    ),
    "GOV-0099": (
        "Change control",
        "active",
        {DEPENDS: ("PRD-0008-intake-pipeline",), RELATES: ("GOV-0030",)},
        "A change is announced on the green board, waits three working days, and is then carried "
        "out by the desk "
        "that asked for it.",
    ),
    "PRD-0003-scanner-batch": (
        "Scanner batches",
        "superseded",
        {},
        "Boxes were scanned in batches of forty, and the batch was thrown away where one page failed.",
    ),
    "PRD-0008-intake-pipeline": (
        "Intake pipeline",
        "active",
        {DEPENDS: ("ADR-0042",), SUPERSEDES: ("PRD-0003-scanner-batch",), IMPLEMENTS: ("GOV-0017",)},
        "A box is opened, weighed, photographed and entered within one morning. Pages wait in the "
        "queue that "
        "ADR-0042 describes until somebody has read the label.",
    ),
    "PRD-0011-reading-room": (
        "Reading room",
        "active",
        {DEPENDS: ("ADR-0007", "PRD-0008-intake-pipeline"), IMPLEMENTS: ("GOV-0002",)},
        "Readers order at a lamp-lit desk and wait no longer than twenty minutes for a folder.",
    ),
    "PRD-0014-label-printer": (
        "Label printer",
        "draft",
        {DEPENDS: ("ADR-0051",)},
        "Labels come out of a small printer beside the scale, two for each box.",
    ),
    "ADR-0005": (
        "One database for everything",
        "accepted",
        {},
        "Shelves, readers and loans live in one PostgreSQL database. Two would drift apart within a season.",
    ),
    "ADR-0007": (
        "Pages are rendered on the server",
        "accepted",
        {DEPENDS: ("ADR-0005",)},
        "The catalogue sends finished pages. The reading room's old terminals have no strength for scripts.",
    ),
    "ADR-0011": (
        "The queue lies in a folder",
        "superseded",
        {},
        "Every waiting page was a file in a folder, and the oldest file was taken first.",
    ),
    "ADR-0012": (
        "Checksums by MD5",
        "superseded",
        {},
        "Each photograph had an MD5 sum on the back of its sleeve.",
    ),
    "ADR-0042": (
        "The queue lies in the database",
        "accepted",
        {SUPERSEDES: ("ADR-0011",), DEPENDS: ("ADR-0005",)},
        "Waiting pages are rows. A worker takes one with a lock and gives it back where it cannot read it.",
    ),
    "ADR-0051": (
        "Thermal paper for labels",
        "accepted",
        {RELATES: ("ADR-0053",)},
        "Thermal paper fades within ten years; the label is printed again before that.",
    ),
    "ADR-0053": ("Glue without acid", "accepted", {}, "Glue is mixed from wheat starch every Monday."),
    "ADR-0060": (
        "Nightly export",
        "accepted",
        {DEPENDS: ("ADR-0042",)},
        "At two in the night all rows are written to a tape that leaves the house with the milk van.",
    ),
    "ADR-0061": (
        "Checksums by SHA-256",
        "accepted",
        {SUPERSEDES: ("ADR-0012",), VERIFIED_BY: ("RUN-0002",)},
        "Each photograph has a SHA-256 sum in the catalogue, computed once more when it is lent.",
    ),
    "ADR-0070": (
        "Loans by chip card",
        "proposed",
        {},
        "Readers carry a card with a chip; the desk has a reader for it.",
    ),
    "STD-0004": (
        "Naming standard",
        "active",
        {RELATES: ("GOV-0001",)},
        "Names of files are lower case, with dashes, and begin with the year.",
    ),
    "STD-0006": (
        "Metadata standard",
        "active",
        {DEPENDS: ("STD-0004",)},
        "A record has a title, a year, a shelf and a keeper. Everything else is a note.",
    ),
    "RUN-0002": (
        "Restore drill",
        "active",
        {DEPENDS: ("ADR-0060", "GOV-0017")},
        "Once a quarter the tape is brought back and read into an empty machine while the keeper "
        "holds the watch.",
    ),
    "RUN-0005": (
        "Opening at night",
        "active",
        {RELATES: ("GOV-0021",)},
        "The side door opens with two keys, one of which lies in the fire station.",
    ),
}
FOLDERS = {
    "GOV": "governance",
    "PRD": "requirements",
    "ADR": "decisions",
    "STD": "standards",
    "RUN": "runbooks",
}
README = "README.md"


def path_of(doc_id: str) -> str:
    """Where a document lies, below the root."""
    return f"{FOLDERS[doc_id[:3]]}/{doc_id.lower()}.md"


def write_policies(root: Path) -> Path:
    """Write the repository, and beside it the source file, whose path is returned."""
    for doc_id, (title, status, relations, text) in DOCUMENTS.items():
        path = root / path_of(doc_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page_of(doc_id, title, status, relations, text), encoding="utf-8")
    listed = "\n".join(f"- [{doc_id} {of[0]}]({path_of(doc_id)})" for doc_id, of in DOCUMENTS.items())
    text = f"# Papers of the library\n\nAll papers by number:\n\n{listed}\n"
    (root / README).write_text(text, encoding="utf-8")
    source = root.parent / "policies.yaml"
    source.write_text(
        f"name: policies\nkind: files\nroots: [{root.name}]\nrelations: [{IMPLEMENTS}, {VERIFIED_BY}]\n"
    )
    return source


def page_of(doc_id: str, title: str, status: str, relations: Relations, text: str) -> str:
    """One document: front matter, a heading, what it says, and who keeps it."""
    stated = "".join(f"{key}:\n" + "".join(f"  - {one}\n" for one in ids) for key, ids in relations.items())
    return (
        f"---\nid: {doc_id}\ntitle: {title}\ntype: {FOLDERS[doc_id[:3]]}\nstatus: {status}\n{stated}---\n"
        "\n"
        f"# {title}\n\n{text}\n\n"
        "## Keeper\n\nThe desk on the ground floor keeps this paper and answers for it.\n"
    )
