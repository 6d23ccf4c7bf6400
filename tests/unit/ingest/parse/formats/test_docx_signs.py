"""What Word says by other means than words: numbers it counts, formulas, boxes, fonts, hidden text."""

import io
import zipfile
from functools import partial

import docx
import pytest
from docx.oxml import parse_xml

from ingest.parse.formats.docx_parts import format_number
from ingest.parse.formats.omml import tex_of
from tests.fakes.pages import parse_file, sections_of
from tests.unit.ingest.parse.formats.test_docx import repacked

W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
)


parse = partial(parse_file, path="lamps.docx")


def written(*paragraphs: str, levels: str = "") -> bytes:
    """A file of paragraphs given as XML, with one list of *levels* as its numbering."""
    made = docx.Document()
    for inner in paragraphs:
        made.element.body.insert(-1, parse_xml(f"<w:p {W}>{inner}</w:p>"))
    numbering = made.part.numbering_part.element
    numbering.insert(0, parse_xml(f'<w:abstractNum {W} w:abstractNumId="77">{levels}</w:abstractNum>'))
    for id_, more in (
        ("88", ""),
        ("89", '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'),
    ):
        num = f'<w:num {W} w:numId="{id_}"><w:abstractNumId w:val="77"/>{more}</w:num>'
        numbering.append(parse_xml(num))
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def text_of(*paragraphs: str, levels: str = "") -> str:
    return "\n\n".join(section.text for section in sections_of(parse(written(*paragraphs, levels=levels))))


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def item(text: str, level: int = 0, number: int = 88, style: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    list_ = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:pPr>{named}{list_}</w:pPr>{run(text)}"


def level(number: int, kind: str, text: str, start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


CLAUSES = level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)")


def test_items_and_clauses_have_the_numbers_that_word_counts() -> None:
    texts = [item("Fees"), item("Due", 1), item("Set-off", 1), item("by cash", 2), item("by bill", 2)]
    texts += [run("Words between."), item("Term"), item("Begin", 1), item("Anew", 0, 89)]
    assert text_of(*texts, levels=CLAUSES) == (
        "1. Fees\n  1.1 Due\n  1.2 Set-off\n    (a) by cash\n    (b) by bill\n\nWords between.\n\n"
        "2. Term\n  2.1 Begin\n1. Anew"
    )


def test_headings_have_the_numbers_that_word_counts() -> None:
    texts = [item("Fees", 0, style="Heading1"), item("Due", 1, style="Heading2"), run("Text.")]
    (*_, last) = sections_of(parse(written(*texts, levels=CLAUSES)))
    assert last.heading_path == ("1. Fees", "1.1 Due")


def test_bullets_and_lists_without_a_definition_have_none() -> None:
    bullets = level(0, "bullet", "•")
    assert text_of(item("one"), item("two"), item("three", 0, 999), levels=bullets) == "- one\n- two\n\nthree"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("decimal", "4"),
        ("decimalZero", "04"),
        ("lowerLetter", "d"),
        ("upperRoman", "IV"),
        ("japaneseCounting", "4"),
    ],
)
def test_numbers_are_shown_in_the_formats_of_word(kind: str, shown: str) -> None:
    assert format_number(4, kind) == shown


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text: str, name: str = "e") -> str:
    return f"<m:{name}>{r(text)}</m:{name}>"


