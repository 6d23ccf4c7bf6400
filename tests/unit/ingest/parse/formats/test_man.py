"""Manual pages: what comes of man(7) and mdoc(7), which files are taken, and what bad ones end in."""

import gzip
import subprocess
from functools import partial
from pathlib import Path

import pytest

from ingest.parse.formats.man import man_to_html
from ingest.parse.formats.registry import is_listed
from schemas.errors import ParseError
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
parse = partial(parse_file, path="man1/light.1")


def text_of(body: str) -> str:
    return texts_of(parse(f".TH LIGHT 1\n.SH A\n{body}\n"))["A"]


def test_headings_are_sections_with_the_ids_of_mandoc_and_options_are_entries() -> None:
    fragment = parse(
        '.TH LIGHT 1\n.SH NAME\nlight\n.SS "A b"\nx\n.SS A b\ny\n.SH\nOPTIONS\n.TP\n.B \\-v\nMore.\n'
    )

    assert [(one.level, one.heading, one.fragment) for one in sections_of(fragment)][1:] == [
        (2, "NAME", "NAME"),
        (3, "A b", "A_b"),
        (3, "A b", "A_b~2"),
        (2, "OPTIONS", "OPTIONS"),
    ]
    assert fragment.title == "LIGHT(1)"
    assert fragment.chunks[-1].heading_path == ("LIGHT(1)", "OPTIONS", "-v")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('.B bold\n.BR a ", " b\nc\\fId\\fRe \\-x', "bold a, b cde -x"),
        ("a\\c\n.I b\nc \\\nd", "ab c d"),
        ("at \\c\n.URL b\nc\\~\\c\n.I d", "at b c d"),
        ('a \\" not\n.\\" not\n.ig\nnot\n..\nb', "a b"),
        ("\\(em \\[lq]x\\[rq] \\[u00E4] \\['e] \\e \\s-1X\\s0 \\h'1'y\\~z", "— “x” ä é \\ X y z"),
        (".ds x a\\*y\n.ds y b\n\\*x \\*(zz \\*[x]", "ab ab"),
        (".de M\n.I \\\\$1 of\n\\\\$2\n..\n.M one two", "one of two"),
        (".if t not\n.if n yes\n.ie \\n(.g not\n.el or\n.if !'a'b' \\{\\\n so\n.\\}\nend", "yes or so end"),
        (".TP\n.B \\-a\nx\n.TQ\n\\-b\ny\n.IP \\(bu\nz\n.PP\nend", "-a: x\n\n-b: y\n\n- z\n\nend"),
        (".nf\n a  b\n\nc\n.fi\nd", " a  b\n\nc\n\nd"),
        ("a\n.br\nb\n.sp\nc", "a\nb\n\nc"),
        (".TS\nl l.\na\tb\nT{\nc\nd\nT}\te\n.T&\nl.\nf\n.TE", "a | b\nc d | e\nf"),
        ('.UNKNOWN a "b c"\nd', "a b c d"),
        (".so man3/other.3", "other(3)"),
        (".Op Fl a Ar x , Fl b", "[-a x, -b]"),
        (".Nm light\n.Op Fl x\n.Nm\nis .", "light [-x] light is ."),
        (".Dq Pa /etc/x ;\n.Fl a Ns = Ns Ar b\n.Pf a Cm b\n.Fn f a b .", "“/etc/x”; -a=b ab f(a, b)."),
        (
            ".Bl -enum\n.It\na\n.It\nb\n.El\n.Bl -tag\n.It Fl c Xo\n.Ar d\n.Xc\ne\n.El",
            "1. a\n2. b\n\n-c: d e",
        ),
        (".Bd -literal\n a\n.Ed\n.Dl b\n.Xr x 3", " a\n\nb\n\nx(3)"),
    ],
)
def test_macros_and_escapes_are_read_by_what_they_say(written: str, said: str) -> None:
    assert text_of(written) == said


