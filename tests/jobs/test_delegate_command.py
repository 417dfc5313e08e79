"""`reticent delegate` as owner and handler meet it: the bundled example, and one sentence for each kind of bad input."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import CommandLine

pytest.importorskip("tenseal", reason="delegation: tenseal is not installed")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples" / "delegation", tmp_path / "owner")
    return tmp_path / "owner"


def run_to(reticent: CommandLine, folder: Path, last: str) -> None:
    plan = folder / "firms.toml"
    for command, words in (
        ("keys", [plan]),
        ("encrypt", [plan]),
        ("evaluate", [folder / "request.bin", "-o", folder / "response.bin"]),
    ):
        ran = reticent("delegate", command, *words)
        assert ran.code == 0, ran.err
        if command == last:
            return


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs an answer leaves a copy of its folder: keys take as long as all the rest."""
    return tmp_path_factory.mktemp("kept") / "evaluated"


@pytest.fixture
def evaluated(reticent: CommandLine, folder: Path, kept: Path) -> Path:
    """The folder of an owner whose request has been answered."""
    if not kept.exists():
        run_to(reticent, folder, "evaluate")
        shutil.copytree(folder, kept)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return folder


def test_the_example_runs_from_keys_to_verified_results(reticent: CommandLine, folder: Path, tmp_path: Path) -> None:
    run_to(reticent, folder, "encrypt")
    handler = tmp_path / "handler"
    handler.mkdir()
    shutil.copy(folder / "request.bin", handler)  # all that the handler has
    assert reticent("delegate", "evaluate", handler / "request.bin", "-o", handler / "response.bin").code == 0
    shutil.copy(handler / "response.bin", folder)
    ran = reticent("delegate", "verify", folder / "firms.toml")
    assert ran.code == 0, ran.err
    rows = [line.split(",") for line in (folder / "firms.csv").read_text().splitlines()[1:]]
    assert f"turnover: {sum(int(row[1]) for row in rows)}" in ran.out
    assert f"turnover times staff: {sum(int(row[1]) * int(row[2]) for row in rows)}" in ran.out
    assert "verified" in ran.out
    assert json.loads((folder / "firms.json").read_text())["results"]["as many heads as wages"] is False
    assert "Every result verified." in (folder / "firms.html").read_text()
    again = reticent("delegate", "verify", folder / "firms.toml")
    assert again.code == 3
    assert "has had its answer" in again.sentence


