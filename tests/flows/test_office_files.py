"""A folder of presentations and workbooks: rows are found under their columns, bad files are told apart."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from tests.fakes.office_files import python_pptx
from tests.fakes.plain_documents import H, N, P
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

HARBOURS = ("Aber", "Brim", "Cove", "Dunmor", "Esk", "Fell", "Gairn", "Holm")


def write_prices(path: Path, changed: int = -1) -> None:
    """A price list of 240 rows as XlsxWriter makes it; one price may have changed."""
    with xlsxwriter.Workbook(str(path)) as made:
        money, day = (made.add_format({"num_format": code}) for code in ("£#,##0.00", "d mmm yyyy"))
        sheet = made.add_worksheet("Moorings")
        sheet.write_row(0, 0, ["Harbour", "Berth", "Yearly fee", "Paid until"])
        for row in range(240):
            sheet.write_row(row + 1, 0, [HARBOURS[row % 8], f"berth {row}"])
            sheet.write_number(row + 1, 2, 1000 + row * 12.5 + 500 * (row == changed), money)
            sheet.write_number(row + 1, 3, 45292 + row, day)
        made.define_name("Fees", "=Moorings!$C$2:$C$241")


@pytest.fixture(scope="module")
def folder(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    papers = folder / "papers"
    papers.mkdir()
    write_prices(papers / "moorings.xlsx")
    talk = (H(1, "Boats"), H(2, "Landing in fog"), N("The outer buoy has a bell.", "Tell them of Thursday."))
    (papers / "talk.pptx").write_bytes(python_pptx(talk))
    (papers / "locked.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000))
    (papers / "half.pptx").write_bytes(python_pptx((H(1, "Half"), P("a")))[:9_000])
    (papers / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000))
    (folder / "papers.yaml").write_text("name: papers\nkind: files\nroots: [papers]\n")
    return folder


@pytest.fixture(scope="module")
def report(sitegraph: Sitegraph, folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = sitegraph.run(folder / "papers.yaml", folder / "index")
    return report


def ask(sitegraph: Sitegraph, folder: Path, question: str) -> dict[str, Any]:
    told = sitegraph.call("query", question, "--index", str(folder / "index"), "--format", "json")
    assert told.returncode == 0, told.stderr
    first: dict[str, Any] = json.loads(told.stdout)["evidence"][0]
    return first


def test_what_cannot_be_read_is_a_problem_with_its_reason(report: dict[str, Any]) -> None:
    told = {one["url"].rpartition("/")[2]: one["reason"] for one in report["problems"]}

    assert "encrypted, or of Excel before 2007; save it as .xlsx without a password" in told["locked.xlsx"]
    assert "truncated or damaged" in told["half.pptx"]
    assert any(".xls" in reason for reason in told.values())
    assert report["documents"]["added"] == 2


def test_a_row_is_found_with_its_columns_and_what_its_cells_show(
    sitegraph: Sitegraph, folder: Path, report: dict[str, Any]
) -> None:
    first = ask(sitegraph, folder, "What is the yearly fee of berth 203 in Dunmor?")

    assert first["file_path"] == "moorings.xlsx"
    assert first["text"].startswith("Harbour | Berth | Yearly fee | Paid until\n")
    assert "Dunmor | berth 203 | £3,537.50 | 22 Jul 2024" in first["text"]
    assert first["heading_path"] == ["Moorings"]


def test_a_note_of_a_slide_is_found_under_the_slide(
    sitegraph: Sitegraph, folder: Path, report: dict[str, Any]
) -> None:
    first = ask(sitegraph, folder, "What are they told of Thursday?")

    assert first["file_path"] == "talk.pptx"
    assert first["heading_path"] == ["Boats", "Landing in fog", "Notes"]


def test_a_changed_price_embeds_one_passage_anew(
    sitegraph: Sitegraph, folder: Path, report: dict[str, Any], tmp_path: Path
) -> None:
    again = tmp_path / "again"
    shutil.copytree(folder, again)
    write_prices(again / "papers" / "moorings.xlsx", changed=100)
    changed = sitegraph.run(again / "papers.yaml", again / "index")

    assert changed["documents"]["changed"] == 1
    assert changed["chunks"]["embedded"] == 1
