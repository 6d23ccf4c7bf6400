"""Questions in six languages about documents in six, of one index: `python -m bench.languages [FOLDER]`.

The twenty facts of an invented lighthouse are pages in each language. A cell of the table is the share of
questions in one language whose fact is among the first three passages in another.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from statistics import fmean

import yaml

import sitegraph
from indexes.embed.named_models import MULTILINGUAL
from sitegraph.cli.demo_script import serve_folder

FACTS = Path(__file__).with_name("facts")
LANGUAGES = ("en", "de", "fr", "es", "ru", "ja")
TOP, SHOWN = 3, 10

Fact = Mapping[str, str]
Cells = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, by the languages of questions and documents; `twice` of answers without a filter."""

    cells: Cells
    unfiltered: Mapping[str, float]
    twice: int

    @property
    def same(self) -> float:
        """The mean where question and documents are in one language."""
        return fmean(share for (asked, read), share in self.cells.items() if asked == read)

    @property
    def across(self) -> float:
        """The mean where they are not."""
        return fmean(share for (asked, read), share in self.cells.items() if asked != read)


def load_facts(language: str) -> Sequence[Fact]:
    """Return the facts in one language: each a title, a text and a question."""
    facts: Sequence[Fact] = yaml.safe_load((FACTS / f"{language}.yaml").read_text(encoding="utf-8"))
    return facts


def build_index(home: Path, *, model: str = MULTILINGUAL, languages: Sequence[str] = LANGUAGES) -> Path:
    """Return a new index of the facts in some languages, encoded by *model*."""
    for language in languages:
        (home / "pages" / language).mkdir(parents=True)
        for number, fact in enumerate(load_facts(language)):
            (home / "pages" / language / f"{number:02}.html").write_text(_page(language, fact), "utf-8")
    source, index = home / "source.yaml", home / "index"
    source.write_text("name: lighthouse\nkind: files\nroots: [pages]\n", encoding="utf-8")
    _run(source, index, model)
    return index


def crawl_site(home: Path, *, model: str = MULTILINGUAL, languages: Sequence[str] = LANGUAGES) -> Path:
    """Return a new index of a site that has the facts in some languages, joined by `hreflang`."""
    site = home / "site"
    for language in languages:
        (site / language).mkdir(parents=True)
        for number, fact in enumerate(load_facts(language)):
            joined = "".join(
                f'<link rel="alternate" hreflang="{other}" href="/{other}/{number:02}.html">'
                for other in (*languages, "x-default")
            ).replace("/x-default/", "/en/")
            (site / language / f"{number:02}.html").write_text(_page(language, fact, joined), "utf-8")
    with serve_folder(site) as address:
        seeds = [f"http://{address}/{page.relative_to(site)}" for page in sorted(site.glob("en/*.html"))]
        stated = {"name": "lighthouse", "kind": "web", "seeds": seeds, "allow_private": [address]}
        source = {**stated, "scope": {"include": [f"http://{address}/**"]}, "rate": {"per_host_delay": 0}}
        (home / "site.yaml").write_text(yaml.safe_dump(source), encoding="utf-8")
        _run(home / "site.yaml", home / "site-index", model)
    return home / "site-index"


def _run(source: Path, index: Path, model: str) -> None:
    command = [sys.executable, "-m", "sitegraph.cli.app", "run", str(source), "--index", str(index)]
    subprocess.run([*command, "--model", model], check=True, stdout=sys.stderr, env=dict(os.environ))


def _page(language: str, fact: Fact, joined: str = "") -> str:
    title, text = escape(fact["title"]), escape(fact["text"])
    head = f'<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>{joined}</head>'
    return f"<!doctype html>{head}<body><main><h1>{title}</h1><p>{text}</p></main></body></html>\n"


def ask_all(index: Path, *, languages: Sequence[str] = LANGUAGES) -> Found:
    """Ask every question of the documents of each language, then of all of them."""
    cells: dict[tuple[str, str], float] = {}
    unfiltered, twice = {}, 0
    with sitegraph.open(index) as opened:
        for asked in languages:
            facts = load_facts(asked)
            for read in languages:
                found = [_found(opened, fact, lang=read)[:TOP] for fact in facts]
                cells[asked, read] = fmean(number in one for number, one in enumerate(found))
            everywhere = [_found(opened, fact) for fact in facts]
            unfiltered[asked] = fmean(number in one[:TOP] for number, one in enumerate(everywhere))
            twice += sum(len(set(one)) < len(one) for one in everywhere)
    return Found(cells=cells, unfiltered=unfiltered, twice=twice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Shares of questions to a site of translations.

    `once`: their ten passages tell ten facts; `own`: they find the fact in their own language. Of those that
    are not English, without a language model, `right`: the answer quotes the fact; `wrong`: others alone.
    """

    once: float
    own: float
    right: float
    wrong: float


def ask_site(index: Path, *, languages: Sequence[str] = LANGUAGES) -> Said:
    """Ask every question of the translations of all facts."""
    once, own, answered = list[bool](), list[bool](), list[tuple[bool, bool]]()
    with sitegraph.open(index) as opened:
        for asked, number, fact in ((one, *each) for one in languages for each in enumerate(load_facts(one))):
            page = f"{number:02}.html"
            evidence = opened.retrieve(fact["asked"], top_k=SHOWN, rerank=False).evidence
            pages = [Path(one.url or "").parts[-2:] for one in evidence]
            once.append(len({name for _, name in pages}) == len(pages) == SHOWN)
            own.append((asked, page) in pages)
            if asked != "en":
                quoted = _quoted(opened, fact["asked"])
                answered.append((page in quoted, bool(quoted) and page not in quoted))
    right, wrong = (fmean(column) for column in zip(*answered, strict=True))
    return Said(once=fmean(once), own=fmean(own), right=right, wrong=wrong)


def _quoted(opened: sitegraph.OpenedIndex, question: str) -> set[str]:
    """Return the names of the pages that an answer quotes."""
    asked = opened.ask(question)
    quoted = {one.S for one in asked.answer.sentences}
    return {Path(one.url or "").name for one in asked.bundle.evidence if one.S in quoted}


def _found(opened: sitegraph.OpenedIndex, fact: Fact, **filters: str) -> list[int]:
    """Return the numbers of the facts that are found, best first."""
    evidence = opened.retrieve(fact["asked"], top_k=SHOWN, filters=filters, rerank=False).evidence
    return [int(Path(one.url or one.file_path or "").stem) for one in evidence]


def main() -> None:
    """Build indexes in a folder, ask them, and print what was found."""
    home = Path(sys.argv[1] if len(sys.argv) > 1 else ".cache/bench-languages")
    index = home / "index" if (home / "index").exists() else build_index(home)
    found = ask_all(index)
    print("| questions | " + " | ".join(LANGUAGES) + " | all |")
    print("|---" * (len(LANGUAGES) + 2) + "|")
    for asked in LANGUAGES:
        row = [f"{found.cells[asked, read]:.2f}" for read in LANGUAGES]
        print(f"| {asked} | " + " | ".join([*row, f"{found.unfiltered[asked]:.2f}"]) + " |")
    site = home / "site-index" if (home / "site-index").exists() else crawl_site(home)
    said = ask_site(site)
    figures = {"same": found.same, "across": found.across, "twice": found.twice}
    print(json.dumps({**figures, "translations": asdict(said)}))


if __name__ == "__main__":
    main()
