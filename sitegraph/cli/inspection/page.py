"""A report as one HTML file: no script, nothing from elsewhere, everything a document says escaped."""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.parse.pdf.picture import PagePicture
from schemas.geometry import BBox, PageSize, turn
from schemas.nodes import RegionType
from schemas.unseen import replace_unseen
from sitegraph.cli.inspection.report import ChunkShown, PageShown, RegionShown, Report
from sitegraph.cli.inspection.text import place_of, summarise, verdict_of

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_ABOVE_ALL = frozenset({"warning", "doubt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Displayed:
    """A page as its picture shows it: turned, in points; `tag` is the size of a number on it."""

    width: float
    height: float
    tag: float
    boxes: tuple[tuple[RegionShown, BBox], ...]


def render_page(report: Report, pictures: Iterable[PagePicture]) -> str:
    """Return the whole file as text; a page of a PDF without a picture shows its boxes on white."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return template.render(
        report=report,
        facts=[fact for fact in summarise(report) if fact[0] not in _ABOVE_ALL],
        pictures={picture.page_no: picture for picture in pictures},
        region_types=[type_.value for type_ in RegionType],
        style=style,
        style_hash=f"sha256-{digest}",
    )


def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, finalize=_show_unseen
    )
    environment.filters |= {
        "place": place_of,
        "verdict": verdict_of,
        "holds": _holds,
        "displayed": _display,
    }
    return environment


def _show_unseen(value: object) -> object:
    return replace_unseen(value) if type(value) is str else value


def _holds(chunk: ChunkShown) -> bool:
    return chunk.in_parent and chunk.at_place is not False


def _display(page: PageShown, picture: PagePicture | None) -> _Displayed:
    rotation = picture.rotation if picture else 0
    size = page.size
    turned = rotation % 180 == 90
    return _Displayed(
        tag=round(max(size.width, size.height) / 105, 1),
        width=size.height if turned else size.width,
        height=size.width if turned else size.height,
        boxes=tuple((region, _turned(region.bbox, size, rotation)) for region in page.regions),
    )


def _turned(box: BBox, size: PageSize, rotation: int) -> BBox:
    return BBox(*(round(side, 1) for side in astuple(turn(box, size=size, rotation=rotation))))
