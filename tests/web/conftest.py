"""What the tests of pages share: a small labour survey."""

import hashlib
from pathlib import Path

import pytest

from web.browsing import BUNDLED

SECRET = hashlib.sha256(b"a secret of tests").hexdigest()
LAST_HOUSEHOLD = 300


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A folder with the first households of the bundled survey, its schema and a fixed secret."""
    rows = (BUNDLED / "people.csv").read_text(encoding="utf-8").splitlines()
    kept = [rows[0], *(row for row in rows[1:] if int(row.split(",")[1]) <= LAST_HOUSEHOLD)]
    (tmp_path / "people.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (tmp_path / "people.schema.toml").write_text(
        (BUNDLED / "people.schema.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "people.secret.key").write_text(SECRET + "\n", encoding="utf-8")
    return tmp_path
