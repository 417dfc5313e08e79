"""What the tests of pages share: a small labour survey, and a server."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("web.hostile", "web.repeating")

from samples import cut_survey  # noqa: E402 - what an assertion of a shared check saw is shown as well
from web.browsing import BUNDLED, Server, serving  # noqa: E402
from web.repeating import Again  # noqa: E402

SECRET = hashlib.sha256(b"a secret of tests").hexdigest()


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A folder with the first households of the bundled survey, its schema and a fixed secret."""
    for name in ("people.csv", "people.schema.toml"):
        shutil.copy(BUNDLED / name, tmp_path / name)
    cut_survey(tmp_path / "people.csv")
    (tmp_path / "people.secret.key").write_text(SECRET + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def again(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Again:
    """The command line, for plans that clicking left."""
    return Again(capsys, monkeypatch)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workbench for tests that open a file of their own in it: to start one takes as long as some of them."""
    with serving(tmp_path_factory.mktemp("shared")) as made:
        yield made
