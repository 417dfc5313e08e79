"""tau-ARGUS's cell-key demonstration files: stored keys, so that every figure can be checked without its generator."""

import csv
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from reference.cell_key_reference import cell_key, perturbed_count, perturbed_magnitude, read
from reticent.io.argus_rda import read_rda
from reticent.jobs.argus.run import run_batch
from reticent.tables.perturb.ptable import ptable_text, read_ptables
from reticent.tables.perturb.ptable_design import Design, design_ptable

BATCH = """<OPENMICRODATA> "microdata.csv"
<OPENMETADATA> "microdata.rda"
<SPECIFYTABLE> "Sex""Age"|<FREQ>||
<SAFETYRULE> FREQ(3,20)
<SPECIFYTABLE> "Sex""Age"|"Savings"||
<SAFETYRULE> P(15,1)
<READMICRODATA>
<SUPPRESS> CKM(1)
<WRITETABLE> (1,7,AO+AD+AC+,"freq.txt")
<WRITETABLE> (1,7,QU-,"public.txt")
<SUPPRESS> CKM(2)
<WRITETABLE> (2,7,AO+AD+AC+,"savings.txt")
<SUPPRESS> CKM(2) "ptab_savings_all.txt"|"ptab_savings_smallcells.txt"|0.1
"""
AGES = {"Total": "123456", "A1": "1", "A2": "2"}
SEXES = {"Total": "12", "male": "2", "female": "1"}


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "argus_tau" / "cellkey" / "Magnitude"


@pytest.fixture(scope="module")
def records(folder: Path) -> list[list[str]]:
    with (folder / "microdata.csv").open() as file:
        return list(csv.reader(file, delimiter=";"))


@pytest.fixture(scope="module")
def run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("ckm")
    (output / "run.arb").write_text(BATCH)
    log = run_batch(output / "run.arb", data=folder, output=output).log
    assert "WRITETABLE: public.txt (publishable)." in log
    assert any(line.startswith("WRITETABLE: freq.txt (confidential") for line in log)
    return output


def _members(records: list[list[str]], sex: str, age: str) -> list[list[str]]:
    sexes, ages = SEXES.get(sex, sex), AGES.get(age, age)
    return [record for record in records if record[0] in sexes and record[1] in ages]


def test_counts_keys_and_noise_of_every_cell(folder: Path, records: list[list[str]], run: Path) -> None:
    table = read(folder / "ptab_freq.txt")
    rows = [line.replace('"', "").split(";") for line in (run / "freq.txt").read_text().splitlines()]
    assert len(rows) == 45
    assert [int(row[3]) for row in rows[:9]] == [4580, 1969, 1969, 1143, 1143, 864, 423, 168, 13]
    for sex, age, value, original, difference, key in rows:
        mine = _members(records, sex, age)
        expected = cell_key([record[5] for record in mine])
        assert int(original) == len(mine)
        assert Decimal(key) == expected
        assert float(value) == perturbed_count(len(mine), float(expected), table)
        assert int(difference) == int(value) - int(original)
    public = [line.split(";") for line in (run / "public.txt").read_text().splitlines()]
    assert [row[:3] for row in rows] == public


def test_magnitudes_of_every_cell(folder: Path, records: list[list[str]], run: Path) -> None:
    """T(3) with flex scaling and separation, records without savings outside the key."""
    rows = [line.replace('"', "").split(";") for line in (run / "savings.txt").read_text().splitlines()]
    assert rows[0][3] == "2273532"
    for sex, age, value, original, _, key in rows:
        mine = _members(records, sex, age)
        amounts = sorted((float(record[3]) for record in mine), reverse=True)
        expected = cell_key([record[5] for record in mine if float(record[3]) != 0])
        assert float(original) == sum(amounts)
        assert Decimal(key) == expected
        found = perturbed_magnitude(
            sum(amounts), amounts[:3], len(mine), expected, tables={"all": read(folder / "ptab_savings_all.txt")},
            small_table=read(folder / "ptab_savings_smallcells.txt"), small=0.3, large=0.03, turning=1000.0, power=3.0,
            shares=[0.5, 0.2], flex=True, parity=False, extra=0.0, unsafe=False, digits=8,
        )  # fmt: skip
        assert float(value) == pytest.approx(found, abs=0.5 + 1e-6)


def test_metadata_of_both_examples(folder: Path) -> None:
    tags = read_rda(folder / "microdata.rda").ckm
    assert tags is not None
    assert tags.record_key == "Key"
    assert tags.files == {
        "freq": "ptab_freq.txt", "cont": "ptab_savings_all.txt", "sep": "ptab_savings_smallcells.txt",
    }  # fmt: skip
    assert not tags.variables["HighIncome"].perturbed
    assert tags.variables["Savings"].options["shares"] == (0.5, 0.2)
    for name in ("Tau_TestW_CKM.rda", "hc_9_2_synth_Tau.rda"):
        frequency = read_rda(folder.parent / "Frequency" / name)
        assert frequency.ckm is not None
        assert "freq" in frequency.ckm.files
        assert not [note for note in frequency.notes if "unknown keyword" in note]


