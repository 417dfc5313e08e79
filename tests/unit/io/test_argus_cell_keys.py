"""What `.rda` files say about cell keys: letters with numbers in brackets, files by kind, and every wrong spelling."""

import pytest

from reticent.base.errors import DataError
from reticent.io.argus_ckm import CkmVariable, ckm_tags

KEY = {"rkey": {"RECORDKEY": ""}}


def options_of(**tags: str) -> CkmVariable:
    found = ckm_tags({**KEY, "turnover": tags}, "x.rda")
    assert found is not None
    return found.variables["turnover"]


def test_without_a_record_key_there_are_no_tags() -> None:
    assert ckm_tags({}, "x.rda") is None
    assert ckm_tags({"turnover": {"CKM": "N"}}, "x.rda") is None


def test_files_are_known_by_their_kind() -> None:
    tags = {"rkey": {"RECORDKEY": "", "PFILE": "p.csv", "PFILE_CONT": "c.csv", "PFILE_SEP": "s.csv"}}
    found = ckm_tags(tags, "x.rda")
    assert found is not None
    assert found.record_key == "rkey"
    assert found.files == {"freq": "p.csv", "cont": "c.csv", "sep": "s.csv"}


def test_a_file_for_frequencies_is_the_plain_file_too() -> None:
    found = ckm_tags({"rkey": {"RECORDKEY": "", "PFILE_FREQ": "f.csv"}}, "x.rda")
    assert found is not None
    assert found.files == {"freq": "f.csv"}


def test_n_means_not_perturbed() -> None:
    assert options_of(CKM="N") == CkmVariable(False)


@pytest.mark.parametrize(("letter", "magnifier"), [("M", "mean"), ("D", "range"), ("V", "sum")])
def test_each_letter_is_a_magnifier(letter: str, magnifier: str) -> None:
    found = options_of(CKM=letter, SCALING="N(0.1)")
    assert found.perturbed
    assert found.options == {
        "magnifier": magnifier, "contributions": 1, "include_zeros": False, "parity": False, "separation": False,
        "scaling": "simple", "small": 0.1, "shares": (),
    }  # fmt: skip


def test_the_largest_contributions_need_a_share_each() -> None:
    found = options_of(
        CKM="T(3)", SCALING="F(0.02, 0.5, 100, 2, 0.6, 0.4)", PARITY="y", SEPARATION="Y", INCLUDEZEROS="n"
    )
    assert found.options == {
        "magnifier": "top", "contributions": 3, "include_zeros": False, "parity": True, "separation": True,
        "scaling": "flex", "large": 0.02, "small": 0.5, "turning": 100.0, "power": 2.0, "shares": (0.6, 0.4),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"CKM": "X"}, "must be N, T"),
        ({"CKM": "T", "SCALING": "N(0.1)"}, "must be N, T"),
        ({"CKM": "M(2)", "SCALING": "N(0.1)"}, "must be N, T"),
        ({"CKM": "T(1,2)", "SCALING": "N(0.1)"}, "must be N, T"),
        ({"CKM": "?"}, "must be a letter"),
        ({"CKM": "T(a)"}, "must hold numbers"),
        ({"CKM": "M"}, "<SCALING> must be a letter"),
        ({"CKM": "M", "SCALING": "G(1)"}, "<SCALING> must be F"),
        ({"CKM": "M", "SCALING": "N(1, 2)"}, "followed by 0 further"),
        ({"CKM": "T(2)", "SCALING": "N(1)"}, "followed by 1 further"),
        ({"CKM": "M", "SCALING": "F(1, 2, 3)"}, "<SCALING> must be F"),
        ({"CKM": "M", "SCALING": "N(1)", "PARITY": "maybe"}, "<PARITY> must be Y or N"),
    ],
)
def test_wrong_tags_are_refused_in_one_sentence(tags: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message) as found:
        ckm_tags({**KEY, "turnover": tags}, "x.rda")
    assert str(found.value).startswith("x.rda (turnover): ")


def test_options_need_a_kind_of_noise_before() -> None:
    with pytest.raises(DataError, match="need a <CKM> before"):
        ckm_tags({**KEY, "turnover": {"PARITY": "Y"}}, "x.rda")


def test_there_is_one_record_key() -> None:
    with pytest.raises(DataError, match="one <RECORDKEY>, got 2: a, b"):
        ckm_tags({"a": {"RECORDKEY": ""}, "b": {"RECORDKEY": ""}}, "x.rda")
