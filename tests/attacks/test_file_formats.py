"""Two worlds that differ in one value which the published file does not show: every file that is written must be the same.

All formats, the schema, the recodings, the public report and the frame itself are compared byte by byte. The type of a column was
what differed: whole numbers with a point said that somebody's hidden value has decimals.
"""

import hashlib
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.frames.frame import as_text

SECRET = hashlib.sha256(b"two worlds").digest()
N = 120
WHO = 7
LABELS = {"11": "farmer", "12": "fisher", "21": "miner", "22": "smith", "31": "nurse", "32": "priest", "98": "unknown"}
HIDDEN: dict[str, tuple[str, Any, Any]] = {
    "a listed code": ("job", "31", "32"),
    "a code without a label": ("job", "31", "39"),
    "a text": ("job", "31", "a long text"),
    "a missing code": ("job", "98", "99"),
    "nothing": ("job", "98", None),
    "a decimal": ("age", 88, 88.5),
    "a long number": ("age", 88, 1234567),
    "a negative number": ("income", 5000, -3),
    "cents": ("income", 5000, 5000.25),
    "a fortune": ("income", 5000, 10**12),
    "no income": ("income", 5000, None),
}
SAME = dict.fromkeys(("31", "32", "39", "a long text"), "other")
STEPS: dict[str, list[Any]] = {
    "dropped": [mask.RemoveIdentifiers(("job", "age", "income"))],
    "recoded": [
        mask.Recode("job", map=SAME, keep=True),
        mask.Recode("age", bands=(30, 50)),
        mask.RoundValues(("income",), base=10**13),
    ],
    "top-coded": [
        mask.RemoveIdentifiers(("job",)),
        mask.TopCode("age", value=60),
        mask.TopCode("income", value=2500),
        mask.BottomCode("income", value=1200),
    ],
    "blanked": [mask.LocalSuppression(k=3, keys=("job", "sex", "age")), mask.RemoveIdentifiers(("income",))],
}


def columns(name: str, value: Any) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    made: dict[str, list[Any]] = {
        "region": rng.choice(["1", "2", "3"], N).tolist(),
        "sex": rng.choice(["1", "2"], N).tolist(),
        "job": rng.choice(["11", "12", "21", "22"], N).tolist(),
        "income": rng.integers(1000, 3000, N).tolist(),
        "age": rng.integers(20, 60, N).tolist(),
    }
    made[name][WHO] = value
    return made


def schema() -> rt.Schema:
    job = rt.Variable("job", role="key", missing=("98", "99"), codes=tuple(LABELS), labels=tuple(LABELS.values()))  # type: ignore[arg-type]
    age = rt.Variable("age", role="key", kind="numeric")  # type: ignore[arg-type]
    keys = [rt.Variable(name, role="key") for name in ("region", "sex")]  # type: ignore[arg-type]
    return rt.Schema((*keys, job, rt.Variable("income", kind="numeric"), age))  # type: ignore[arg-type]


def as_frame(made: dict[str, list[Any]], folder: Path) -> Any:
    return pl.DataFrame(made, strict=False)


def as_csv(made: dict[str, list[Any]], folder: Path) -> Any:
    as_frame(made, folder).write_csv(folder / "people.csv")
    return folder / "people.csv"


def narrow(made: dict[str, list[Any]], folder: Path) -> Any:
    """Numbers in as few bytes as they need, codes as categories."""
    frame = as_frame(made, folder)
    numbers = [own.shrink_dtype() if own.dtype.is_integer() else own for own in frame]
    return pl.DataFrame(numbers).with_columns(pl.col("job").cast(pl.Enum(sorted(set(made["job"]) - {None}))))


def as_pandas(made: dict[str, list[Any]], folder: Path) -> Any:
    frame = as_frame(made, folder).to_pandas()
    frame["job"] = frame["job"].astype("category")
    frame.index = [f"name {at}" for at in range(N)]
    frame.attrs["note"] = str(made["job"][WHO])
    return frame


SOURCES: list[Callable[[dict[str, list[Any]], Path], Any]] = [as_frame, as_csv, narrow, as_pandas]


def written(source: Any, steps: list[Any], folder: Path) -> tuple[list[list[str | None]], dict[str, Any]]:
    """The values that are published, and everything that is written of them."""
    run = rt.load(source, schema=schema()).protect(steps, most=1.0, secret=SECRET)
    masked = run.release(accept_risk="a test of an attack")
    found: dict[str, Any] = {}
    for ending in ("csv", "tsv", "parquet", "sav", "dta", "asc"):
        place = folder / ending
        place.mkdir(exist_ok=True)
        for path in masked.write(place / f"f.{ending}", schema=place / "s.toml", recodings=place / "r.csv"):
            found[f"{ending} {path.name}"] = _without_time(path)
    masked.public_report(folder / "public.html")
    frame = masked.to_frame()
    found |= {
        "report": (folder / "public.html").read_bytes(),
        "memory": pickle.dumps(frame),
        "types": str(frame.dtypes),
    }
    return [as_text(own).to_list() for own in masked.frame.table], found


def _without_time(path: Path) -> bytes:
    """SPSS and Stata files say when they were written."""
    content = path.read_bytes()
    if path.suffix == ".sav":
        return content[:92] + content[109:]
    return re.sub(rb"\d\d \w\w\w \d{4} \d\d:\d\d", b"", content) if path.suffix == ".dta" else content


CASES = [(hidden, steps, source) for hidden in HIDDEN for steps in STEPS for source in SOURCES]
FEW = [
    ("a decimal", "blanked", as_frame), ("a decimal", "top-coded", as_csv), ("cents", "recoded", as_frame),
    ("a long number", "blanked", narrow), ("a fortune", "top-coded", narrow), ("a missing code", "blanked", as_pandas),
]  # fmt: skip


@pytest.mark.parametrize(
    ("hidden", "steps", "source"), [*FEW, *(pytest.param(*one, marks=pytest.mark.deep) for one in CASES)]
)
def test_what_is_hidden_changes_no_byte(hidden: str, steps: str, source: Callable[..., Any], tmp_path: Path) -> None:
    name, *values = HIDDEN[hidden]
    one, other = (written(source(columns(name, value), tmp_path), STEPS[steps], tmp_path) for value in values)
    if one[0] == other[0]:  # else the value is not hidden
        assert [part for part in {**one[1], **other[1]} if one[1].get(part) != other[1].get(part)] == []
    else:
        assert (hidden, steps, source) not in FEW
