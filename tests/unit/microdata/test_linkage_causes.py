"""When linkage succeeds, the verdict names the variables without which the fewest records stay linked."""

import polars as pl

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile
from reticent.microdata.risk.linkage_causes import Cause, causes_text

N = 200


def _protected(numbers: dict[str, list[float]], *, most: float = 0.05) -> ProtectedFile:
    frame = pl.DataFrame({"sex": ["f", "m"] * (N // 2), **numbers})
    schema = Schema(
        (Variable("sex", role=Role.KEY, codes=("f", "m")), *(Variable(name, kind=Kind.NUMERIC) for name in numbers))
    )
    data = Microdata.of(frame, schema)
    return protect_data(data, (RemoveIdentifiers(),), most=most, accept_risk="a test", secret=1, test_secret=True)


def test_one_variable_that_tells_everybody_is_named() -> None:
    run = _protected({"pay": [float(i) for i in range(N)], "rooms": [float(i % 3) for i in range(N)]})
    assert run.attacks.causes[0] == Cause("pay", 0.0)
    assert "0% stay linked without pay (a sample)" in run.verdict["linkage"].text


def test_of_two_that_tell_the_same_both_are_named() -> None:
    one = [float(i) for i in range(N)]
    run = _protected({"pay": one, "tax": [value / 2 for value in one], "rooms": [float(i % 3) for i in range(N)]})
    assert [(cause.variable, cause.still_linked) for cause in run.attacks.causes] == [("pay", 1.0), ("tax", 0.0)]


def test_nothing_is_named_where_linkage_is_held() -> None:
    run = _protected({"rooms": [float(i % 3) for i in range(N)]}, most=1.0)
    assert not run.attacks.causes
    assert "stay linked" not in run.verdict["linkage"].text


def test_the_words_go_from_one_variable_to_the_next() -> None:
    said = causes_text((Cause("pay", 0.5), Cause("age", 0.25)))
    assert said == "; of the linked records, 50% stay linked without pay, 25% without age as well (a sample)"
