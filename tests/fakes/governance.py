"""The index that most tests of retrieval read: policies with typed edges, linked guides, and a PDF."""

from dataclasses import replace

from schemas.edges import Edge, EdgeKind, LinkPosition
from tests.fakes.small_index import Document, SmallIndex, build_index, link, page, pdf, typed


def governance_index() -> SmallIndex:
    """Make the index that most tests of retrieval read."""
    return build_index(*governance_documents())


def governance_documents() -> tuple[tuple[Document, ...], tuple[Edge, ...]]:
    """Make policies with typed edges, guides with links, and a PDF."""
    policy = page(
        "gov-0017",
        {
            "Retention policy": "Records are kept for seven years. After that they are destroyed.",
            "Exceptions": "Legal hold suspends destruction until counsel lifts it.",
        },
        doc_id="GOV-0017",
        doc_type="governance",
        status="active",
        last_modified="2025-08-04T00:00:00+00:00",
    )
    archive = page(
        "adr-0031",
        {"Archive format": "Boxes are sealed and written once to cold storage."},
        doc_id="ADR-0031",
        doc_type="adr",
        status="active",
    )
    pipeline = page(
        "prd-0008",
        {"PRD-0008 Governance pipeline": "Answers must cite their evidence and honour retention."},
        doc_id="PRD-0008-governance-pipeline",
        doc_type="governance",
        status="draft",
    )
    backup = page(
        "backup",
        {
            "Backup guide": "Take a base backup every night and keep the write-ahead log.",
            "WAL size": "Set max_wal_size to bound the space between two checkpoints.",
            "Restore": "Stop the server, unpack the base backup and replay the log.",
        },
        doc_type="guide",
    )
    storage = page(
        "storage", {"Cold storage": "Tape robots answer within hours and cost little."}, doc_type="guide"
    )
    tuning = page(
        "tuning", {"Checkpoint tuning": "Fewer checkpoints write less but recover slower."}, doc_type="guide"
    )
    encoding = page(
        "encoding", {"Text encoding": "Files are stored as UTF-8 and nothing else."}, doc_type="guide"
    )
    paper = pdf(
        "paper",
        [
            (1, "Whitepaper on durable archives. It has three parts."),
            (3, "Figure 2 shows tape wear over ten years."),
        ],
    )
    backup = (backup[0], tuple(replace(chunk, codes=_codes(chunk.text)) for chunk in backup[1]))
    encoding = (encoding[0], tuple(replace(chunk, codes=("UTF-8",)) for chunk in encoding[1]))
    storage = (storage[0], tuple(replace(chunk, anchor_texts=("tape archive",)) for chunk in storage[1]))
    first = {
        name: found[1][0]
        for name, found in {
            "policy": policy,
            "archive": archive,
            "pipeline": pipeline,
            "backup": backup,
            "storage": storage,
            "tuning": tuning,
            "paper": paper,
        }.items()
    }
    return (
        (policy, archive, pipeline, backup, storage, tuning, encoding, paper),
        (
            typed(EdgeKind.DEPENDS_ON, first["archive"], first["policy"]),
            typed(EdgeKind.RELATES_TO, first["policy"], first["pipeline"]),
            link(first["archive"], first["storage"], "tape archive"),
            link(first["backup"], first["tuning"], "tuning", fragment="checkpoint-tuning"),
            link(first["backup"], first["storage"], "cold copies"),
            link(first["backup"], first["paper"], "paper", fragment="page=3"),
            link(first["backup"], first["policy"], "Policies", position=LinkPosition.NAV),
        ),
    )


def _codes(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split() if "_" in word)
