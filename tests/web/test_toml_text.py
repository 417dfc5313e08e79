"""Changes of a TOML text: what it says changes as asked, and nothing else does, comments included."""

import random
from importlib.resources import files

import pytest

from reticent.base.errors import PlanError
from reticent.web.toml_text import TomlText, literal, parse

DEMO = (files("reticent") / "demo_data" / "people.plan.toml").read_text(encoding="utf-8")
ODD = '''# odd
a = 1 # kept
[data] # the data
path = "x # no comment" # a comment
list = [
  1, # inside
  2,
]
text = """
[[step]]
"""

[[step]]
method = "one"
[step.more]
x = 1
# above two
[[step]]
method = "two"
[output]
path = 'y'
'''


def test_a_value_changes_on_its_line_and_its_comment_stays() -> None:
    text = TomlText(DEMO)
    changed = text.set_section("risk", {"dimension": 2, "threshold": 1, "most": 0.1})
    assert changed.table["risk"] == {"dimension": 2, "threshold": 1, "most": 0.1}
    assert "most = 0.1                       # largest risk of a record" in changed.text
    assert changed.text.count("#") == DEMO.count("#")


def test_steps_move_with_their_comments() -> None:
    text = TomlText(DEMO)
    before = text.entries("step")
    moved = text.move("step", 0, 1)
    assert moved.entries("step") == [before[1], before[0], *before[2:]]
    assert sorted(moved.text.split("\n")) == sorted(DEMO.split("\n"))
    assert moved.move("step", 0, 1).text == DEMO


def test_strings_and_lists_over_lines_are_no_headers() -> None:
    text = TomlText(ODD)
    assert [entry["method"] for entry in text.entries("step")] == ["one", "two"]
    assert text.lines("step") == [(13, 16), (17, 19)]
    changed = text.set_section("data", {**text.table["data"], "path": "z"})
    assert 'path = "z" # a comment' in changed.text
    assert "1, # inside" in changed.text
    swapped = text.move("step", 0, 1)
    assert swapped.entries("step") == [{"method": "two"}, {"method": "one", "more": {"x": 1}}]
    assert (
        swapped.text.index("# above two") < swapped.text.index('method = "two"') < swapped.text.index('method = "one"')
    )


def test_what_cannot_be_parsed_is_refused_with_its_line() -> None:
    with pytest.raises(PlanError, match="not valid TOML.*line 2"):
        parse("a = 1\nb = = 2\n")


@pytest.mark.parametrize("seed", range(20))
def test_random_changes_say_what_they_should(seed: int) -> None:
    """50 random changes: after each the text says what a plain table changed alike says."""
    draw = random.Random(seed)
    text = TomlText(draw.choice([DEMO, ODD, ODD.rstrip("\n"), "", "# only\n"]))
    wanted = text.table
    values = [
        1,
        2.5,
        True,
        "plain",
        'quo"te # no',
        "[[step]]",
        "line\nbreak",
        [1, 2],
        ["a", "b # c"],
        {"x": [1], "y z": "ü"},
        [],
    ]
    for _ in range(50):
        steps = list(wanted.get("step", []))
        action = draw.choice(["insert", "remove", "move", "set", "section"])
        new = {draw.choice(["method", "k", "a b", "é"]): draw.choice(values) for _ in range(3)}
        if action == "insert" or not steps:
            at = draw.randint(0, len(steps))
            text, steps[at:at] = text.insert("step", at, new), [new]
        elif action == "section":
            name = draw.choice(["risk", "output", "data"])
            text, wanted = text.set_section(name, new), {**wanted, name: new}
        else:
            at = draw.randrange(len(steps))
            if action == "remove":
                text = text.remove("step", at)
                del steps[at]
            elif action == "set":
                text, steps[at] = text.set_entry("step", at, new), new
            elif at + 1 < len(steps):
                text = text.move("step", at, at + 1)
                steps[at], steps[at + 1] = steps[at + 1], steps[at]
        wanted = {
            **{key: value for key, value in wanted.items() if key != "step"},
            **({"step": steps} if steps else {}),
        }
        assert text.table == wanted
        assert parse(f"x = {literal(new)}") == {"x": new}
