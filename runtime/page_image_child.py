"""The child's side of page_images.py: a PDF on standard input, one page as PNG on standard output.

`framed` draws a page with a box on it, `alone` what stands in the box, and `whole` a page as it is, behind a
line of JSON that says what is displayed.
"""

import json
import resource
import sys

from schemas.errors import ParseError
from schemas.nodes import BBox
from schemas.settings import install_line

_CPU_SECONDS = 30


def main() -> int:
    """Draw; exit code 1 with one line on stderr says why there is no picture."""
    how = sys.argv[1]
    page_no, dpi, address_space_mb, *box = map(float, sys.argv[2:])
    _limit(int(address_space_mb) * 1024 * 1024)
    try:
        picture = _draw(sys.stdin.buffer.read(), how, int(page_no), int(dpi), box)
    except ImportError:
        return _refuse(f"pictures need pymupdf, which is not installed; run: {install_line('serve')}")
    except ParseError as error:
        return _refuse(error.message)
    except MemoryError:
        return _refuse("the page takes more memory than it may")
    sys.stdout.buffer.write(picture)
    return 0


def _draw(data: bytes, how: str, page_no: int, dpi: int, box: list[float]) -> bytes:
    from ingest.parse.pdf.opening import draw_page, draw_part, draw_region

    if how != "whole":
        draw = draw_region if how == "framed" else draw_part
        return draw(data, page_no=page_no, bbox=BBox(*box), dpi=dpi)
    png, size, rotation = draw_page(data, page_no=page_no, dpi=dpi)
    displayed = {"width": size.width, "height": size.height, "rotation": rotation}
    return json.dumps(displayed).encode() + b"\n" + png


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 1


def _limit(address_space: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
