"""What looks like front matter and names `access` is read, or closes its document."""

import io
import json
import zipfile

import docx
import openpyxl
import pytest

from ingest.parse.access import CLOSED, UNREAD, names_access_at_top
from ingest.parse.document import parse_document
from ingest.parse.markdown.front_matter import split_front_matter
from schemas.fragment import ParseRequest
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.office_files import python_pptx, saved
from tests.fakes.pdfs import Text, count_words, new_pdf
from tests.fakes.plain_documents import H, P

MEANT = (
    "```yaml meta\naccess: hr\n```\n# H",
    "```{yaml}\naccess: hr\n```\n# H",
    "--- # front matter\naccess: hr\n---\n# H",
    "--- access: hr\n---\nText.",
    "| title | access |\n|---|---|\n| x | hr |\n\n# H",
    "Draft\n\n---\naccess: hr\n---\n# H",
    "# H\naccess: [hr]\n\nText.",
    "; access = hr\n\n# H",
    "<access>hr</access>\n\n# H",
    '+++\ntitle = "C"\naccess = ["hr"]\n+++\n\n# G\n\nText of it.',
    '{\n"title": "D",\n"access": ["hr"]\n}\n\n# D\n\nText',
    '{"title": "D", "access": ["hr"]}\n\n# D\n',
    '{"title": "D", "\\u0061ccess": ["hr"]}\n\n# D\n',
    ';;;\n{"access": ["hr"]}\n;;;\n# x',
    '---json\n{"access": ["hr"]}\n---\n# x',
    "\n---\ntitle: B\naccess: [hr]\n---\n\n# Beta\n",
    " ---\naccess: [hr]\n---\n# x",
    "\t---\n\taccess: [hr]\n\t---\n# x",
    "\ufeff\ufeff---\naccess: [hr]\n---\n# x",
    "\u200b---\naccess: [hr]\n---\n# x",
    "<!-- reviewed -->\n---\naccess: [hr]\n---\n# x",
    "# reviewed\n---\naccess: [hr]\n---\n# x",
    "# reviewed\n\n---\naccess: [hr]\n---\n# x",
    "<!--\ntitle: x\naccess: hr\n-->\n# x",
    "<!-- access: hr -->\n# x",
    "---\ntitle: x\naccess: [hr]\n\n# Head\n\nText.",
    "---\ntitle: x\naccess: [hr]",
    "----\naccess: [hr]\n----\n\n# Head",
    "--\naccess: [hr]\n--\n\n# Head",
    "---\naccess: [hr]\n----\n\n# Head",
    "\u2014\naccess: [hr]\n\u2014\n\n# Head",
    "---\nAccess: [hr]\n---\nx",
    "---\nACCESS : [hr]\n---\nx",
    '---\n"Access": [hr]\n---\nx',
    "---\n{Access: [hr]}\n---\nx",
    "---\n{title: x, meta: {access: [hr]}}\n---\nx",
    "---\n- access: [hr]\n---\nx",
    "---\na: &x [hr]\naccess: *x\n---\nx",
    "---\nbase: &b\n  access: [hr]\n<<: *b\n---\nx",
    "---\nparams:\n  access: [hr]\n---\nx",
    "---\naccess: [hr]\naccess: [public]\n---\nx",
    "---\naccess: [public]\nAccess: [hr]\n---\nx",
    "---\n\taccess: [hr]\n---\nx",
    "---\naccess:\t[hr\n---\nx",
    "---\r\nAccess: [hr]\r\n---\r\nx",
    "---\rAccess: [hr]\r---\rx",
    "---\ntitle: x\n...\n---\naccess: [hr]\n---\n",
    "---\ntitle: x\n---\n---\naccess: [hr]\n---\nText",
    "---\n---\naccess: [hr]\n---\nText",
    "---\ntitle: x\n---\naccess: [hr]\n\n# H",
    "---\naccess:[hr]\n---\nx",
    "---\naccess=hr\n---\nx",
    "---\ntitle: x\naccess [hr]\n---\nx",
    "---\naccess hr\n---\nx",
    "---\naccess_groups: [hr]\n---\nx",
    "---\naccessGroups: [hr]\n---\nx",
    "---\naccess groups: [hr]\n---\nx",
    "---\npage.access: hr\n---\nx",
    "---\n? access\n: [hr]\nx: [\n---\nx",
    "---\n\uff41\uff43\uff43\uff45\uff53\uff53: [hr]\n---\nx",
    "---\ntitle: x\naccess\uff1a [hr]\n---\nx",
    "---\n\u0430\u0441\u0441\u0435ss: [hr]\n---\nx",
    '---\n"acc\\u0065ss ": [hr]\n---\nx',
    "Title: x\nAccess: hr\n\nText follows here.",
    "access: hr\n\nText",
    "- title: x\n- access: [hr]\n\n# H",
    "**access:** hr\n\n# H",
    "export const meta = {\n  title: 'x',\n  access: ['hr'],\n}\n\n# H",
    "import X from './x'\n\nexport const frontmatter = { access: ['hr'] }\n\n# H",
    ":Author: me\n:Access: hr\n\nText",
    "Title\n=====\n\n:Author: me\n:Access: hr\n\nText",
    "=====\nTitle\n=====\n\n:Access: hr\n\nText",
    ".. meta::\n   :access: hr\n\nText",
    ".. access: hr\n\nText",
    "#+TITLE: x\n#+ACCESS: hr\n\nText",
    "= Title\n:access: hr\n\nText",
    "% Title\n% Author\n% access: hr\n\nText",
    "[access]: # (hr)\n\n# H",
    "[//]: # (access: hr)\n\n# H",
    '<meta name="access" content="hr">\n\n# H',
    "```yaml\naccess: [hr]\n```\n\n# H",
    "###\naccess: hr\n###\n# H",
    "# Title\n\n---\naccess: [hr]\n---\n\nText",
    "# Title\n\n---\naccess: [hr]\n\nText",
    "#!/usr/bin/env foo\n---\naccess: [hr]\n---\n",
    "<?xml version='1.0'?>\n---\naccess: [hr]\n---\n",
    "{% comment %} x {% endcomment %}\n---\naccess: hr\n---",
    "---\ntitle: x\ndescription: This is\na long text with many words in it that wraps\naccess: [hr]\n---\n",
    "---\ntitle: |\n  x\n  access: [hr]\n---\nx",
    "\n" * 3000 + "---\naccess: hr\n---\n# x",
    "k: x\n" * 3000 + "access: hr\n\nText",
    "%YAML 1.2\n---\naccess: hr\n---\n",
    "***\naccess: hr\n***\n",
    "___\naccess: hr\n___\n",
    "---\n&#97;ccess: hr\n---\n",
    "---\naccess:\n---\nx",
    "---\naccess: ~\n---\nx",
    "---\naccess: true\n---\n",
    "---\naccess: [[hr]]\n---\n",
    '---\naccess: "hr, staff"\n---\n',
    "---\naccess: !groups [hr]\n---\n",
    "---\naccess: !!set {hr}\n---\n",
    '+++\n[access]\ngroups = ["hr"]\n+++\nx',
    '---toml\naccess = ["hr"]\n---\nx',
    "> access: hr\n\n# H",
    "    access: hr\n\n# H",
    "<pre>\naccess: hr\n</pre>\n# H",
    "<div>\naccess: hr\n</div>\n# H",
    "title: x\naccess: [hr]\n---\n# H",
    "access: hr\n---\n# H",
    "Doc\n---\ntitle: x\n\naccess: hr\n---\n# H",
    "Draft\n-----\naccess: hr\n-----\n# H",
    "| title | x |\n| access | hr |\n| id | y |\n| owner | z |\n\n# H",
    "| access | hr |\n|---|---|\n| id | y |\n| owner | z |\n\n# H",
    "----------\naccess: hr\n----------\n\n# H",
    "===\naccess: hr\n===\n\n# H",
    "Title: x\nAccess: hr\n----------\n\nText",
    "Access: hr\n====================\n\nText",
    "[access]: hr\n\n# H",
    "[//]: https://h/x (access: hr)\n\n# H",
    "---\naccess_keyholders: hr\n---\n",
    "---\naccess key-users\n---\n",
    f"---\ntext: {'x' * 70_000}\naccess: hr\n---\nx",
    *(
        f"---\ntitle: x\n{key}: [hr]\n---\n# H"
        for key in (
            *(
                "acceSS",
                "AcCeSs",
                "aCCess",
                "accESS",
                "accessgroups",
                "ACCESSGROUPS",
                "AccessGroups",
                "accesslevel",
            ),
            *("access-groups", "pageAccess", "page_access", "x-access", "restrictAccess"),
        )
    ),
    *(
        text.format(f"ac{sign}cess")
        for sign in "\u034f\ufe0f\ufe0e\u206a\u115f\u3164\u200c\U000e0061\U000e0100\x08\x7f"
        for text in ("---\ntitle: x\n{}: [Hr]\n---\n# H", "Title: x\n{}: hr\n\nText.")
    ),
    "Title\n=====\n\n:Author: me\n:Address: Street 1\n   City\n:Access: hr\n\nText",
    "Title\n=====\n\n.. raw:: html\n\n   <meta name='access' content='hr'>\n\nText",
    "= H\nAuthor <a@b.c>\nv1.0\n:access: hr\n\nText",
    '+++\ntext = """\nwords\n\n# none\n\nmore"""\naccess = ["hr"]\n+++\n# H',
    "Title: x\nSummary: words which go on and on in a long line\nand in the next line of it\nAccess: hr\n",
    "---\nmeta: [{name: access, content: hr}]\n---\n# H",
    "---\nhead:\n  - - meta\n    - name: access\n      content: hr\n---\n# H",
    "[access]\ngroups=hr\n\n# H",
    "# H {access=hr}\n\nText",
    "# H <!-- access: hr -->\n\nText",
    "# access: [hr]\n\nText",
    "\u2022 access: hr\n\n# H",
    "My Title\n\nMe\n\n---\naccess: [hr]\n---\nText",
    "---\ntitle: x\n---\n# H\n\n---\naccess: hr\n---\nText",
)
NOT_MEANT = (
    *(
        f"---\ntitle: x\n---\n\n{text}\n\nText of it."
        for text in (
            "| Field | Access |\n|---|---|\n| x | RW |",
            "* Access: RW\n* Size: 4",
            "**Access:** Admins only.",
            "Access: see below",
            "Method: GET\nAccess: Public\nPath: /x",
            "```yaml\naccess: read\n```",
            "{{< note >}}\nAccess: x\n{{< /note >}}",
        )
    ),
    *(
        f"Title\n=====\n\n{text}\n\nText of it."
        for text in (
            ".. option:: --access=MODE\n\n   The mode.",
            ".. image:: access.png\n   :alt: Access: granted",
            ".. note:: Access: ask for it.",
            ":param access: the mode",
        )
    ),
    *(
        f"---\n{line}\n---\n# T"
        for line in (
            *(
                "open_access: true",
                "access_date: 2024-01-01",
                "params:\n  access_token: x",
                "accessMode: textual",
            ),
            *("title: Data: access to it", "title: Access: how to", "title: [Beta] Access tokens"),
            *("title: @access decorators", "title: {{ site.title }} access", "tags: [x]\nname: access"),
        )
    ),
    ".. module:: access\n   :synopsis: Access: control of it.\n\nText\n====\n",
    "= T\n:toc:\n:access-url: https://h/x\n\nText",
    "# T\n\n[^access]: Access is x.\n\nText",
    "```http\nAccess-Control-Allow-Origin: *\n```\n\nText of it.",
    "Manual\n\nAccess: see the next page.\n",
    "Manual\n\n```yaml\naccess: hr\n```\n",
    "# H\n\n- access: what it is\n",
    "# Tool\n\nAccess: read the docs.\n\nUse access: x\n",
    "# GET /x\n\nAccess: public\n",
    "---\ntitle: Access control\nsaid: To get access\ntags: [access]\n---\n\n# Access\n\nText about access.",
    "# Access\n\nText.",
    "Access\n======\n\nText",
    "Access\n---\n\nText",
    "======\nAccess\n======\n\nText",
    "Access is granted to all who ask for it in due time.\n\naccess: x\n",
    "[![x](https://h/access=1)](https://access.h:80/x)\n\n# T\n\nText",
    "---\n\nThis manual tells how people get access to the system and what to do with it then.\n\n---\n",
    "# Config\n\n```yaml\naccess: [hr]\n```\n",
    "# Config\n\n    access: hr\n",
    ".. _access:\n\nAccess\n======\n\nText",
    "<!-- Licensed to all. You may\naccess the source of it. -->\n# T",
    "---\naccessibility: good\naccessed: 2024\n---\n# T",
    "Some words come first.\naccess: hr\n",
    "# T\n\n| access: | x |\n",
    "Data Access: Overview\n====\n\nText",
    "Access: Overview\n================\n\nText",
    "Access: Overview\n================\n\nText\n\nUse\n===\n\nAccess: x\n\nEnd\n===\n",
    "=====================\nData Access: Overview\n=====================\n\nText",
    "================\nAccess: Overview\n================\n\nText",
    "| Register | Access |\n|---|---|\n| CTRL | RW |\n| STAT | RO |\n\n# H",
    "| CTRL | RW |\n|---|---|\n| STAT | no access |\n| DATA | RO |\n\n# H",
    "- access_token: what the server gives\n- Access token: the same\n",
    "# T\n\n[access]: https://h/access 'How'\n[access]: ../access.md\n\nText",
    "T\n=\n\n.. |access| replace:: what is let\n\nText",
    "T\n=\n\n:Access-Control-Allow-Origin: who may read\n\nText",
    "```sh\nexport AWS_ACCESS_KEY_ID=x\ncurl -H $ACCESS_TOKEN h\n```\n",
    "server:\n  port: 1\n  access_token: x\n  accessKeys: [x]\naccess_log: /var/log/x\n",
    "---\naccess_token: x\n---\n# T",
)