FORMULAS = {
    r("A=πr²"): "A=πr²",
    f"<m:sSup>{e('r')}{e('2', 'sup')}</m:sSup>": "r²",
    f"<m:sSup>{e('x')}{e('n+1', 'sup')}</m:sSup>": "x^{n+1}",
    f"<m:sSubSup>{e('x')}{e('i', 'sub')}{e('2', 'sup')}</m:sSubSup>": "x_i²",
    f"<m:f>{e('a+b', 'num')}{e('2', 'den')}</m:f>": r"\frac{a+b}{2}",
    f'<m:f><m:fPr><m:type m:val="lin"/></m:fPr>{e("a", "num")}{e("b", "den")}</m:f>': "a/b",
    f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>{e("x")}</m:rad>': r"\sqrt{x}",
    f"<m:rad>{e('3', 'deg')}{e('x')}</m:rad>": r"\sqrt[3]{x}",
    f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{e("i=1", "sub")}{e("n", "sup")}{e("i")}</m:nary>': (
        r"\sum_{i=1}^n i"
    ),
    f"<m:d>{e('x')}</m:d>": "(x)",
    f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>{e("x")}</m:d>': "[x",
    f"<m:func>{e('sin', 'fName')}{e('x')}</m:func>": "sin x",
    f"<m:acc>{e('x')}</m:acc>": r"\hat{x}",
    f"<m:m><m:mr>{e('a')}{e('b')}</m:mr><m:mr>{e('c')}{e('d')}</m:mr></m:m>": (
        r"\begin{matrix} a & b \\ c & d \end{matrix}"
    ),
    f"<m:limLow>{e('lim')}{e('n', 'lim')}</m:limLow>": r"\lim_n",
    f"<m:unheard>{e('x')}</m:unheard>": "x",
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_tex(formula: str) -> None:
    assert tex_of(parse_xml(f"<m:oMath {W}>{formula}</m:oMath>")) == FORMULAS[formula]


BOX = (
    '<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{}"/></w14:checkbox></w:sdtPr>'
    "<w:sdtContent>{}</w:sdtContent></w:sdt>"
)
SEEN = BOX.format(1, run("☒")) + run(" Seen")
PAID = BOX.format(0, run("☐")) + run(" Paid")
MONO = '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/>'


@pytest.mark.parametrize(
    ("paragraphs", "said"),
    [
        ((run("See ") + f"<m:oMath>{r('a=b')}</m:oMath>" + run(" here."),), "See a=b here."),
        ((f"<m:oMathPara><m:oMath>{r('a=b')}</m:oMath></m:oMathPara>",), "a=b"),
        ((SEEN, PAID), "[x] Seen\n\n[ ] Paid"),
        ((run("10") + run("6", '<w:vertAlign w:val="superscript"/>') + run(" of them"),), "10⁶ of them"),
        ((run("Seen ") + run("unseen ", "<w:vanish/>") + run("all."),), "Seen all."),
        ((run("Seen ") + run("too ", '<w:vanish w:val="0"/>') + run("all."),), "Seen too all."),
        ((run("Run:"), run("if x:", MONO), run("    go()", MONO)), "Run:\n\nif x:\n    go()"),
        ((run("All "), run("in it", MONO) + run(" or not")), "All\n\nin it or not"),
        ((run("one", MONO), run("two", MONO)), "one\n\ntwo"),
    ],
)  # fmt: skip
def test_signs_and_fonts_are_read(paragraphs: tuple[str, ...], said: str) -> None:
    assert text_of(*paragraphs) == said


def test_a_paragraph_of_an_outline_level_is_a_heading() -> None:
    read = sections_of(parse(written(f'<w:pPr><w:outlineLvl w:val="1"/></w:pPr>{run("Fees")}', run("Text."))))
    assert [(one.heading, one.level, one.text) for one in read] == [("Fees", 2, "Text.")]


def test_the_main_part_is_the_one_that_the_package_names() -> None:
    data = repacked(
        written(run("Text.")), lambda _, xml: xml.replace(b"word/document.xml", b"word/document2.xml")
    )
    renamed = io.BytesIO()

    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(renamed, "w") as new:
        for name in old.namelist():
            new.writestr(
                name.replace("word/document.xml", "word/document2.xml").replace(
                    "/document.xml.rels", "/document2.xml.rels"
                ),
                old.read(name),
            )
    assert parse(renamed.getvalue()).chunks[0].text == "Text."
