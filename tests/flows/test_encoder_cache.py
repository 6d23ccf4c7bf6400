"""The exported encoder of the default model is kept once per user, with no setting at all."""

from pathlib import Path

import pytest

from indexes.embed.export import cache_name
from indexes.embed.weights import load_model_spec
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


def test_a_new_index_links_the_encoder_the_user_has_already(sitegraph: Sitegraph, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# One\n\nThe only note in this folder says so.\n")
    (tmp_path / "notes.yaml").write_text("name: notes\nkind: files\nroots: [notes]\n")
    kept = tmp_path / "home" / ".cache" / "sitegraph" / "encoders" / cache_name(load_model_spec())
    kept.parent.mkdir(parents=True)
    place_exported_encoder(kept)
    unset = ("SITEGRAPH_CACHE", "XDG_CACHE_HOME")
    environment = {name: value for name, value in sitegraph.environment.items() if name not in unset}
    program = Sitegraph(environment={**environment, "HOME": str(tmp_path / "home")})

    done = program.command("run", str(tmp_path / "notes.yaml"), "--index", str(tmp_path / "index"))

    assert done.returncode == 0, done.stderr
    for file in kept.iterdir():
        assert file.samefile(tmp_path / "index" / "encoder" / file.name)
    assert program.command("query", "the only note", "--index", str(tmp_path / "index")).returncode == 0