def _reading(text: str) -> tuple[tuple[str, ...], bool]:
    """Who may see a text, and whether a warning tells of it."""
    stated, _, warnings = split_front_matter(text)
    return stated.access, any("access" in warning for warning in warnings)


def test_whatever_names_access_at_the_top_is_closed_and_told() -> None:
    assert [text for text in MEANT if _reading(text) != (CLOSED, True)] == []


def test_a_text_that_speaks_of_access_stays_open() -> None:
    assert [text for text in NOT_MEANT if _reading(text) != ((), False)] == []


@pytest.mark.parametrize(
    "line", ["---\n", "<!--\n", "{\n", "a: b\n", "access ", "access-", "<meta ", "](", "- ", "|", "/a"]
)
def test_no_top_takes_long(line: str) -> None:
    assert names_access_at_top(f"access\n{line * 60_000}") in (True, False)
    assert names_access_at_top(line * 60_000 + "\naccess") in (True, False)
    assert names_access_at_top(f"[access]: {line * 60_000}:") in (True, False)


def _docx(first: str, **keywords: str) -> bytes:
    made = docx.Document()
    for name, value in keywords.items():
        setattr(made.core_properties, name, value)
    for line in first.splitlines():
        made.add_paragraph(line)
    made.save(buffer := io.BytesIO())
    return buffer.getvalue()


