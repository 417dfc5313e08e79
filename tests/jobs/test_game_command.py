"""`reticent game` as a user meets it: the bundled examples, the report, and one sentence for each kind of bad file."""

import json
from pathlib import Path

import pytest

from command_line import CommandLine

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "games").glob("*.toml"))

GOOD = """
[game]
a = ["direct", "ask"]
b = ["help", "ignore"]
[[payoff]]
played = ["direct", "help"]
values = [1, 0]
[[payoff]]
played = ["direct", "ignore"]
values = [1, 0]
[[payoff]]
played = ["ask", "help"]
values = [2, 1]
[[payoff]]
played = ["ask", "ignore"]
values = [0, 0]
[coprivacy]
asker = "a"
asks = { b = "ask" }
helps = { b = "help" }
[output]
report = "game.html"
summary = "game.json"
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(reticent: CommandLine, path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_text(path.read_text())
    ran = reticent("game", copy)
    assert ran.code == 0, ran.err
    pages = list(tmp_path.glob("*.html"))
    assert len(pages) == 1
    assert "http" not in pages[0].read_text().split("</head>")[0].replace("http-equiv", "")


def test_a_game_is_explained_and_written(reticent: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "game.toml").write_text(GOOD)
    ran = reticent("game", tmp_path / "game.toml")
    assert ran.code == 0, ran.err
    assert "The game is coprivate" in ran.out
    summary = json.loads((tmp_path / "game.json").read_text())
    assert summary["coprivacy"]["helpers"] == ["b"]
    assert "(ask, help)" in json.dumps(summary["pure"])
    assert "Equilibria, each verified" in (tmp_path / "game.html").read_text()
    assert json.loads(reticent("game", tmp_path / "game.toml", "--json", "-").out)["coprivacy"]["coprivate"] is True


def test_a_player_to_whom_everything_is_equal(reticent: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "game.toml").write_text(GOOD.replace("values = [2, 1]", "values = [2, 0]"))
    ran = reticent("game", tmp_path / "game.toml")
    assert ran.code == 0, ran.err
    assert "The game is coprivate" in ran.out


def test_names_in_brackets_are_printed(reticent: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "game.toml").write_text(GOOD.replace('"ask"', '"ask [/x]"').replace('b = "ask"', 'b = "ask [/x]"'))
    ran = reticent("game", tmp_path / "game.toml")
    assert ran.code == 0, ran.err
    assert "ask [/x]" in ran.out


def change(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


BAD = {
    "a gap in the payoffs": (
        change('[[payoff]]\nplayed = ["ask", "ignore"]\nvalues = [0, 0]\n', ""), "(ask, ignore) has no payoffs"
    ),
    "a profile too many": (
        change("[coprivacy]", '[[payoff]]\nplayed = ["ask", "wait"]\nvalues = [0, 0]\n[coprivacy]'), "b has no strategy 'wait'"
    ),
    "a profile with a player too many": (change('["ask", "ignore"]', '["ask", "ignore", "ignore"]'), "played must"),
    "no payoffs": (change("values = [0, 0]\n[coprivacy]", "[coprivacy]"), "payoff 4: needs values"),
    "payoffs that are a text": (change("values = [2, 1]", 'values = "2, 1"'), "one payoff for each of a, b"),
    "a profile twice": (change('["direct", "ignore"]', '["direct", "help"]'), "(direct, help) has values twice"),
    "an unknown strategy": (change('["ask", "help"]', '["aks", "help"]'), "a has no strategy 'aks'"),
    "too few payoffs": (change("values = [2, 1]", "values = [2]"), "one payoff for each of a, b"),
    "a payoff that is a word": (change("values = [2, 1]", 'values = ["two", 1]'), "a payoff must be a finite number"),
    "a payoff that is infinite": (change("values = [2, 1]", "values = [inf, 1]"), "a payoff must be a finite number"),
    "a payoff without end": (change("values = [2, 1]", 'values = ["1e1000000000", 1]'), "a payoff must be a finite number"),
    "a payoff beyond all measure": (change("values = [2, 1]", 'values = ["3e40", 1]'), "must be between"),
    "a payoff divided by zero": (change("values = [2, 1]", 'values = ["1/0", 1]'), "a payoff must be a finite number"),
    "an unknown section": (change("[coprivacy]", "[coprivcy]"), "Did you mean 'coprivacy'?"),
    "an unknown player asked": (change("asks = { b", "asks = { c"), "asks and helps must name the same players"),
    "an unknown asker": (change('asker = "a"', 'asker = "z"'), "there is no player 'z'"),
    "an unknown option": (change("asker", "asking = 1\nasker"), "unknown option 'asking'"),
    "strategies that are no list": (change('a = ["direct", "ask"]', 'a = "direct"'), "a must have a list of strategies"),
    "a strategy twice": (change('a = ["direct", "ask"]', 'a = ["ask", "ask"]'), "'ask' twice"),
    "weights without components": (GOOD + "[weights]\nprivacy = 1\n", "weights need payoffs by component"),
    "an unknown model": ('[model]\nname = "vehicles"\n', "there is no model 'vehicles'"),
    "a model out of range": ('[model]\nname = "vehicular"\nvehicles = 1\n', "vehicles must be between 2 and 12"),
    "a model beside payoffs": (GOOD + '[model]\nname = "expiry"\n', "a model makes its own payoffs"),
    "a discount of one": (GOOD + "[repeated]\ndiscounts = [1]\n", "at least 0 and less than 1"),
    "repeated play of an asymmetric game": (GOOD + '[repeated]\ndiscounts = ["1/2"]\n', "symmetric game"),
    "a search with one peer": ("[search]\npeers = 1\nkeywords = 5\nqueries = 5\n", "peers must be a whole number of at least 2"),
    "a search with an unknown masking": (
        '[search]\npeers = 3\nkeywords = 5\nqueries = 5\nmaskings = ["tor"]\n', "maskings must be one of"
    ),
    "a search beside a game": ("[search]\npeers = 3\nkeywords = 5\nqueries = 5\n[game]\n", "only [output] beside it"),
    "an empty file": ("", "[game] must list every player"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_give_one_sentence(reticent: CommandLine, tmp_path: Path, name: str) -> None:
    text, words = BAD[name]
    (tmp_path / "game.toml").write_text(text)
    ran = reticent("game", tmp_path / "game.toml")
    assert ran.code == 2, ran.err
    assert words in ran.sentence
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "game.toml"]
