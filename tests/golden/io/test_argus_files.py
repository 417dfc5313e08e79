"""The demo files of mu-ARGUS and tau-ARGUS read as they should."""

from pathlib import Path

import numpy as np
import pytest

from reticent.data.published import release_file
from reticent.data.recoding import parse_rules
from reticent.data.schema import Kind, Role
from reticent.io.argus_codes import read_cdl, read_hrc, write_hrc
from reticent.io.argus_grc import read_grc
from reticent.io.argus_text import Notes
from reticent.io.hierarchies import read_hierarchy
from reticent.io.read import load_microdata
from reticent.io.write import write_masked
from reticent.jobs.protect_file import run_file_plan


def test_demodata_fixed_and_free_are_the_same(shared_data: Path) -> None:
    folder = shared_data / "argus_mu"
    fixed = load_microdata("demodata.ASC", "demodata.rda", folder=folder)
    free = load_microdata(folder / "Demofree.asc", folder / "Demofree.rda")
    assert fixed.data.n_records == free.data.n_records == 4000
    assert len(free.data.schema.names) == 34
    assert set(free.data.schema.names) - set(fixed.data.schema.names) == {"MONEY"}  # the fixed .rda leaves it out
    for name in fixed.data.schema.names:
        assert fixed.data.frame.table[name].equals(free.data.frame.table[name]), name
        assert fixed.data.schema[name].missing == free.data.schema[name].missing
    assert "demodata.ASC: found as Demodata.asc." in fixed.notes
    assert "regio.cdl: found as Regio.cdl." in free.notes


def test_demodata_schema(shared_data: Path) -> None:
    data = load_microdata(shared_data / "argus_mu/Demodata.asc", shared_data / "argus_mu/Demodata.rda").data
    region, weight = data.schema["REGION"], data.schema["WEIGHT"]
    assert (region.role, region.level, region.missing, region.length) == (Role.KEY, 1, ("9999", "9998"), 4)
    assert region.label("1") == "Aalburg"
    assert (weight.role, weight.kind, weight.decimals) == (Role.WEIGHT, Kind.NUMERIC, 2)
    assert data.numbers(("WEIGHT",))[0, 0] == 118.30
    assert data.frame.table["COMPCODE"][0] == "095"
    assert data.schema["COMPCODE"].hierarchy is not None


def test_tau_demo(shared_data: Path) -> None:
    loaded = load_microdata(shared_data / "argus_tau/tau_testW.asc", shared_data / "argus_tau/tau_testw.rda")
    data = loaded.data
    assert data.n_records == 42_723
    tree = data.schema["IndustryCode"].hierarchy
    assert tree is not None
    assert tree.depth == 3
    region = data.schema["Region"].hierarchy
    assert region is not None
    assert region.leaves == ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
    assert region.ancestors("4") == ("4", "Os", "Total")
    assert data.schema["Size"].missing == ("99",)
    assert int(data.missing("Size").sum()) == 5
    assert np.isclose(data.numbers(("Var2",))[0, 0], 28.26)
    assert any("Wgt has missing codes" in note for note in loaded.notes)


@pytest.mark.parametrize(
    "name", ["Age", "Age3", "Etnigr", "Etnigr2", "Marstat", "Regioc", "Regiol", "Region", "Regiop"]
)
def test_bundled_recodings(shared_data: Path, name: str) -> None:
    notes = Notes()
    recoding = read_grc(shared_data / "argus_mu" / f"{name}.grc", notes)
    repaired = any("commas" in note for note in notes)
    assert repaired == (name in ("Age3", "Etnigr2", "Region"))
    if name != "Marstat":
        assert len(recoding.missing) == 2


def test_age_recoding(shared_data: Path) -> None:
    data = load_microdata(shared_data / "argus_mu/Demodata.asc", shared_data / "argus_mu/Demodata.rda").data
    recoding = read_grc(shared_data / "argus_mu/Age.grc")
    image = recoding.image(data.categories("AGE"), missing=("99",))
    assert {image[code] for code in data.categories("AGE")} <= set("123456")
    assert image["20"] == "1"
    assert image["21"] == "2"
    assert recoding.code_list == "Age.cdl"
    assert parse_rules(recoding.lines(), owner="Age.grc") == recoding
    assert recoding.untouched(data.categories("AGE"), missing=("99",)) == ()


def test_tree_recoding_and_code_lists(shared_data: Path) -> None:
    assert read_grc(shared_data / "argus_tau/IndCode2.grc").closed == ("142", "1500", "1512")
    codes, labels = read_cdl(shared_data / "argus_tau/GK.CDL")
    assert codes == ("1", "6", "7", "8", "9")
    assert labels[0] == "small"


def test_hrc_round_trip(shared_data: Path, tmp_path: Path) -> None:
    tree = read_hrc(shared_data / "argus_tau/region2.hrc")
    (tmp_path / "again.hrc").write_text(write_hrc(tree))
    assert read_hrc(tmp_path / "again.hrc") == tree


def test_arx_hierarchies(shared_data: Path) -> None:
    folder = shared_data / "microdata/adult"
    files = sorted(folder.glob("*hierarch*.csv"))
    assert files
    for file in files:
        tree = read_hierarchy(file)
        assert tree.depth >= 1
        assert tree.total == "*"


def test_demodata_protected_with_its_own_recoding(shared_data: Path, tmp_path: Path) -> None:
    """The whole road with ARGUS files only: .asc, .rda and .grc in, .saf, .rds and .cdl out."""
    folder = shared_data / "argus_mu"
    lines = (folder / "Demodata.asc").read_text().splitlines(keepends=True)
    (tmp_path / "Some.asc").write_text("".join(lines[:600]))
    (tmp_path / "plan.toml").write_text(
        f"""
[data]
path = "some.asc"
schema = "{folder}/demodata.rda"
secret = 1
test_secret = true
[risk]
dimension = 1
accept_risk = "this test looks at formats"
[[step]]
method = "recode"
variable = "AGE"
grc = "{folder}/age3.grc"
[output]
path = "safe.saf"
keep_order = true
"""
    )
    run = run_file_plan(tmp_path / "plan.toml")
    assert any("commas" in note for note in run.result.notes)
    back = load_microdata("safe.saf", "safe.rds", folder=tmp_path)
    assert back.data.n_records == 600
    assert back.data.categories("AGE") == ("1", "2", "3")
    assert back.data.schema["AGE"].missing == ("8", "9")
    before = run.before
    for name in ("REGION", "WEIGHT", "INCOME", "OCCUCODE"):
        assert back.data.texts(name) == before.texts(name)
    assert "IDLEVEL" not in (tmp_path / "safe.rds").read_text()


def test_fixed_width_writes_the_same_bytes(shared_data: Path, tmp_path: Path) -> None:
    """Read and written unchanged, every described column of the demo file is what it was."""
    folder = shared_data / "argus_mu"
    data = load_microdata(folder / "Demodata.asc", folder / "Demodata.rda").data
    write_masked(release_file(data), tmp_path / "again.asc")
    old = (folder / "Demodata.asc").read_text().splitlines()
    new = (tmp_path / "again.asc").read_text().splitlines()
    assert len(new) == 4000
    for variable in data.schema.variables:
        start = int(variable.start or 0) - 1
        end = start + int(variable.length or 0)
        assert [line[start:end] for line in new] == [line[start:end] for line in old], variable.name