@pytest.mark.parametrize(
    "name, design, sizes, near",
    [
        ("Magnitude/ptab_freq.txt", Design(5, 3.0, 2, 0.5, True), None, 2e-8),
        ("Frequency/tau_testW_ptable.txt", Design(7, 4.0, 2, 0.0, True), None, 2e-9),
        ("Magnitude/ptab_savings_all.txt", Design(5, 1.0, 0, 0.0, True, parts=2), (1, 5), 2e-7),
        ("Magnitude/ptab_savings_smallcells.txt", Design(8, 2.0, 0, 0.0, True, True, 2), (1, 8), 2e-7),
        ("Frequency/20160511_szenario_5a.txt", Design(5, 2.001, 2, 0.0, True), None, 5e-4),
    ],
)
def test_designed_tables_equal_the_files(
    folder: Path, name: str, design: Design, sizes: tuple[int, ...] | None, near: float
) -> None:
    """The files were made by a general solver and rounded; the last has probabilities held above 1e-7 at the edge."""
    filed, made = read_ptables(folder.parent / name)["all"], design_ptable(design, sizes=sizes)
    assert filed.sizes.tolist() == made.sizes.tolist()
    for theirs, ours in zip(filed.rows, made.rows, strict=True):
        assert ours.changes.tolist() == theirs.changes.tolist()
        assert np.abs(ours.chances - theirs.chances).max() < near
        assert abs(ours.mean) < 1e-12


def test_the_example_of_the_package(folder: Path) -> None:
    """D = 5, V = 3, no 1 and 2, p(stay) ≥ 0.5: 66 lines, largest size 8 and the published means of each column."""
    made = design_ptable(Design(5, 3.0, 2, 0.5, True, at_most=True))
    lines = [line.split(";") for line in ptable_text(made).splitlines()[1:]]
    assert len(lines) == 66
    assert lines[-1][0] == "8"
    chances = np.array([float(line[2]) for line in lines])
    upper = np.array([float(line[4]) for line in lines])
    changes = np.array([float(line[3]) for line in lines])
    assert [round(float(x.mean()), 3) for x in (chances, upper - chances, upper, changes)] == [
        0.136,
        0.562,
        0.698,
        1.045,
    ]


def test_files_read_back(folder: Path, tmp_path: Path) -> None:
    for name in ("ptab_freq.txt", "ptab_savings_all.txt"):
        tables = read_ptables(folder / name)
        (tmp_path / name).write_text(ptable_text(tables))
        again = read_ptables(tmp_path / name)
        for one, two in zip(tables["all"].rows, again["all"].rows, strict=True):
            assert np.array_equal(one.chances, two.chances)
            assert np.array_equal(one.bounds, two.bounds)


def test_demonstration_file_with_keys_of_fifteen_digits(shared_data: Path, folder: Path, tmp_path: Path) -> None:
    """tau-ARGUS's demonstration metadata expect keys behind column 99; the file is given some, and all cells follow."""
    lines = (shared_data / "argus_tau" / "tau_testW.asc").read_text(encoding="latin-1").split("\n")
    whole = np.random.default_rng(100).integers(0, 10**15, len(lines))
    keyed = [(line.rstrip("\r").ljust(99), f"0.{k:015d}") for line, k in zip(lines, whole.tolist()) if line.strip()]
    (tmp_path / "keyed.asc").write_text("\n".join(a + b for a, b in keyed) + "\n")
    for name in ("Tau_TestW_CKM.rda", "region.cdl", "region2.hrc", "tau_testW_ptable.txt"):
        (tmp_path / name).write_bytes((folder.parent / "Frequency" / name).read_bytes())
    (tmp_path / "run.arb").write_text(
        '<OPENMICRODATA> "keyed.asc"\n<OPENMETADATA> "Tau_TestW_CKM.rda"\n<SPECIFYTABLE> "Size""Region"|<FREQ>||\n'
        '<SAFETYRULE> FREQ(3,20)\n<READMICRODATA>\n<SUPPRESS> CKM(1)\n<WRITETABLE> (1,7,AO+AC+QU-,"out.txt")\n'
    )
    run_batch(tmp_path / "run.arb")
    found: dict[tuple[str, str], list[str]] = {}
    for line, key in keyed:
        size, region = line[8:10].strip(), line[11:13].strip()
        for cell in ((size, region), ("Total", region), (size, "Total"), ("Total", "Total")):
            found.setdefault(cell, []).append(key)
    table = read(folder.parent / "Frequency" / "tau_testW_ptable.txt")
    checked = 0
    for row in (tmp_path / "out.txt").read_text().splitlines():
        size, region, value, original, key = row.split(";")
        mine = found.get((size.strip(), region.strip()))
        if mine is not None:
            expected = cell_key(mine)
            assert (int(original), Decimal(key)) == (len(mine), expected)
            assert float(value) == perturbed_count(len(mine), float(expected), table)
            checked += 1
    assert checked > 80
