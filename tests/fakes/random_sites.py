"""Random folders of pages that link to each other, with random access; and how they change."""

import os
import random
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ingest.plan.access import may_see
from schemas.access import Groups
from tests.fakes.pdfs import Text, heading, new_pdf

GROUPS = ("hr", "ops")
FOLDERS = ("", "hr/", "ops/", "guide/")
WORDS = (
    *("lease", "record", "backup", "ledger", "mirror", "anchor", "harbour", "engine", "valve", "signal"),
    *("budget", "salary", "contract", "window", "garden", "bridge", "letter", "parcel", "ticket", "shelf"),
)
SENTENCES = (
    "A lease of a record ends after nine days unless somebody renews it in time.",
    "The backup of the ledger is copied to the mirror every night before the engine stops.",
    "Whoever loses a ticket writes a letter to the harbour office within a week.",
)
"""Said by several pages word for word, so that passages are alike across what is seen and what is not."""

HIDDEN = "quicksilver"
"""A word of hidden pages alone."""


@dataclass
class RandomPage:
    """A page: its words, where it leads, and what its front matter says of access."""

    title: str
    body: str
    links: tuple[str, ...]
    access: tuple[str, ...] = ()
    doc_id: str | None = None
    depends_on: str | None = None
    written: int = 0

    def text(self) -> str:
        """Return it as Markdown."""
        keys = {"title": self.title, "id": self.doc_id, "depends_on": self.depends_on}
        stated = [f"{key}: {value}" for key, value in keys.items() if value]
        stated += [f"access: [{', '.join(self.access)}]"] if self.access else []
        head = "\n".join(["---", *stated, "---", ""])
        links = " ".join(f"See [{link}](/{link})." for link in self.links)
        return f"{head}# {self.title}\n\n{self.body}\n\n## More\n\n{links}\n"


@dataclass
class RandomSite:
    """Pages by path, PDFs by path with their text, and the access that the source file states by glob."""

    chance: random.Random
    pages: dict[str, RandomPage] = field(default_factory=dict)
    pdfs: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    step: int = 0

    @classmethod
    def make(cls, seed: int) -> "RandomSite":
        """Make the site of a seed; its first page is for everybody, and stays."""
        site = cls(chance=random.Random(seed))
        for number in range(site.chance.randint(4, 8)):
            site._add(f"{site.chance.choice(FOLDERS) if number else ''}p{number}.md")
        site.pages["p0.md"].access = ()
        if seed % 4 == 0:
            site.pdfs[f"{site.chance.choice(FOLDERS)}sheet.pdf"] = site._sentence()
        site.paths = {"hr/*": "hr"} if site.chance.random() < 0.7 else {"hr/*": "hr", "guide/*": "ops"}
        return site

    def change(self) -> None:
        """Let some things happen: a page is edited, comes, goes, or is for others than before."""
        self.step += 1
        for _ in range(self.chance.randint(1, 3)):
            self.chance.choice((self._edit, self._come, self._go, self._open_or_close, self._reglob))()

    def is_seen(self, path: str, groups: Groups) -> bool:
        """Whether readers of *groups* may see what is at a path; the rule said a second time, in the test."""
        globbed = [group for glob, group in self.paths.items() if path.startswith(glob.removesuffix("*"))]
        stated = self.pages[path].access if path in self.pages else ()
        return may_see(groups, globbed[-1:]) and may_see(groups, stated)

    def seen(self, groups: Groups | None) -> set[str]:
        """Return the paths that readers of *groups* may see, all for None."""
        every = {*self.pages, *self.pdfs}
        return every if groups is None else {path for path in every if self.is_seen(path, groups)}

    def write(self, folder: Path, paths: Iterable[str]) -> None:
        """Make a folder have just these files, each of the time when it was written last."""
        shutil.rmtree(folder, ignore_errors=True)
        for path in paths:
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if path in self.pdfs:
                file.write_bytes(_pdf(self.pdfs[path]))
                written = 0
            else:
                file.write_text(self.pages[path].text(), encoding="utf-8")
                written = self.pages[path].written
            at = 1_700_000_000 + 86_400 * written
            os.utime(file, (at, at))

    def source(self, root: str, *, with_access: bool) -> str:
        """Return the source file."""
        head = f"name: site\nkind: files\nroots: [{root}]\n"
        globs = "".join(f"    '{glob}': [{group}]\n" for glob, group in self.paths.items())
        return f"{head}access:\n  paths:\n{globs}" if with_access and globs else head

    def _add(self, path: str) -> None:
        others = [*self.pages]
        links = self.chance.sample(others, min(len(others), self.chance.randint(0, 3)))
        title = " ".join(self.chance.sample(WORDS, 2)).title()
        access = (self.chance.choice(GROUPS),) if self.chance.random() < 0.25 else ()
        ids = [page.doc_id for page in self.pages.values() if page.doc_id]
        self.pages[path] = RandomPage(
            title=title,
            body=self._body(path),
            links=tuple(links),
            access=access,
            doc_id=f"GOV-{len(self.pages):04}" if self.chance.random() < 0.4 else None,
            depends_on=self.chance.choice(ids) if ids and self.chance.random() < 0.4 else None,
            written=self.step,
        )

    def _body(self, path: str) -> str:
        said = [self._sentence(), self.chance.choice(SENTENCES), self._sentence()]
        return " ".join([*said, f"{HIDDEN.title()} is kept there."] if path.startswith("hr/") else said)

    def _sentence(self) -> str:
        return f"The {' '.join(self.chance.sample(WORDS, 6))} lasts {self.chance.randint(2, 99)} days."

    def _some(self) -> str:
        return self.chance.choice([path for path in self.pages if path != "p0.md"] or ["p0.md"])

    def _edit(self) -> None:
        path = self.chance.choice([*self.pages])
        self.pages[path].body, self.pages[path].written = self._body(path), self.step

    def _come(self) -> None:
        self._add(f"{self.chance.choice(FOLDERS)}n{self.step}-{len(self.pages)}.md")

    def _go(self) -> None:
        path = self._some()
        if path != "p0.md":
            del self.pages[path]

    def _open_or_close(self) -> None:
        page = self.pages[path := self._some()]
        if path != "p0.md":
            page.access = () if page.access else (self.chance.choice(GROUPS),)
            page.written = self.step

    def _reglob(self) -> None:
        folder = self.chance.choice(FOLDERS[1:])
        if f"{folder}*" in self.paths:
            del self.paths[f"{folder}*"]
        else:
            self.paths[f"{folder}*"] = self.chance.choice(GROUPS)


def _pdf(text: str) -> bytes:
    with new_pdf([[heading("Sheet of valves"), Text(text)]], title="Sheet") as document:
        data: bytes = document.tobytes(no_new_id=True)
        return data
