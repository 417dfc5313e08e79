"""Query text into data: what is understood, what is refused, where an error is."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from reticent.base.errors import ParameterError
from reticent.queries.language import And, Compare, In, Not, Or, Query, Statistic, ask_for
from reticent.queries.parse import parse
from reticent.queries.refusals import Code, Refusal


def test_a_query_becomes_data() -> None:
    text = "SELECT sex, COUNT(*), SUM(x) FROM data d WHERE d.a='b' AND NOT (3 <= c OR e IN ('x', 'y')) GROUP BY sex WITH TOTALS"
    assert parse(text) == Query(
        (Statistic("count"), Statistic("sum", ("x",))),
        And((Compare("a", "=", "b"), Not(Or((Compare("c", ">=", 3.0), In("e", ("x", "y"))))))),
        ("sex",),
        True,
    )


def test_the_builder_gives_the_same_data() -> None:
    built = ask_for("sum", "x").where("a", "=", "b").where("c", ">=", 3.0).by("s", totals=True).query()
    assert built == parse("SELECT SUM(x) FROM data WHERE a = 'b' AND c >= 3 GROUP BY CUBE(s)")


@pytest.mark.parametrize(
    "text, statistic",
    [
        ("COUNT(1)", Statistic("count")),
        ("COUNT(x)", Statistic("count", ("x",))),
        ("avg(x)", Statistic("avg", ("x",))),
        ("STDDEV_SAMP(x)", Statistic("stddev", ("x",))),
        ("QUANTILE(x, 0.25)", Statistic("quantile", ("x",), 0.25)),
        ("CORR(x, y)", Statistic("corr", ("x", "y"))),
        ("LINREG(y, a, b)", Statistic("linreg", ("y", "a", "b"))),
        ("logreg(y, a)", Statistic("logreg", ("y", "a"))),
        ("KM(t, e)", Statistic("km", ("t", "e"))),
    ],
)
def test_every_statistic_has_its_syntax(text: str, statistic: Statistic) -> None:
    query = parse(f"SELECT {text} FROM data")
    assert isinstance(query, Query)
    assert query.statistics == (statistic,)


@pytest.mark.parametrize(
    "text, code",
    [
        ("SELECT * FROM data", Code.ROW_LEVEL),
        ("SELECT income FROM data", Code.ROW_LEVEL),
        ("SELECT a, b, COUNT(*) FROM data GROUP BY a", Code.ROW_LEVEL),
        ("SELECT DISTINCT a FROM data", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data LIMIT 1", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data HAVING COUNT(*) = 1", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data ORDER BY 1", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM a JOIN b ON a.x = b.x", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM a, b", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM (SELECT * FROM data)", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM read_csv('x')", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data TABLESAMPLE (10)", Code.UNSUPPORTED),
        ("WITH t AS (SELECT 1) SELECT COUNT(*) FROM t", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data UNION SELECT 1", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data; DROP TABLE data", Code.UNSUPPORTED),
        ("DELETE FROM data", Code.UNSUPPORTED),
        ("SELECT SUM(x * 2) FROM data", Code.UNSUPPORTED),
        ("SELECT SUM(CASE WHEN id = 1 THEN x END) FROM data", Code.UNSUPPORTED),
        ("SELECT SUM(DISTINCT x) FROM data", Code.UNSUPPORTED),
        ("SELECT COUNT(DISTINCT x) FROM data", Code.UNSUPPORTED),
        ("SELECT SUM(x) OVER () FROM data", Code.UNSUPPORTED),
        ("SELECT SUM(x) FILTER (WHERE a = 1) FROM data", Code.UNSUPPORTED),
        ("SELECT STRING_AGG(x, ',') FROM data", Code.UNSUPPORTED),
        ("SELECT ANY_VALUE(x) FROM data", Code.UNSUPPORTED),
        ("SELECT QUANTILE(x, 2) FROM data", Code.UNSUPPORTED),
        ("SELECT CORR(x, x) FROM data", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data WHERE a LIKE 'x%'", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data WHERE a = b", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data WHERE a + 1 = 2", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data WHERE a IN (SELECT b FROM c)", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data WHERE EXISTS (SELECT 1)", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data WHERE RANDOM() < 0.5", Code.UNSUPPORTED),
        ("SELECT COUNT(*) FROM data GROUP BY GROUPING SETS ((a), (b))", Code.UNSUPPORTED),
        ("SELECT 1", Code.SYNTAX),
        ("", Code.SYNTAX),
        ("SELECT COUNT(*) FROM data WHERE a = 1e999", Code.SYNTAX),
        ("SELECT COUNT(*) FROM data WHERE a = 'open", Code.SYNTAX),
    ],
)
def test_everything_else_is_refused(text: str, code: Code) -> None:
    refusal = parse(text)
    assert isinstance(refusal, Refusal), refusal
    assert refusal.code is code, refusal


def test_syntax_errors_are_located_by_a_caret() -> None:
    refusal = parse("SELECT COUNT(*)\nFROM data WHERE sex ==== 'f'")
    assert isinstance(refusal, Refusal)
    message, line, caret = refusal.message.split("\n")
    assert message.startswith("Line 2, column ")
    assert line == "FROM data WHERE sex ==== 'f'"
    assert line[caret.index("^")] == "="
    assert "sqlglot" not in refusal.message


@pytest.mark.parametrize(
    "text, place, words",
    [
        ("SELECT COUNT(*) FROM data WHERE sex = 'f", 39, "not closed"),
        ("SELECT COUNT(*)\n FROM data /* x", 12, "not closed"),
        ("SELECT COUNT(* FROM data", 16, ") is missing"),
        ("SELECT COUNT(*) FROM data WHERE sex = = 1", 39, "something is missing"),
    ],
)
def test_syntax_errors_are_told_in_plain_words(text: str, place: int, words: str) -> None:
    refusal = parse(text)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.SYNTAX
    assert f"column {place}: " in refusal.message
    assert words in refusal.message


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM data WHERE " + "(" * 10_000 + "a = 1" + ")" * 10_000,
        "SELECT COUNT(*) FROM data WHERE " + "NOT " * 4_000 + "a = 1",
        "SELECT COUNT(*) FROM data WHERE a = " + "-" * 1 + " -" * 4_000 + " 1",
        "SELECT " + "CASE WHEN " * 1_000,
        "x" * 50_000_000,
        "SELECT COUNT(*) FROM data WHERE a IN (" + ", ".join(str(i) for i in range(2_000)) + ")",
    ],
    ids=["brackets", "not", "minus", "case", "50 MB", "constants"],
)
def test_monsters_are_refused(text: str) -> None:
    refusal = parse(text)
    assert isinstance(refusal, Refusal)
    assert refusal.code in (Code.TOO_LONG, Code.SYNTAX, Code.UNSUPPORTED)


@pytest.mark.parametrize("text", ["x" * 50_000_000, "SELECT COUNT(*) FROM data WHERE " + "(" * 10_000 + "a = 1"])
def test_what_is_too_long_is_not_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Length and brackets are counted first, so that a monster costs one pass over at most as many letters as are allowed."""
    monkeypatch.setattr("reticent.queries.parse._read", lambda text: pytest.fail("it was read"))
    assert isinstance(parse(text), Refusal)


def test_long_chains_are_no_problem() -> None:
    query = parse("SELECT COUNT(*) FROM data WHERE " + " AND ".join(["a = 1"] * 400))
    assert isinstance(query, Query)


def test_the_builder_refuses_what_the_language_lacks() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'sum'"):
        ask_for("sun", "x").query()
    with pytest.raises(ParameterError, match="takes 1 variables"):
        ask_for("sum").query()


@pytest.mark.parametrize("value", [np.int64(3), np.float64(3), np.float32(3), np.uint8(3)])
def test_numbers_of_data_frames_are_constants(value: Any) -> None:
    assert Compare("a", ">=", value) == Compare("a", ">=", 3)
    [constant] = In("a", [value]).values  # type: ignore[arg-type]
    assert type(constant).__module__ == "builtins"


@pytest.mark.parametrize("value", [True, np.bool_(True), np.float64("nan"), 10**400, Fraction(1, 3), None])
def test_other_constants_are_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="text or a finite number"):
        Compare("a", ">=", value)
