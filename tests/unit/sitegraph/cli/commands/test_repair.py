"""`sitegraph repair`: what a person reads."""

import json
import shutil
from pathlib import Path

import pytest

from flows.repair.repair import Repaired
from flows.run.damage import IndexPart, RepairStep
from sitegraph.cli.app import run_app
from sitegraph.cli.commands import repair

ROW = ("page:a", "graph row differs from its hash")


def test_a_plan_that_only_begins_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    (index / "CURRENT").unlink()
    arguments = ["repair", "--dry-run", "--quiet", "--index", str(index)]

    assert run_app(arguments) == 0
    said = capsys.readouterr().out
    assert run_app([*arguments, "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)

    assert said.endswith(
        "this is the start of the plan; further damage shows only after it; nothing was done\n"
    )
    assert (record["complete"], [one["action"] for one in record["steps"]]) == (False, ["pointers"])


def test_damage_is_told_once_though_two_steps_were_taken_for_it() -> None:
    steps = tuple(RepairStep(part=one, damage=(ROW,)) for one in (IndexPart.ROWS, IndexPart.TABLES))

    done = Repaired(generation=4, steps=steps, published=(4,))
    lines = list(repair.repair_lines(done, dry_run=False, index=None))

    assert sum("graph row differs from its hash" in line for line in lines) == 1
    assert [line.partition(":")[0] for line in lines if line[0] != " "] == [
        "rows",
        "tables",
        "generation 4 published",
        "generation 4",
    ]
