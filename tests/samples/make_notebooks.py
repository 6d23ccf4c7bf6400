"""Make the notebooks of tests/samples/formats with nbformat: `python -m tests.samples.make_notebooks`."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

FOLDER = Path(__file__).parent / "formats"
PYTHON = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}
NIGHTS = "".join(f"night {number} burned\n" for number in range(90))
LIGHT = [
    new_markdown_cell(
        "# Keeping the light\n\nThe lamp is trimmed before dusk, see [boats](notebook.2.ipynb).", id="a1"
    ),
    new_markdown_cell(
        "## Trimming the wick\n\nCut the wick straight. "
        "The telegraph opens with SECRET-GOES-HERE and a bell.",
        id="a2",
    ),
    new_code_cell(
        "def breadth(fingers):\n    return fingers * 18\n\nprint(breadth(1))",
        id="a3",
        outputs=[new_output("stream", name="stdout", text="18\n")],
    ),
    new_code_cell("burn(nights=90)", id="a4", outputs=[new_output("stream", name="stdout", text=NIGHTS)]),
    new_code_cell(
        "1 / 0",
        id="a5",
        outputs=[new_output("error", ename="ZeroDivisionError", evalue="by zero", traceback=[])],
    ),
]
BOATS = [
    new_markdown_cell("# Boats\n\n| Boat | Seats |\n|---|---|\n| Tern | 4 |\n| Gull | 6 |", id="b1"),
    new_code_cell("seats = {'Tern': 4, 'Gull': 6}\nsum(seats.values())", id="b2", outputs=[
        new_output("execute_result", data={"text/plain": "10"}, execution_count=1)
    ]),
]  # fmt: skip

if __name__ == "__main__":
    for number, cells in enumerate((LIGHT, BOATS), start=1):
        made = new_notebook(cells=cells, metadata=PYTHON)
        nbformat.validate(made)
        nbformat.write(made, FOLDER / f"notebook.{number}.ipynb")
