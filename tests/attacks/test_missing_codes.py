"""Two missing codes: blanks were written as the first, so the second said that nothing was blanked there.

A record that shows the second code is that of nobody who gave an answer. The attacker here has the published rows and the keys
of a person, and counts the records that can be the person's: those with an equal code, or one that blanks have.
"""

import hashlib
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from samples import numbers

KEYS = ("region", "sex", "job")
SECRET = hashlib.sha256(b"missing codes").digest()
BLANK, REFUSED = "98", "99"
K = 3
SCHEMA = Schema(
    (
        Variable("person", role=Role.IDENTIFIER),
        Variable("region", role=Role.KEY),
        Variable("sex", role=Role.KEY),
        Variable("job", role=Role.KEY, missing=(BLANK, REFUSED)),
        Variable("score", kind=Kind.NUMERIC, missing=(BLANK, REFUSED)),
    )
)


def people(seed: int, n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    job = rng.choice([f"{x}" for x in range(1, 8)], n, p=[0.3, 0.25, 0.2, 0.1, 0.08, 0.05, 0.02]).astype(object)
    answers = rng.random(n)
    job[answers < 0.1] = np.where(answers[answers < 0.1] < 0.04, BLANK, REFUSED)
    return pl.DataFrame(
        {
            "person": [f"p{at}" for at in range(n)],
            "region": rng.choice(list("abcdef"), n, p=[0.4, 0.3, 0.15, 0.09, 0.04, 0.02]),
            "sex": rng.choice(["f", "m"], n),
            "job": job.tolist(),
            "score": np.where(answers > 0.95, 99, rng.integers(1, 4, n)).astype(str).tolist(),
        }
    )


def fewest(true: pl.DataFrame, published: pl.DataFrame) -> int:
    """The fewest published records that can be those of somebody who gave all answers."""
    shown = published.select(KEYS).rows()
    asked = {row for row in true.select(KEYS).rows() if row[2] not in (BLANK, REFUSED)}
    blank = (None, BLANK)
    return min(sum(all(y in blank or x == y for x, y in zip(who, row)) for row in shown) for who in asked)


@pytest.mark.parametrize("seed", numbers(2, 20))
def test_who_gave_answers_fits_k_records_that_may_have_blanks(seed: int) -> None:
    true = people(seed)
    step = mask.LocalSuppression(k=K, keys=KEYS, linked={"job": ["score"]})
    published = rt.load(true, schema=SCHEMA).protect([step], most=0.5, secret=SECRET).release().to_frame()
    assert fewest(true, published) >= K
    assert REFUSED not in set(published["job"])
    assert REFUSED not in set(published["score"].cast(pl.String))


def test_codes_stay_where_nothing_is_blanked() -> None:
    true = people(1)
    recode = mask.Recode("job", map={f"{x}": "low" if x < 4 else "high" for x in range(1, 8)})
    frame = rt.load(true, schema=SCHEMA).protect([recode], most=1.0, secret=SECRET).release().to_frame()
    assert {BLANK, REFUSED} <= set(frame["job"])


def test_blanks_of_an_engine_look_like_what_was_missing_before(tmp_path: Path) -> None:
    true = people(3, 1500)
    true.write_parquet(tmp_path / "people.parquet")
    step = mask.LocalSuppression(k=5, keys=KEYS, semantics="own-category", by_combination=True)
    with rt.load(tmp_path / "people.parquet", schema=SCHEMA, engine="duckdb") as large:
        large.protect([step], tmp_path / "safe-*.parquet", most=1.0, secret=SECRET)
    published = pl.read_parquet(str(tmp_path / "safe-*.parquet"))
    memory = rt.load(true, schema=SCHEMA).protect([step], most=1.0, secret=SECRET).release().to_frame()
    assert sorted(published["job"].cast(pl.String)) == sorted(memory["job"])
    assert REFUSED not in set(published["job"].cast(pl.String))


def test_the_published_schema_lists_no_missing_code_that_no_record_shows() -> None:
    """Somebody's own missing code looks like blanks, and the schema, which has the codes of a range, named it."""
    step = mask.LocalSuppression(k=K, keys=KEYS)
    taken = SCHEMA.change("job", guessed=("missing",)).change("score", guessed=("missing",))
    released = rt.load(people(2), schema=taken).protect([step], most=0.5, secret=SECRET).release()
    assert REFUSED not in set(released.to_frame()["job"])
    assert released.schema["job"].missing == (BLANK,)
    assert released.schema["score"].missing == (BLANK, REFUSED)


def with_few_answers(seed: int) -> pl.DataFrame:
    """People of whom three in ten did not say in which region they live."""
    rng = np.random.default_rng(seed)
    region = [None if rng.random() < 0.3 else f"r{code}" for code in rng.integers(0, 12, 2_000)]
    job = rng.choice(list("abcdefg"), 2_000, p=[0.2, 0.15, 0.15, 0.15, 0.15, 0.1, 0.1])
    sex = rng.choice(["f", "m"], 2_000)
    return pl.DataFrame({"person": range(2_000), "region": region, "sex": sex, "job": job})


def people_below(true: pl.DataFrame, published: pl.DataFrame) -> int:
    """People who said where they live, with fewer than k records of the same keys: nobody blanked a region."""
    records = published.group_by(KEYS).len("many")
    found = true.drop_nulls().join(records, on=KEYS, how="left")
    return found.filter(pl.col("many").fill_null(0) < K).height


def recoded(true: pl.DataFrame) -> rt.FileRun:
    step = mask.Recode("sex", map={"f": "1", "m": "2"})
    return rt.load(true, keys=KEYS, identifiers=["person"]).protect([step], most=0.34, secret=SECRET)


def test_a_missing_value_is_no_blank_where_no_step_blanks() -> None:
    true = with_few_answers(1)
    run = recoded(true)
    published = run.release(accept_risk="to show the attack").to_frame()
    assert people_below(true.with_columns(sex=pl.col("sex").replace({"f": "1", "m": "2"})), published) > 0
    assert run.verdict["recount"].state is State.NOT_HELD


def test_local_suppression_does_not_lean_on_missing_values_of_a_frozen_key() -> None:
    true = with_few_answers(1)
    step = mask.LocalSuppression(k=K, frozen=("region",))
    run = rt.load(true, keys=KEYS, identifiers=["person"]).protect([step], most=0.34, secret=SECRET)
    shown = run.release().to_frame().select(KEYS).rows()
    asked = {row for row in true.select(KEYS).rows() if row[0] is not None}
    fitting = [sum(r == x and s in (None, y) and j in (None, z) for r, s, j in shown) for x, y, z in asked]
    assert min(fitting) >= K


if __name__ == "__main__":
    states = [(people_below(true, recoded(true).release(accept_risk="to count").to_frame().with_columns(
        sex=pl.col("sex").cast(pl.String).replace({"1": "f", "2": "m"}))), str(recoded(true).verdict["recount"].state))
        for true in map(with_few_answers, range(20))]  # fmt: skip
    sys.stdout.write(f"{sum(found for found, _ in states)} people; {Counter(state for _, state in states)}\n")