def _xlsx(*rows: tuple[str, ...], **properties: str) -> bytes:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for name, value in properties.items():
        setattr(made.properties, name, value)
    return saved(made)


def _docx_with_property(name: str, encoding: str = "utf-8") -> bytes:
    made = io.BytesIO(_docx("The text."))
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'
    xml = f'{declared}<Properties><property pid="2" name="{name}"/></Properties>'
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("docProps/custom.xml", xml.encode(encoding))
    return made.getvalue()


def _docx_in_runs(*runs: str) -> bytes:
    made = docx.Document()
    paragraph = made.add_paragraph()
    for run in runs:
        paragraph.add_run(run)
    made.save(buffer := io.BytesIO())
    return buffer.getvalue()


def _pdf(keywords: str = "", info: str | None = None, xmp: str = "") -> bytes:
    with new_pdf([[Text("The text of it.")]]) as document:
        document.set_metadata({"keywords": keywords})
        if info is not None:
            at = int(document.xref_get_key(-1, "Info")[1].split()[0])
            document.xref_set_key(at, info, "(hr)")
        if xmp:
            document.set_xml_metadata(xmp)
        return bytes(document.tobytes())


def _epub(name: str) -> bytes:
    return ebooklib_epub("Book", {"One": "<p>Text.</p>"}, meta={name: "hr"})


