# SPDX-License-Identifier: Apache-2.0
"""A starter project: small generated data, their schemas, a plan for a file and a plan for a table, ready to edit."""

import secrets
from pathlib import Path

import numpy as np

from reticent.base.errors import ParameterError
from reticent.base.randomness import SECRET_BYTES, STREAM_VERSION
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.schema_files import schema_to_toml
from reticent.io.atomic import write_text

N_HOUSEHOLDS, N_FIRMS = 160, 140

PEOPLE_SCHEMA = Schema(
    (
        Variable("person", role=Role.IDENTIFIER),
        Variable("household", role=Role.HOUSEHOLD_ID),
        Variable("region", role=Role.KEY, level=1, household=True,
                 codes=("N1", "N2", "S1", "S2", "S3"), labels=("Northport", "Fellmark", "Oakham", "Lowmoor", "Saltcote")),
        Variable("sex", role=Role.KEY, level=2, codes=("f", "m"), labels=("female", "male"), missing=("x",)),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC, level=2, missing=("999",)),
        Variable("education", role=Role.KEY, kind=Kind.ORDINAL, level=3, codes=("1", "2", "3"),
                 labels=("primary", "secondary", "tertiary"), missing=("9",)),
        Variable("occupation", role=Role.KEY, level=3, digits=(1, 1), missing=("99",)),
        Variable("income", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("weight", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)  # fmt: skip
FIRMS_SCHEMA = Schema(
    (
        Variable("firm", role=Role.ENTITY),
        Variable("industry", digits=(1, 1)),
        Variable("region", codes=("N", "S", "W"), labels=("North", "South", "West")),
        Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)

FILE_PLAN = """\
# Protect people.csv. Run:  reticent protect protect.toml
version = 1                           # of the language of plans

[data]
path = "people.csv"
schema = "people.schema.toml"
secret = "secret.key"                 # keep it: it repeats the run, and whoever has it can undo noise
streams = @STREAMS@                   # an upgrade that draws other numbers refuses to go on until this line says so

[risk]
dimension = 3                         # combinations of up to three keys ...
threshold = 1                         # ... are unsafe when only one record has them
most = 0.05                           # largest risk of a record, largest share of records that may be linked back

[[step]]
method = "remove-identifiers"         # who lives together is not published: few households are like another one
variables = ["person", "household"]

[[step]]
method = "recode"
variable = "region"
map = { N1 = "N", N2 = "N", S1 = "S", S2 = "S", S3 = "S" }

[[step]]
method = "recode"
variable = "age"
bands = [0, 16, 35, 65]

[[step]]
method = "recode"
variable = "occupation"
rules = ["none: 00", "works: 11-"]

[[step]]
method = "top-code"
variable = "income"
value = 3000

[[step]]
method = "round"                      # an income to the last ten is nearly a name
variables = ["income"]
base = 1500

[[step]]
method = "round"                      # so is a weight with a decimal
variables = ["weight"]
points = [100]

[[step]]
method = "local-suppression"          # blank as few values as possible, income included
k = 3
keys = ["region", "sex", "age", "education", "occupation", "income"]
semantics = "(k,k)"

[output]
path = "people.safe.csv"              # publishable
schema = "people.safe.schema.toml"    # publishable
public_report = "people.public.html"  # publishable
report = "people.confidential.html"
summary = "people.confidential.json"
"""

TABLE_PLAN = """\
# Protect a table made of firms.csv. Run:  reticent table table.toml
version = 1                           # of the language of plans

[data]
path = "firms.csv"
schema = "firms.schema.toml"

[table]
dimensions = ["industry", "region"]
response = "turnover"
rules = [{ rule = "p-percent", p = 15 }, { rule = "threshold", minimum = 3, protection = 20 }]
bounds = { lower = 0, upper = "1.5 max" }

[protect]
method = "heuristic"                  # hides further cells, so that the unsafe ones cannot be worked out
time_limit = 30

[output]
path = "firms.table.csv"              # publishable: it is written only if the attacker finds nothing too close
report = "firms.confidential.html"
summary = "firms.confidential.json"
"""

READ_ME = """\
A starter project for reticent. Everything here is generated; replace it by your own data.

  reticent describe people.csv -o mine.schema.toml    guess a schema, then correct it
  reticent risk people.csv --schema people.schema.toml
  reticent protect protect.toml                       protect the file
  reticent table table.toml                           protect the table

secret.key and every file with "confidential" in its name must not leave the house.
"""


def new_secret(path: Path) -> None:
    """Write a file of 32 random bytes in hex, readable by its owner only; an existing file is never replaced."""
    if path.exists():
        raise ParameterError(f"{path.name}: the file exists; a secret is never replaced, choose another name.")
    write_text(path, secrets.token_hex(SECRET_BYTES) + "\n")
    path.chmod(0o600)


def new_project(folder: Path) -> tuple[Path, ...]:
    """Make a folder with data, schemas, plans and a secret; gives the files made."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ParameterError(f"{folder.name or folder}: the folder must be new or empty, it is not.")
    if not folder.parent.is_dir():
        raise ParameterError(f"{folder.name}: the folder {str(folder.parent)!r} in which it should be does not exist.")
    folder.mkdir(exist_ok=True)
    texts = {
        "README.txt": READ_ME,
        "people.csv": people(),
        "people.schema.toml": schema_to_toml(PEOPLE_SCHEMA),
        "protect.toml": FILE_PLAN.replace("@STREAMS@", str(STREAM_VERSION)),
        "firms.csv": firms(),
        "firms.schema.toml": schema_to_toml(FIRMS_SCHEMA),
        "table.toml": TABLE_PLAN,
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    new_secret(folder / "secret.key")
    return tuple(folder / name for name in (*texts, "secret.key"))


def _draws(name: str) -> np.random.Generator:
    """The same data in every starter project."""
    return np.random.Generator(np.random.Philox(key=len(name)))


def people() -> str:
    """Households with one to five members, as CSV text."""
    draw = _draws("people")
    rows = ["person,household,region,sex,age,education,occupation,income,weight"]
    person = 0
    for household in range(1, N_HOUSEHOLDS + 1):
        region = draw.choice(["N1", "N2", "S1", "S2", "S3"], p=[0.35, 0.1, 0.3, 0.2, 0.05])
        weight = round(float(draw.uniform(40, 160)), 1)
        for _ in range(int(draw.choice([1, 2, 3, 4, 5], p=[0.3, 0.33, 0.17, 0.14, 0.06]))):
            person += 1
            age = int(np.clip(draw.normal(44, 21), 0, 98))
            grown = age >= 16
            education = str(draw.choice([1, 2, 3], p=[0.25, 0.5, 0.25])) if grown else "1"
            work = f"{draw.integers(1, 8)}{draw.integers(1, 5)}" if 16 <= age < 70 and draw.random() < 0.8 else "00"
            income = int(draw.lognormal(7.6, 0.6) / 10) * 10 if grown else 0
            sex = draw.choice(["f", "m", "x"], p=[0.5, 0.48, 0.02])
            rows.append(f"P{person:04d},{household},{region},{sex},{age},{education},{work},{income},{weight}")
    return "\n".join(rows) + "\n"


def firms() -> str:
    """Firms with skewed turnover, as CSV text."""
    draw = _draws("businesses")
    rows = ["firm,industry,region,turnover"]
    for firm in range(1, N_FIRMS + 1):
        industry = draw.choice(["A1", "A2", "B1", "B2", "C1"], p=[0.3, 0.2, 0.25, 0.2, 0.05])
        region = draw.choice(["N", "S", "W"], p=[0.5, 0.35, 0.15])
        rows.append(f"F{firm:04d},{industry},{region},{round(float(draw.lognormal(5, 1.3)), 1)}")
    return "\n".join(rows) + "\n"
