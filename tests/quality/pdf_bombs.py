"""Small PDFs that unpack to much, or hold very many of something."""

import zlib

from tests.fakes.pdfs import Text, new_pdf, one_link_many_times, prose


def flate_bomb() -> bytes:
    """Page content of 1 GiB in a file of few kilobytes: deflate twice."""
    packer = zlib.compressobj(9)
    once = b"".join(packer.compress(b"BT " * 349_525) for _ in range(1024)) + packer.flush()
    content = zlib.compress(once, 9)
    return _one_page(content, b"[/FlateDecode /FlateDecode]")


def link_bomb() -> bytes:
    """One page whose /Annots names the same link 32,768 times."""
    return one_link_many_times(32_768)


def outline_loop() -> bytes:
    """Two bookmarks that each follow the other."""
    document = new_pdf([[Text(prose("lamp"))], [Text(prose("plug"))]], toc=[(1, "Lamp", 1), (1, "Plug", 2)])
    first, second = (row[3]["xref"] for row in document.get_toc(simple=False))
    document.xref_set_key(second, "Next", f"{first} 0 R")
    document.xref_set_key(first, "Prev", f"{second} 0 R")
    return bytes(document.tobytes())


def _one_page(content: bytes, filters: bytes) -> bytes:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
        b"<< /Length %d /Filter %s >>\nstream\n%s\nendstream" % (len(content), filters, content),
    ]
    body = b"%PDF-1.7\n"
    places = []
    for number, written in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(body)
    body += b"xref\n0 5\n0000000000 65535 f \n" + table
    return body + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start
