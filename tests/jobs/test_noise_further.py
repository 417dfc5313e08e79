"""Plans and Python for what stands beside one noisy table: other releases, differences, known respondents, shares and ratios."""

import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reference.table_plans import table_plan_to_toml
from reticent import methods, rules
from reticent.base.errors import NotProtectedError, ReticentError
from reticent.data.table_plan import read_table_plan, table_plan_from
from reticent.io.published import read_published_table
from reticent.jobs.protect_table import run_table_plans, write_results

RNG = np.random.default_rng(8)
N = 240
COLUMNS = {
    "id": [f"p{n}" for n in range(N)],
    "age": RNG.choice(["10", "20", "30", "40", "50"], N, p=[0.4, 0.3, 0.2, 0.08, 0.02]),
    "town": RNG.choice(["n", "s", "w"], N, p=[0.6, 0.3, 0.1]),
    "pay": RNG.integers(10, 90, N),
    "hours": RNG.integers(1, 40, N),
}
NARROW = 'method = "cell-key"\nlargest = 1\nvariance = 0.5\nskip = 0'
NOISE = 'method = "cell-key"\nlargest = 3\nvariance = 2\nskip = 0'


def plan_of(
    folder: Path,
    protect: str,
    *,
    table: str = "",
    tables: str = "",
    attack: str = "",
    secret: int = 3,
    name: str = "out",
) -> Path:
    pl.DataFrame(COLUMNS).write_csv(folder / "people.csv")
    (folder / "people.toml").write_text(
        '[[variable]]\nname = "id"\nrole = "identifier"\n[[variable]]\nname = "age"\nrole = "key"\n'
        '[[variable]]\nname = "town"\nrole = "key"\n[[variable]]\nname = "pay"\nkind = "numeric"\n'
        '[[variable]]\nname = "hours"\nkind = "numeric"\n'
    )
    own = f'[table]\ndimensions = ["age", "town"]\nrules = [{{ rule = "threshold", minimum = 3 }}]\n{table}\n'
    path = folder / f"{name}.toml"
    path.write_text(
        f'[data]\npath = "people.csv"\nschema = "people.toml"\nsecret = {secret}\ntest_secret = true\n{tables or own}'
        f"[protect]\n{protect}\naccept_exposed = true\n{attack}\n"
        f'[output]\npath = "{name}.csv"\nsummary = "{name}.json"\nreport = "{name}.html"\n'
    )
    return path


def test_releases_with_other_noise_are_put_together(tmp_path: Path) -> None:
    """Six secrets for the same table: what they determine together is exposed, and the plan says so."""
    for seed in range(6):
        run_table_plans(plan_of(tmp_path, NARROW, secret=seed + 10, name=f"r{seed}"))
    (alone,) = run_table_plans(plan_of(tmp_path, NARROW))
    listed = ", ".join(f'"r{seed}.csv"' for seed in range(6))
    path = plan_of(tmp_path, NARROW, attack=f"[attack]\nreleases = [{listed}]", name="both")
    (both,) = run_table_plans(path)
    assert len(both.exposed) > len(alone.exposed) + 5
    assert "Together with 6 other releases" in " ".join(both.notes)
    assert "Together with 6 other releases" in (tmp_path / "both.html").read_text()
    order = both.audit.cells
    assert ((both.audit.low <= both.table.values[order]) & (both.table.values[order] <= both.audit.high)).all()
    path.write_text(path.read_text().replace("accept_exposed = true\n", ""))
    with pytest.raises(NotProtectedError):
        write_results(read_table_plan(path), (both,))


def test_a_release_by_the_same_secret_adds_nothing_and_an_adjusted_one_little(tmp_path: Path) -> None:
    (alone,) = run_table_plans(plan_of(tmp_path, NOISE, name="first"))
    (same,) = run_table_plans(plan_of(tmp_path, NOISE, attack='[attack]\nreleases = ["first.csv"]', name="again"))
    assert same.exposed == alone.exposed
    run_table_plans(plan_of(tmp_path, f'{NOISE}\nadd_up = "yes"', name="added"))
    (both,) = run_table_plans(plan_of(tmp_path, NOISE, attack='[attack]\nreleases = ["added.csv"]', name="both"))
    assert set(alone.exposed) <= set(both.exposed)


def test_known_respondents_of_one_table_and_of_linked_ones(tmp_path: Path) -> None:
    asked = "[attack]\nknown = [1, 5]\ndraws = 300"
    (plain,) = run_table_plans(plan_of(tmp_path, 'method = "heuristic"', attack=asked))
    (noisy,) = run_table_plans(plan_of(tmp_path, NOISE, attack=asked))
    linked = (
        '[[table]]\ndimensions = ["age", "town"]\nrules = [{ rule = "threshold", minimum = 3 }]\n[[table]]\n'
        'dimensions = ["town", "hours"]\n'
    )
    (several,) = run_table_plans(plan_of(tmp_path, NOISE, tables=linked, attack=asked))
    for result, words in ((plain, "(SAP): "), (noisy, "sure of it by the p-table"), (several, "of 2 tables")):
        (note,) = [note for note in result.notes if "(SAP)" in note]
        assert words in note
        assert "with 1, " in note
    report = (tmp_path / "out.html").read_text()
    assert "by the p-table" in report