def test_pages_named_in_the_text_are_links_beside_it_or_in_their_section() -> None:
    body = ".TH LIGHT 1\n.SH SEE ALSO\n.BR boats (1),\n.BR oil.conf (5),\n"
    body += ".UR https://x.example/a?b&c\nit\n.UE .\n"
    packed = links_of(parse_file(gzip.compress(body.encode(), mtime=0), "share/man1/light.1.gz"))
    flat = links_of(parse_file(body, "light.1"))

    assert packed["boats(1)"].target == "files://notes/share/man1/boats.1.gz"
    assert packed["oil.conf(5)"].target == "files://notes/share/man5/oil.conf.5.gz"
    assert flat["oil.conf(5)"].target == "files://notes/oil.conf.5"
    assert flat["https://x.example/a?b&c"].target == "https://x.example/a?b&c"


@pytest.mark.parametrize(
    ("name", "data", "taken"),
    [
        ("light.1", b'.\\" x\n.TH A 1\n', True),
        ("light.3pm.gz", gzip.compress(b'.\\" x\n.TH A 1\n' + b"text " * 2_000, mtime=0), True),
        ("light.8", b".Dd May 1\n", True),
        ("app.log.1", b"2024 started\n.TH\n", False),
        ("libx.so.1", b"\x7fELF\0\0", False),
        ("blank.1", b"\n" * 4_000 + b"hello", False),
        ("log.1.gz", gzip.compress(b"2024 started\n", mtime=0), False),
        ("log.2.gz", b"\x1f\x8bbroken", False),
        ("light.txt", b".TH A 1\n", False),
    ],
)
def test_of_files_named_like_pages_only_those_in_roff_are_listed(name: str, data: bytes, taken: bool) -> None:
    assert is_listed(f"doc/{name}", lambda: data[:4_096]) is taken


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda data: data[:-900] + b"\xff" * 800 + data[-100:], "damaged"),
        (lambda _: gzip.compress(b".TH A 1\n" + b"a" * (17 << 20)), "unpacks to more than 16 MB"),
    ],
)
def test_a_packed_page_that_is_none_is_an_error_that_says_why(spoil: object, reason: str) -> None:
    numbers = "\n".join(str(number**7) for number in range(2_000))
    page = gzip.compress(f".TH A 1\n{numbers}".encode(), mtime=0)
    with pytest.raises(ParseError, match=rf"light\.1: .*{reason}"):
        parse(spoil(page))  # type: ignore[operator]


@pytest.mark.parametrize(
    "bomb",
    [
        ".de X\n.X\n.X\n..\n.X",
        "".join(f".ds x{n} " + f"\\*[x{n - 1}]" * 99 + "\n" for n in range(1, 40)) + "\\*[x39]",
        ".if n \\{\\\n" * 20_000,
        f"\\N'{'9' * 5_000}'",
        *(piece * 20_000 for piece in (".RS\n", ".TP\n", "\\o'", '.B "a', ".TS\nT{\n", ".Bl -tag\n.It a\n")),
    ],
)
def test_no_macro_stands_for_text_without_end(bomb: str) -> None:
    assert len(man_to_html(f".TH A 1\n{bomb}\n")) < 3_000_000


def test_a_page_that_was_cut_says_so() -> None:
    fragment = parse(".TH A 1\n.SH B\nx\n.de X\n.X\n.X\n..\n.X\n")
    assert fragment.warnings == ("its macros or strings stand for too much; the rest was left out",)


@pytest.mark.skipif(not Path("/usr/bin/gzip").exists(), reason="no program that packs")
def test_a_page_that_another_program_packed_is_read(tmp_path: Path) -> None:
    page = tmp_path / "light.7"
    page.write_bytes((SAMPLES / "man.1.7").read_bytes())
    subprocess.run(["/usr/bin/gzip", str(page)], check=True)

    fragment = parse_file((tmp_path / "light.7.gz").read_bytes(), "light.7.gz")
    assert "Cut the wick straight; a crooked one smokes." in texts_of(fragment)["TRIMMING THE WICK"]
