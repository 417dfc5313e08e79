"""Lists of codes that leave with a file: who is behind a merged code must not show in them.

Two worlds differ in one person's code, which a recoding merges with others. What is published (records apart from that person's,
schema, mapping) must be the same in both.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from command_line import CommandLine
from reticent import mask
from reticent.data.hierarchy import Hierarchy

SECRET = bytes(np.random.default_rng(5).integers(0, 256, 32, dtype=np.uint8))
JOBS = ("b1", "c1", "d1")


def published(codes: list[str], steps: list[Any], **facts: Any) -> rt.Schema:
    """The schema that leaves with a file of jobs."""
    data = rt.load(pl.DataFrame({"job": codes}), schema=rt.Schema((rt.Variable("job", role="key", **facts),)))
    run = data.protect(steps, most=1.0, secret=SECRET)
    return run.release().schema


MERGING = {
    "map": mask.Recode("job", map={"a1": "rest", "z1": "rest", "b2": "b1"}, keep=True),
    "other": mask.Recode("job", map=dict(zip(JOBS, JOBS, strict=True)), other="rest"),
    "rules": mask.Recode("job", rules=("rest: a1, z1", "b1: b1", "c1: c1", "d1: d1")),
}


@pytest.mark.parametrize("way", MERGING)
def test_the_place_of_a_new_code_does_not_tell_which_old_ones_occur(way: str) -> None:
    """`rest` stood before `b1` if somebody has `a1`, and after `d1` if not."""
    many = list(JOBS) * 10
    with_first, without = ([*many, "z1", "z1", person] for person in ("a1", "z1"))
    assert published(with_first, [MERGING[way]]) == published(without, [MERGING[way]])


def test_the_order_of_generalized_codes_does_not_tell_which_finer_ones_occur() -> None:
    tree = Hierarchy.from_children({"all": ("N", "S"), "N": ("b1", "c1"), "S": ("a1", "z1")})
    many = [*["b1", "z1"] * 10, "c1"]
    step = mask.Generalize(("job",), k=2)
    found = [published([*many, person], [step], hierarchy=tree) for person in ("a1", "z1")]
    assert found[0] == found[1]


def test_labels_of_bands_do_not_tell_that_somebody_has_decimals() -> None:
    """One age of 30.5 made every label "16 to <35" instead of "16-34"."""
    shown = []
    for odd in (30.0, 30.5):
        frame = pl.DataFrame({"age": [*np.arange(16, 76, dtype=float), odd]})
        data = rt.load(frame, schema=rt.Schema((rt.Variable("age", role="key", kind="numeric"),)))
        run = data.protect([mask.Recode("age", bands=(16, 35, 65))], most=1.0, secret=SECRET)
        shown.append(sorted(run.release().to_frame()["age"]))
    assert shown[0] == shown[1]


def test_a_drafted_mapping_names_no_code_of_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mapping may be published, and a draft wrote every code of the records into the plan that it is made of."""
    draw = np.random.default_rng(3)
    share = np.array([0.095] * 10 + [0.0025] * 20)
    kids = np.minimum(draw.poisson(1.2, 500), 7)
    kids[17] = 13
    pl.DataFrame({
        "sex": draw.choice(["m", "f"], 500), "job": draw.choice([f"job{i}" for i in range(30)], 500, p=share), "kids": kids,
    }).write_csv(tmp_path / "d.csv")  # fmt: skip
    schema = "".join(
        f'[[variable]]\nname = "{name}"\nrole = "key"\nkind = "{kind}"\n'
        for name, kind in (("sex", "nominal"), ("job", "nominal"), ("kids", "ordinal"))
    )
    (tmp_path / "d.schema.toml").write_text(schema, encoding="utf-8")
    reticent = CommandLine(capsys, monkeypatch)
    assert reticent("plan", tmp_path / "d.csv").code == 0
    made = reticent("protect", tmp_path / "d.plan.toml", "--recodings", tmp_path / "recodings.csv")
    assert made.code == 0, made.err
    rows = list(csv.DictReader((tmp_path / "recodings.csv").read_text(encoding="utf-8").splitlines()))
    rare = {f"job{i}" for i in range(10, 30)}
    assert rows
    assert not rare & {row["old"] for row in rows}
    assert "13" not in " ".join(row["old"] + row["new"] for row in rows if row["variable"] == "kids")
    assert "13" not in (tmp_path / "d.safe.schema.toml").read_text(encoding="utf-8")