def _notebook(*sources: str, kind: str = "raw", **metadata: object) -> bytes:
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    cells = [
        {"cell_type": kind, "metadata": {}, "source": one.splitlines(keepends=True), **code}
        for one in sources
    ]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}).encode()


KEYS = (
    "access_groups",
    "access-groups",
    "accessGroups",
    "access.groups",
    "page access",
    "a\u034fccess",
    "acceSS",
)
PAGE = "<html><head><title>T</title>{}</head><body><p>Text of it, access: free.</p></body></html>"
OTHERS = {
    "closed.rst": (b"Title\n=====\n\n:Access: hr\n\nText.\n",),
    "closed.txt": (b"Title: x\nAccess: hr\n\nText.\n",),
    "closed.html": (
        PAGE.format('<meta content="hr" name="Access">').encode(),
        f"---\naccess: [hr]\n---\n{PAGE}".encode(),
        f"<!--\naccess: [hr]\n-->\n{PAGE}".encode(),
        b"---\nauthor: Me <me@h.example>\naccess: [hr]\n---\n<h1>T</h1><p>Text of it.</p>",
        f"---\ntext: a <b>bold</b> page\naccess: [hr]\n---\n{PAGE}".encode(),
        f"<!DOCTYPE html>\n---\naccess: [hr]\n---\n{PAGE}".encode(),
        f"<!DOCTYPE html>\n<!--\ntitle: x\naccess: [hr]\n-->\n{PAGE}".encode(),
        f"<!DOCTYPE html>\n<!-- Words of it. -->\n<!-- access: hr -->\n{PAGE}".encode(),
        PAGE.replace("<body>", "<body><!-- access: hr -->").encode(),
        PAGE.replace("<body>", "<body>---\naccess: [hr]\n---\n").encode(),
        PAGE.replace("<p>", '<meta name="access" content="hr"><p>').encode(),
        PAGE.replace("<html>", '<html data-access="hr">').encode(),
        *(PAGE.format(f'<meta name="{name}" content="hr">').encode() for name in KEYS),
        *(
            PAGE.format(head).encode()
            for head in (
                "<!-- access: [hr] -->",
                '<script>var x = "<body>"</script><meta name="access" content="hr">',
                '<meta content="a > b" name=access>',
                f'<meta content="{"hr," * 200}" name="access">',
                '<script type="application/ld+json">{"@type": "Article", "access": ["hr"]}</script>',
            )
        ),
    ),
    "closed.ipynb": (
        _notebook("Text.", access=["hr"]),
        _notebook("Text.", sitegraph={"Access": "hr"}),
        _notebook("---\naccess: [hr]\n---\n"),
        _notebook("# Title", "---\naccess: [hr]\n---"),
        _notebook("---\ntitle: x\n---", "---\naccess: [hr]\n---"),
        _notebook("#| access: hr\n1 + 1", kind="code"),
        _notebook("Text.", meta=[{"name": "access", "content": "hr"}]),
    ),
    "closed.docx": (
        _docx("access: hr\nText."),
        _docx("Handbook\nA subtitle of it\naccess: [hr]\nText."),
        _docx_in_runs("acc", "ess: hr"),
        *(
            _docx("Text.", **{name: "pay, access: hr"})
            for name in ("keywords", "subject", "comments", "category")
        ),
        *map(_docx_with_property, ("Access", "Access Groups")),
        _docx_with_property("access", "utf-16"),
    ),
    "closed.pptx": (
        python_pptx((H(1, "access: hr"),)),
        python_pptx((H(1, "Pay"), P("access: [hr]"))),
    ),
    "closed.xlsx": (
        _xlsx(("Access", "hr")),
        _xlsx(("Access: hr", "")),
        _xlsx(("Pay", ""), ("access", "[hr]")),
        _xlsx(("Oil", "3"), keywords="access: hr"),
    ),
    "closed.pdf": (
        _pdf("access: hr"),
        _pdf("docs, payroll, band, salary, hr, staff, pay, x, y, z, access: hr"),
        _pdf(info="Access"),
        _pdf(info="access_groups"),
        _pdf(xmp="<x><pdfx:access>hr</pdfx:access></x>"),
        _pdf(xmp="<x><pdfx:AccessGroups>hr</pdfx:AccessGroups></x>"),
        _pdf(xmp='<x pdfx:access-groups="hr"/>'),
    ),
    "closed.epub": (_epub("access"), _epub("access_groups"), _epub("accessGroups")),
    "open.rst": (b".. _access:\n\nAccess\n======\n\nAccess: see below.\n",),
    "open.txt": (b"This text says who has\naccess: all of us.\n",),
    "open.html": (
        PAGE.format('<meta name="description" content="access: how">').encode(),
        PAGE.format('<meta name="DCTERMS.accessRights" content="open"><meta name="access_token">').encode(),
        PAGE.replace("<p>", '<p accesskey="a"><access-note></access-note><!-- access: x -->').encode(),
        b"---\ntitle: x\n---\n<table>\n<td>Access: x</td>\n</table>",
    ),
    "open.ipynb": (_notebook("# Access\n\nText.", title="Access"), _notebook("access = 1", kind="code")),
    "open.docx": (_docx("Access\nText.", title="Access"), _docx_with_property("Owner")),
    "open.pptx": (python_pptx((H(1, "Access"), P("By the door."))),),
    "open.xlsx": (_xlsx(("Access", "Role", "Since")), _xlsx(("Oil", "Price")), _xlsx(("Access",))),
    "open.pdf": (_pdf("access, keys"), _pdf(info="Owner")),
    "open.epub": (_epub("schema:accessMode"), _epub("dcterms:accessRights")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_other_formats_say_of_themselves_closes_them_too(name: str) -> None:
    request = ParseRequest(uri=f"files://notes/{name}", source="notes", path=name)
    closed = name.startswith("closed")
    for number, data in enumerate(OTHERS[name]):
        fragment = parse_document(data, request, count_tokens=count_words)
        assert (fragment.access, UNREAD in fragment.warnings) == (CLOSED if closed else (), closed), number