def edit(old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        plan = folder / "firms.toml"
        text = plan.read_text()
        assert old in text
        plan.write_text(text.replace(old, new, 1))

    return change


BAD_PLANS = {
    "a deep expression": (edit("sum(turnover)", "sum(turnover*turnover*staff*staff*wages)"), "multiplies 5 columns"),
    "an unknown column": (edit("mean(wages)", "mean(wage)"), "there is no column 'wage'"),
    "a bound that is too small": (
        edit("[expressions]", "[delegation]\nbound = 10\n[expressions]"),
        "more than the bound 10",
    ),
    "values outside their bounds": (edit("high = 10000\n", "high = 3\n"), "outside its declared bounds"),
    "too few decimals": (edit("decimals = 1", "decimals = 0"), "more than 0 decimals"),
    "a column that is not there": (edit("[columns.staff]", "[columns.heads]"), "no column"),
    "an unknown option": (edit("low = 0", "lowest = 0"), "unknown option 'lowest'"),
    "an unknown check": (edit("[expressions]", '[delegation]\ncheck = "trust"\n[expressions]'), "check must be one of"),
    "no expressions": (edit('"turnover" = "sum(turnover)"', '"turnover" = ""'), "cannot be read"),
    "a file that is not there": (edit("firms.csv", "none.csv"), "none.csv"),
}


@pytest.mark.parametrize("name", BAD_PLANS)
def test_bad_plans_are_refused_before_any_work(reticent: CommandLine, folder: Path, name: str) -> None:
    change, words = BAD_PLANS[name]
    change(folder)
    ran = reticent("delegate", "keys", folder / "firms.toml")
    assert ran.code in (2, 3), ran.err
    assert words in ran.sentence
    assert ran.err.count("\n") == 1
    assert not (folder / "request.bin").exists()
    assert not (folder / "owner.keys").exists()


def test_missing_values_are_refused(reticent: CommandLine, folder: Path) -> None:
    data = folder / "firms.csv"
    data.write_text(data.read_text() + "F999,,3,4.0\n")
    ran = reticent("delegate", "keys", folder / "firms.toml")
    assert ran.code == 3
    assert "turnover is missing in 1 rows" in ran.sentence


def test_bad_messages_give_one_sentence(reticent: CommandLine, evaluated: Path) -> None:
    response, request = evaluated / "response.bin", evaluated / "request.bin"
    for target, command, words in (
        (request, ("evaluate", request, "-o", evaluated / "other.bin"), "damaged or cut off"),
        (response, ("verify", evaluated / "firms.toml"), "damaged or cut off"),
    ):
        raw = target.read_bytes()
        target.write_bytes(raw[:-100])
        ran = reticent("delegate", *command)
        assert ran.code == 3
        assert words in ran.sentence
        target.write_bytes(raw)
    assert "needed here" in reticent("delegate", "evaluate", response, "-o", evaluated / "other.bin").sentence
    assert (
        "not a request"
        in reticent("delegate", "evaluate", evaluated / "firms.csv", "-o", evaluated / "other.bin").sentence
    )
    assert not (evaluated / "other.bin").exists()
    assert "keys are there already" in reticent("delegate", "keys", evaluated / "firms.toml").sentence


def test_a_refused_result_spends_the_keys(reticent: CommandLine, evaluated: Path) -> None:
    """A handler who changes ciphertexts and learns each verdict learns the key bit by bit; so it learns one verdict."""
    from reticent.delegation.frames import Message, read_message

    plan = evaluated / "firms.toml"
    honest = read_message((evaluated / "response.bin").read_bytes(), "response")
    swapped = (honest.payloads[1], honest.payloads[0], *honest.payloads[2:])
    (evaluated / "response.bin").write_bytes(Message("response", honest.header, swapped).to_bytes())
    ran = reticent("delegate", "verify", plan)
    assert ran.code == 3
    assert "these keys are spent" in ran.sentence
    assert "keys are spent" in reticent("delegate", "encrypt", plan).sentence
    assert "keys are spent" in reticent("delegate", "verify", plan).sentence
    run_to(reticent, evaluated, "evaluate")  # `keys` makes new ones in their place
    assert reticent("delegate", "verify", plan).code == 0


def test_a_message_that_is_no_answer_leaves_the_keys(reticent: CommandLine, evaluated: Path) -> None:
    """Whoever damages messages on the way must not be able to make the owner throw keys away."""
    keys = (evaluated / "owner.keys").read_bytes()
    (evaluated / "response.bin").write_bytes((evaluated / "response.bin").read_bytes()[:-9])
    assert "damaged" in reticent("delegate", "verify", evaluated / "firms.toml").sentence
    assert (evaluated / "owner.keys").read_bytes() == keys
    assert '"used": false' in (evaluated / "receipt.json").read_text()


def test_a_damaged_answer_can_be_sent_again(reticent: CommandLine, evaluated: Path) -> None:
    """What is refused before anything is decrypted tells the handler nothing, so the request stays open."""
    from reticent.delegation.frames import Message, read_message

    whole = (evaluated / "response.bin").read_bytes()
    message = read_message(whole, "response")
    unreadable = Message("response", message.header, (b"", *message.payloads[1:])).to_bytes()
    for damaged in (whole[:-9], b"", unreadable):
        (evaluated / "response.bin").write_bytes(damaged)
        assert reticent("delegate", "verify", evaluated / "firms.toml").code == 3
    (evaluated / "response.bin").write_bytes(whole)
    assert reticent("delegate", "verify", evaluated / "firms.toml").code == 0


def other_keys(folder: Path, reticent: CommandLine) -> bytes:
    """Keys of the same plan, made a second time."""
    elsewhere = folder.parent / "elsewhere"
    shutil.copytree(ROOT / "examples" / "delegation", elsewhere)
    assert reticent("delegate", "keys", elsewhere / "firms.toml").code == 0
    return (elsewhere / "owner.keys").read_bytes()


@pytest.mark.parametrize("name", ["of the same plan", "a request", "random", "none", "with a key's name"])
def test_wrong_keys_give_one_sentence(reticent: CommandLine, evaluated: Path, name: str) -> None:
    from reticent.delegation.frames import Message, read_message

    target = evaluated / "owner.keys"
    own = read_message(target.read_bytes(), "keys")
    if name == "of the same plan":
        target.write_bytes(other_keys(evaluated, reticent))
    elif name == "a request":
        target.write_bytes((evaluated / "request.bin").read_bytes())
    elif name == "random":
        target.write_bytes(bytes(range(256)))
    elif name == "none":
        target.unlink()
    else:  # other keys under the name of the right ones
        other = read_message(other_keys(evaluated, reticent), "keys")
        target.write_bytes(Message("keys", own.header, other.payloads).to_bytes())
    words = {
        "of the same plan": "made with other keys", "a request": "the owner's key file is needed here",
        "random": "not the owner's key file", "none": "owner.keys: the file cannot be read",
        "with a key's name": "these keys are spent",
    }[name]  # fmt: skip
    ran = reticent("delegate", "verify", evaluated / "firms.toml")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert words in ran.sentence
    assert not (evaluated / "firms.json").exists()


@pytest.mark.parametrize("name", ["other keys", "other parameters", "a secret key", "a ciphertext"])
def test_a_request_with_another_context(reticent: CommandLine, folder: Path, name: str) -> None:
    import tenseal

    from reticent.delegation.frames import Message, read_message

    run_to(reticent, folder, "encrypt")
    request = read_message((folder / "request.bin").read_bytes(), "request")
    own = read_message((folder / "owner.keys").read_bytes(), "keys")
    modulus = request.header["moduli"][0]
    payload = {
        "other keys": lambda: tenseal.context(tenseal.SCHEME_TYPE.BFV, 8192, modulus).serialize(save_secret_key=False),
        "other parameters": lambda: tenseal.context(tenseal.SCHEME_TYPE.BFV, 4096, 1032193).serialize(save_secret_key=False),
        "a secret key": lambda: own.payloads[0],
        "a ciphertext": lambda: request.payloads[-1],
    }[name]()  # fmt: skip
    (folder / "request.bin").write_bytes(
        Message("request", request.header, (payload, *request.payloads[1:])).to_bytes()
    )
    ran = reticent("delegate", "evaluate", folder / "request.bin", "-o", folder / "response.bin")
    if ran.code == 0:  # under a context with the same parameters the handler cannot know; the owner does
        ran = reticent("delegate", "verify", folder / "firms.toml")
    else:
        assert not (folder / "response.bin").exists()
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "delegate: the " in ran.sentence
    assert not (folder / "firms.json").exists()


def test_a_result_larger_than_its_bound(reticent: CommandLine, folder: Path) -> None:
    """Refused when the keys do not fit the plan any more, and when a handler returns more than can be."""
    import tenseal

    from reticent.delegation.frames import Message, read_message

    run_to(reticent, folder, "keys")
    edit("high = 10000\n", "high = 1000000000\n")(folder)
    ran = reticent("delegate", "encrypt", folder / "firms.toml")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "too small for the results" in ran.sentence
    assert not (folder / "request.bin").exists()
    edit("high = 1000000000\n", "high = 10000\n")(folder)
    assert reticent("delegate", "encrypt", folder / "firms.toml").code == 0
    assert reticent("delegate", "evaluate", folder / "request.bin", "-o", folder / "response.bin").code == 0
    request = read_message((folder / "request.bin").read_bytes(), "request")
    honest = read_message((folder / "response.bin").read_bytes(), "response")
    context = tenseal.context_from(request.payloads[0])
    added = (tenseal.bfv_vector_from(context, honest.payloads[0]) + [12345] * 8192).serialize()
    (folder / "response.bin").write_bytes(Message("response", honest.header, (added, *honest.payloads[1:])).to_bytes())
    ran = reticent("delegate", "verify", folder / "firms.toml")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "larger than its bound" in ran.sentence
    assert not (folder / "firms.json").exists()
