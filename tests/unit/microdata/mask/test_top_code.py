"""Top and bottom coding, univariate and multivariate."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.ellipse import winsorize
from reticent.microdata.mask.top_code import BottomCode, MultivariateTopCode, TopCode

X = [17.63611, 80.94412, 39.10929, 33.44570, 60.60797, 60.83501, 13.33871, 30.16549, 58.18338, 63.46695]


def file_of(values: list[float] | list[int | None]) -> Microdata:
    schema = Schema((Variable("x", kind=Kind.NUMERIC), Variable("sex")))
    return Microdata.of(pl.DataFrame({"x": values, "sex": ["f"] * len(values)}), schema)


def run(step, values):  # type: ignore[no-untyped-def]
    data = file_of(values)
    applied = step.apply(data, secret=as_secret(1), progress=silent)
    assert [promise.broken(data, applied.data) for promise in step.promises()] in ([], [0])
    return applied


def test_sdcmicro_example() -> None:
    """Reference row 52: values above 35 become 0."""
    applied = run(TopCode("x", value=35.0, replacement=0.0), X)
    expected = [17.63611, 0, 0, 33.44570, 0, 0, 13.33871, 30.16549, 0, 0]
    assert applied.data.numbers(("x",))[:, 0].tolist() == expected
    assert applied.changed == {"x": 6}


def test_limit_mean_and_missing() -> None:
    assert run(TopCode("x", value=10.0), [1, 10, 11, None, 21]).data.frame.table["x"].to_list() == [1, 10, 10, None, 10]
    mean = run(TopCode("x", value=10.0, replacement="mean"), [1, 10, 15, None, 16, 17])
    assert mean.data.frame.table["x"].to_list() == [1, 10, 16, None, 16, 16]
    low = run(BottomCode("x", value=10.0, replacement="mean"), [1, 2, 3, 10, 40])
    assert low.data.frame.table["x"].to_list() == [2, 2, 2, 10, 40]


def test_a_computed_limit_is_a_value_that_stays() -> None:
    """The computed number is a function of what is hidden: an interpolated quantile gives the next value away."""
    values = [float(i) for i in range(101)]
    assert run(TopCode("x", quantile=0.95), values).data.numbers(("x",)).max() == 95.0
    assert run(TopCode("x", quantile=0.955), values).data.numbers(("x",)).max() == 95.0
    assert run(BottomCode("x", quantile=0.045), values).data.numbers(("x",)).min() == 5.0
    for step, sign in ((TopCode, 1.0), (BottomCode, -1.0)):
        coded = sign * run(step("x", deviations=1.0), values).data.numbers(("x",))[:, 0]
        limit = coded.max()
        assert limit <= coded.mean() + coded.std() < limit + 1
        assert run(step("x", deviations=2.0), values).facts["records_beyond"] == 0
    assert run(TopCode("x", quantile=0.0), [3.0, 3.0, 5.0]).data.numbers(("x",)).max() == 3.0


@pytest.mark.parametrize("step", [TopCode, BottomCode])
def test_a_mean_stands_for_enough_respondents_and_nobody_dominates_it(step) -> None:  # type: ignore[no-untyped-def]
    flip = 1.0 if step is TopCode else -1.0
    few, dominated = [flip * x for x in (1, 2, 30, 40)], [flip * x for x in (1, 2, 11, 11.5, 12, 9000)]
    for values, message in ((few, "fewer than 3 respondents"), (dominated, "one respondent dominates")):
        with pytest.raises(NotProtectedError, match=message):
            run(step("x", value=flip * 10, replacement="mean"), values)
        run(step("x", value=flip * 10), values)
    assert run(step("x", value=flip * 10, replacement="mean", k=2, p=0.0), few).facts["replacement"] == flip * 35
    assert run(step("x", value=flip * 10, replacement="mean"), [flip] * 4).facts["respondents_beyond"] == 0


def test_respondents_are_entities_not_rows() -> None:
    schema = Schema((Variable("x", kind=Kind.NUMERIC), Variable("firm", role=Role.ENTITY)))
    frame = pl.DataFrame({"x": [1.0, 30.0, 31.0, 32.0, 33.0], "firm": ["a", "b", "b", "b", "c"]})
    with pytest.raises(NotProtectedError, match="fewer than 3 respondents"):
        TopCode("x", value=10.0, replacement="mean").apply(
            Microdata.of(frame, schema), secret=as_secret(1), progress=silent
        )


def test_classical_ellipse_needs_enough_outside() -> None:
    rng = np.random.default_rng(1)
    values = np.vstack([rng.normal(size=(200, 2)).clip(-2, 2), [[30.0, 30.0]]])
    schema = Schema((Variable("a", kind=Kind.NUMERIC), Variable("b", kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame({"a": values[:, 0], "b": values[:, 1]}), schema)
    with pytest.raises(NotProtectedError, match="fewer than 3 respondents lie outside"):
        MultivariateTopCode(("a", "b"), estimate="classical", share=0.0001).apply(
            data, secret=as_secret(1), progress=silent
        )


def test_label_removes_the_coded_values_from_the_code_list() -> None:
    applied = run(TopCode("x", value=89.0, label="90+"), [30, 95, 90, 89, 101])
    assert applied.data.texts("x") == ["30", "90+", "90+", "89", "90+"]
    assert applied.data.schema["x"].codes == ("30", "89", "90+")
    low = run(BottomCode("x", value=18.0, label="<18"), [30, 5])
    assert low.data.schema["x"].codes == ("<18", "30")


def test_multivariate_pulls_outliers_back() -> None:
    rng = np.random.default_rng(4)
    values = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 2000)
    values[:100] = [4.0, -4.0]  # each coordinate alone is not extreme enough to hide the rest
    pulled, outside = winsorize(values, share=0.025, robust=True)
    assert outside[:100].all()
    assert 0.015 < outside[100:].mean() < 0.04
    assert np.abs(pulled[:100]).max() < 1.5
    np.testing.assert_array_equal(pulled[~outside], values[~outside])
    schema = Schema((Variable("a", kind=Kind.NUMERIC), Variable("b", kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame({"a": values[:, 0], "b": values[:, 1]}), schema)
    applied = MultivariateTopCode(("a", "b")).apply(data, secret=as_secret(1), progress=silent)
    assert applied.facts["records_beyond"] == outside.sum()
    np.testing.assert_allclose(applied.data.numbers(("a", "b")), pulled)


def test_wrong_use() -> None:
    with pytest.raises(ParameterError, match="exactly one of value, quantile, deviations; got none"):
        TopCode("x")
    with pytest.raises(ParameterError, match="'limit', 'mean' or a number"):
        TopCode("x", value=1.0, replacement="median")
    with pytest.raises(DataError, match="'sex' must be numeric"):
        TopCode("sex", value=1.0).check(file_of([1.0]).schema)
    with pytest.raises(ParameterError, match="at least two"):
        MultivariateTopCode(("a",))
    with pytest.raises(DataError, match="linear function"):
        winsorize(np.repeat(np.arange(20.0)[:, None], 2, axis=1), share=0.1, robust=False)
