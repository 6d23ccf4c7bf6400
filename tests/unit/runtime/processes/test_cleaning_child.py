"""Hooks in parser children: what they do wrong is a fault of one page, told by the hook's name."""

import json
from pathlib import Path

import pytest

from runtime.clean_hooks import find_hook, run_hook
from runtime.parser_pool import ChildLimits, ParserPool
from schemas.errors import ParseError
from schemas.fragment import Cleaning, GraphFragment, ParseRequest
from schemas.records import from_record

URI = "http://docs.example/a.html"
PAGE = b"<h1>Lamps</h1><p class=ad>Buy our lamps.</p><p>A lamp gives light.</p>"
MARK = "import sys\ndef tidy(soup):\n    print('noise')\n    soup.p.string = str('bs4' in sys.modules)\n"


def hooked(folder: Path, text: str) -> ParseRequest:
    """Ask for a page that this module's `tidy` cleans."""
    (folder / "cleaning.py").write_text(text)
    return ParseRequest(uri=URI, source="docs", cleaning=Cleaning(hook=find_hook("cleaning:tidy", folder)))


def texts(record: bytes) -> str:
    return "\n".join(chunk.text for chunk in from_record(GraphFragment, json.loads(record)).chunks)


def test_a_hook_and_selectors_clean_in_the_child(tokenizer: Path, tmp_path: Path) -> None:
    request = ParseRequest(uri=URI, source="docs", cleaning=Cleaning(remove=(".ad",)))
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        assert texts(pool.parse(PAGE, request).record) == "A lamp gives light."
        assert texts(pool.parse(PAGE, hooked(tmp_path, MARK)).record).startswith("True")


def test_a_child_that_cleans_nothing_imports_no_bs4(tokenizer: Path, tmp_path: Path) -> None:
    """An audit hook in the child hears of each import (sys.addaudithook, PEP 578)."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        f"sys.addaudithook(lambda event, args: event == 'import' and args[0] in ('bs4', 'soupsieve')"
        f" and open({str(tmp_path / 'imported')!r}, 'a').write(args[0]))\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        with ParserPool(workers=1, tokenizer=tokenizer) as pool:
            pool.parse(PAGE, ParseRequest(uri=URI, source="docs"))
            pool.inspect(PAGE, ParseRequest(uri=URI, source="docs"), draw=False)
            assert not (tmp_path / "imported").exists()
            pool.parse(PAGE, ParseRequest(uri=URI, source="docs", cleaning=Cleaning(select=("p",))))
            assert (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "return soup['no']",
            "clean cleaning:tidy raised KeyError: 'no' (cleaning.py, line 2); the page is left out",
        ),
        (
            "raise SystemExit(1)",
            "clean cleaning:tidy raised SystemExit: 1 (cleaning.py, line 2); the page is left out",
        ),
        ("return 'text'", "clean cleaning:tidy returned a str"),
        ("return tidy(soup)", "clean cleaning:tidy raised RecursionError"),
        ("\n  while True: pass", "clean cleaning:tidy did not end within its time ("),
        (
            "\n  while True:\n    try: soup['no']\n    except Exception: pass",
            "clean cleaning:tidy did not end within its time (",
        ),
        ("return bytearray(10**11)", "needs more memory than a parser may have (cleaned by cleaning:tidy)"),
        (
            "\n  import os; os._exit(1)",
            "parser crashed (exit 1) (cleaned by cleaning:tidy); the document is left out",
        ),
        (
            "return sum(range(10**12))",
            "parser took longer than 2 s of processor time and was stopped (cleaned by cleaning:tidy); "
            "the document is left out",
        ),
    ],
)
def test_what_a_hook_does_wrong_costs_its_page_alone(
    tokenizer: Path, tmp_path: Path, body: str, told: str
) -> None:
    request = hooked(tmp_path, f"def tidy(soup):\n  {body}\n")
    with ParserPool(workers=1, tokenizer=tokenizer, limits=ChildLimits(html_seconds=2)) as pool:
        with pytest.raises(ParseError) as caught:
            pool.parse(PAGE, request)
        assert caught.value.message.startswith(told)
        assert caught.value.subject == URI
        assert "A lamp gives light." in texts(pool.parse(PAGE, ParseRequest(uri=URI, source="docs")).record)


def test_a_hook_that_waits_is_ended_by_the_clock(tmp_path: Path) -> None:
    request = hooked(tmp_path, "import time\ndef tidy(soup):\n    time.sleep(600)\n")
    assert request.cleaning is not None
    assert request.cleaning.hook is not None
    with pytest.raises(
        ParseError, match=r"clean cleaning:tidy did not end within its time \(0\.2 s\); the page is left out"
    ):
        run_hook(request.cleaning.hook, object(), URI, seconds=0.2)