def test_differences_of_nested_codes_are_attacked(tmp_path: Path) -> None:
    """Two trees over age: 10 to 30 and 10 to 20 and 40; neither is above the other."""
    (tmp_path / "one.hrc").write_text("young\n@10\n@20\n@30\nold\n@40\n@50\n")
    (tmp_path / "two.hrc").write_text("small\n@10\n@20\nlarge\n@30\n@40\n@50\n")
    table = (
        '[table]\ndimensions = [{ variable = "age", hierarchies = ["one.hrc", "two.hrc"] }, "town"]\n'
        'rules = [{ rule = "threshold", minimum = 3 }]\n'
    )
    (result,) = run_table_plans(
        plan_of(tmp_path, 'method = "cell-key"\nlargest = 1\nvariance = 0.5\nskip = 0', tables=table)
    )
    (note,) = [note for note in result.notes if "differences of cells" in note]
    assert "groups that no table shows" in note


def test_shares_and_ratios_come_from_what_is_published(tmp_path: Path) -> None:
    table = 'responses = ["pay", "hours", "count"]\nshares = ["town"]\nratios = ["pay / hours", "pay / count"]'
    run_table_plans(plan_of(tmp_path, 'method = "heuristic"', table=table))
    pay, hours = (read_published_table(tmp_path / f"out-{name}.csv") for name in ("pay", "hours"))
    ratio = read_published_table(tmp_path / "out-pay-per-hours.csv")
    share = read_published_table(tmp_path / "out-count-share-town.csv")
    assert (tmp_path / "out-pay-per-count.csv").is_file()
    for codes, state, value in zip(ratio.codes, ratio.status, ratio.values.tolist(), strict=True):
        above, below = (one.values[one.codes.index(codes)] for one in (pay, hours))
        hidden = np.isnan(above) or np.isnan(below)
        assert (state == "published") != hidden
        assert hidden or value == pytest.approx(above / below, abs=1e-4)
    assert {share.values[row] for row, codes in enumerate(share.codes) if codes[1] == "Total"} <= {100.0}


def test_python_has_all_of_it() -> None:
    data = rt.load(pl.DataFrame(COLUMNS).drop("pay", "hours"), keys=["age", "town"], identifiers=["id"])
    table = data.tabulate("age", "town")
    options = {
        "rules": [rules.Threshold(3)],
        "method": methods.CellKey(largest=3, variance=2, skip=0),
        "test_secret": True,
    }
    first = table.protect(secret=1, **options).release(accept_risk="a test")
    run = table.protect(secret=2, known=[1, 2], draws=200, releases=[first], **options)
    assert any("(SAP)" in note for note in run.notes)
    assert any("Together with 1 other release " in note for note in run.notes)
    counts = run.release(accept_risk="a test")
    shares = counts.share_of("town")
    assert type(shares) is type(counts)
    assert shares.response.endswith("in per cent of town")
    assert counts.per(first).decimals == 4


@pytest.mark.parametrize(
    ("table", "attack", "words"),
    [
        ('shares = ["land"]', "", "shares must be one of age, town"),
        ('ratios = ["pay"]', "", "ratios must be texts of two responses"),
        ('ratios = ["pay / count"]', "", "not a response of the plan"),
        ("", "[attack]\nknown = [999]", "at most the 240 respondents"),
        ("", "[attack]\nknown = [0]", "known"),
        ("", "[attack]\nreleases = [\"people.csv\"]", "a published table has columns"),
        ("", "[attack]\nfriends = 3", "friends"),
        ('response = "pay"', "[attack]\nknown = [1]", "needs a table of counts"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(table: str, attack: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ReticentError, match=words) as caught:
        run_table_plans(plan_of(tmp_path, NOISE, table=table, attack=attack))
    assert "\n" not in str(caught.value)


def test_a_release_of_other_data_is_refused(tmp_path: Path) -> None:
    run_table_plans(plan_of(tmp_path, NOISE, name="first"))
    text = (tmp_path / "first.csv").read_text()
    (tmp_path / "other.csv").write_text(text.replace("age,town", "town,age"))
    with pytest.raises(ReticentError, match="no table of the plan has these"):
        run_table_plans(plan_of(tmp_path, NOISE, attack='[attack]\nreleases = ["other.csv"]'))
    with pytest.raises(ReticentError, match="releases are combined only for noisy counts"):
        run_table_plans(plan_of(tmp_path, 'method = "heuristic"', attack='[attack]\nreleases = ["first.csv"]'))


def test_plans_are_written_as_they_were_read(tmp_path: Path) -> None:
    plan = read_table_plan(
        plan_of(tmp_path, NOISE, table='shares = ["town"]', attack="[attack]\nknown = [2]\ndraws = 500")
    )
    again = table_plan_from(tomllib.loads(table_plan_to_toml(plan)), owner="again", folder=tmp_path)
    assert again == plan.__class__(**{**vars(plan), "source": None})
