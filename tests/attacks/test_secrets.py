"""Secrets that can be guessed: version 0.1.0 took any small number, and trying them all takes a second or two.

`fixtures/v010/file_releases/guessable.csv` is what 0.1.0 released with `secret = 2026` (made by `file_releases.py`). The
attack knows how 0.1.0 draws (its code is public) and nothing of the data; it shares no code with the protector.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.file_releases import described, truth
from reticent.api.file_run import FileRun
from reticent.base.errors import ParameterError, PlanError, ReticentError
from reticent.base.randomness import Secret, as_secret
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.plan import load_plan
from reticent.jobs.argus.run import run_batch
from reticent.jobs.jj import AdjustNumbers, RoundNumbers, change_jj
from reticent.jobs.protect_file import protect_file, run_file_plan, run_plan
from reticent.jobs.protect_table import protect_table, run_table_plan
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.noise import Noise
from reticent.microdata.protect import protect_data
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.tables.perturb.random_rounding import RandomRounding

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "file_releases"
STRONG = "8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6"
WEAK: tuple[Any, ...] = (2026, 0, b"abc", b"\0" * 32, as_secret(7), Secret(b"x"), np.int64(3))
ACCEPTED = "a test of secrets"


# The attack: the draws of 0.1.0, written down again from its public code.


def philox(counter: list[np.ndarray], key: tuple[int, int]) -> list[np.ndarray]:
    """Philox4x32-10 of Salmon and others (2011)."""
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0), p1 & low, (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1), p0 & low,
        )  # fmt: skip
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


def draws_of_0_1_0(guess: int, ids: np.ndarray) -> np.ndarray:
    """The standard normals that 0.1.0 adds to the records of a file for one number as its secret."""
    key = hashlib.blake2b(b"integer:%d" % guess, digest_size=32, person=b"reticent").digest()
    child = hashlib.blake2b(b"child:noise:0", key=key, digest_size=32).digest()
    key = hashlib.blake2b(child, digest_size=32, person=b"reticent").digest()
    raw = hashlib.blake2b(b"words:noise", key=key, digest_size=16).digest()
    word0, word1 = int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    upper = [np.full(len(ids), word1 & 0xFFFFFFFF, np.uint64), np.full(len(ids), word1 >> 32, np.uint64)]
    c0, c1, c2, c3 = philox([ids & low, ids >> half, *upper], (word0 & 0xFFFFFFFF, word0 >> 32))
    first = ((c0 << np.uint64(21)) ^ (c1 >> np.uint64(11))) / 2.0**53
    second = ((c2 << np.uint64(21)) ^ (c3 >> np.uint64(11))) / 2.0**53
    return np.sqrt(-2.0 * np.log(first + 0.5 / 2**53)) * np.cos(2.0 * np.pi * second)


def guessed_incomes(released: pl.DataFrame, guesses: range) -> tuple[int, np.ndarray]:
    """The number whose draws go best with the released values, and the values without them."""
    names = released["person"].to_list()
    ids = np.frombuffer(b"".join(hashlib.blake2b(n.encode(), digest_size=8).digest() for n in names), "<u8").copy()
    values = released["income"].to_numpy()
    best = max(guesses, key=lambda guess: float(np.corrcoef(values, draws_of_0_1_0(guess, ids))[0, 1]))
    size = np.sqrt(0.4 / 1.4) * values.std()
    return best, values - size * draws_of_0_1_0(best, ids)


def test_a_small_number_is_found_in_0_1_0_and_refused_today() -> None:
    original = truth()
    released = pl.read_csv(FOLDER / "guessable.csv")
    found, incomes = guessed_incomes(released, range(3000))
    assert found == 2026
    left = np.abs(incomes - original["income"].to_numpy())
    noise = np.abs(released["income"].to_numpy() - original["income"].to_numpy())
    assert np.median(left) < 0.1 * np.median(noise)
    with pytest.raises(ParameterError, match="can be guessed"):
        protect_file(described(original), [Noise(("income",), kind="uncorrelated")], secret=2026, accept_risk=ACCEPTED)


# Every door that makes something publishable, with a weak secret and without the word that it is a test.


def key_file(folder: Path, text: str = STRONG) -> Path:
    path = folder / "some.key"
    path.write_text(text)
    return path


def by_protect_file(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    steps = [Noise(("income",))]
    return protect_file(described(truth()), steps, secret=secret, test_secret=test, accept_risk=ACCEPTED).notes


def by_run_steps(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    return protect_data(described(truth()), [], secret=secret, test_secret=test, accept_risk=ACCEPTED).result.notes


def plan_text(secret: Any, test: bool, rest: str) -> str:
    line = f'secret = "{secret.name}"' if isinstance(secret, Path) else f"secret = {secret}"
    return f'[data]\npath = "d.csv"\nschema = "s.toml"\n{line}\n' + ("test_secret = true\n" if test else "") + rest


def write_data(folder: Path) -> None:
    truth().write_csv(folder / "d.csv")
    (folder / "s.toml").write_text(
        '[[variable]]\nname = "person"\nrole = "identifier"\n[[variable]]\nname = "income"\nkind = "numeric"\n'
        '[[variable]]\nname = "weight"\nkind = "numeric"\nrole = "weight"\n[[variable]]\nname = "job"\nrole = "key"\n'
    )


def by_plan(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    write_data(folder)
    steps = '[[step]]\nmethod = "remove-identifiers"\n[risk]\naccept_risk = "a test"\n[output]\npath = "out.csv"\n'
    (folder / "plan.toml").write_text(plan_text(secret, test, steps + 'summary = "sum.json"\n'))
    try:
        return run_file_plan(folder / "plan.toml").result.notes
    finally:
        assert (folder / "out.csv").exists() == (folder / "sum.json").exists()


def by_protect_table(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    spec = TableSpec((DimensionSpec("job"),))
    method = RandomRounding(base=5)
    return protect_table(described(truth()), spec, method=method, secret=secret, test_secret=test).notes


def by_table_plan(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    write_data(folder)
    rest = (
        '[[table]]\ndimensions = ["job"]\n[protect]\nmethod = "random-rounding"\nbase = 5\n[output]\npath = "out.csv"\n'
    )
    (folder / "plan.toml").write_text(plan_text(secret, test, rest))
    return run_table_plan(folder / "plan.toml").notes


JJ = "0\n3\n0 12 1 s 0 30 2 2 0\n1 5 1 u 0 30 2 2 0\n2 7 1 s 0 30 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"


def by_rounding(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    (folder / "t.jj").write_text(JJ)
    return change_jj(folder / "t.jj", RoundNumbers(5, "random"), secret=secret, test_secret=test).notes


def by_adjusting(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    (folder / "t.jj").write_text(JJ)
    return change_jj(folder / "t.jj", AdjustNumbers(), secret=secret, test_secret=test).notes


def by_batch(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    (folder / "run.arb").write_text("<CLEAR>\n")
    return tuple(run_batch(folder / "run.arb", secret=secret, test_secret=test).log)


def by_database(secret: Any, test: bool, folder: Path) -> tuple[str, ...]:
    policy = Policy(filters=("job",), responses=("income",), minimum=3)
    place = folder / "x.ledger"
    database = ProtectedDatabase(described(truth()), policy=policy, secret=secret, test_secret=test, ledger=place)
    database.close()
    return (database.guarantee,)


DOORS: tuple[Callable[[Any, bool, Path], tuple[str, ...]], ...] = (
    by_protect_file, by_run_steps, by_plan, by_protect_table, by_table_plan, by_rounding, by_adjusting, by_batch, by_database,
)  # fmt: skip
PLANS = (by_plan, by_table_plan)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_no_door_takes_a_guessable_secret_unasked(door: Any, tmp_path: Path) -> None:
    weak = [key_file(tmp_path, text) for text in ("0" * 64,)] + [w for w in WEAK if isinstance(w, int)]
    for secret in [*weak, *(() if door in PLANS else WEAK)]:
        with pytest.raises(ReticentError, match="can be guessed") as caught:
            door(secret, False, tmp_path)
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("*out.csv")) + list(tmp_path.glob("*.ledger*"))


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_test_says_that_it_is_one_and_a_release_does_not(door: Any, tmp_path: Path) -> None:
    assert any("Test only, do not release" in note for note in door(5, True, tmp_path))
    for place in tmp_path.iterdir():
        place.unlink()
    assert not any("Test only" in note for note in door(key_file(tmp_path), False, tmp_path))


# A secret that nobody gave is drawn, kept, and asked for.


def test_a_drawn_secret_is_kept_in_the_confidential_record(tmp_path: Path) -> None:
    """0.1.0 drew one and kept it nowhere, so that no further release could use it."""
    write_data(tmp_path)
    plan = (
        '[data]\npath = "d.csv"\nschema = "s.toml"\n[[step]]\nmethod = "remove-identifiers"\n[[step]]\nmethod = "noise"\n'
        'variables = ["income"]\n[risk]\naccept_risk = "a test"\n[output]\npath = "out.csv"\nsummary = "sum.json"\n'
        'report = "report.html"\npublic_report = "public.html"\n'
    )
    (tmp_path / "plan.toml").write_text(plan)
    run = run_file_plan(tmp_path / "plan.toml")
    summary = json.loads((tmp_path / "sum.json").read_text())
    assert "Every further release of these data needs it" in " ".join(summary["notes"])
    kept = summary["secret"]
    assert kept in (tmp_path / "report.html").read_text()
    for public in ("out.csv", "public.html"):
        assert kept not in (tmp_path / public).read_text()
    assert kept not in repr(run) + repr(FileRun(run)) + FileRun(run)._repr_html_() + " ".join(run.result.notes)
    first = (tmp_path / "out.csv").read_bytes()
    (tmp_path / "kept.key").write_text(kept)
    (tmp_path / "plan.toml").write_text(plan.replace('schema = "s.toml"', 'schema = "s.toml"\nsecret = "kept.key"'))
    again = run_file_plan(tmp_path / "plan.toml")
    assert (tmp_path / "out.csv").read_bytes() == first
    assert again.result.secret_hex == ""
    assert "secret" not in json.loads((tmp_path / "sum.json").read_text())


def test_a_plan_that_keeps_no_record_of_its_secret_is_refused(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "d.csv"\nschema = "s.toml"\n[[step]]\nmethod = "remove-identifiers"\n'
        '[risk]\naccept_risk = "a test"\n[output]\npath = "out.csv"\n'
    )
    with pytest.raises(PlanError, match="kept nowhere"):
        run_file_plan(tmp_path / "plan.toml")
    with pytest.raises(PlanError, match="kept nowhere"):
        run_plan(load_plan(tmp_path / "plan.toml", METHODS))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("written", [STRONG, STRONG.upper(), "jzph0gxb6UcXqpDkyG8rU9EJfjy4JU9gqX0c4jBbhPY="])
def test_no_message_repeats_a_secret_that_is_written_in_a_plan(written: str) -> None:
    """A plan that names the digits themselves was refused with them in the message, which ends in logs."""
    with pytest.raises(ParameterError, match="secret: this is a secret written out") as refused:
        as_secret(written)
    assert written not in str(refused.value)
    assert refused.value.__cause__ is None
    with pytest.raises(ParameterError, match="the key file 'people.secret.key' cannot be read"):
        as_secret("people.secret.key")
