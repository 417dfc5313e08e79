# SPDX-License-Identifier: Apache-2.0
"""Write a complete protected database on made-up data into a folder: records, schema, secret, database file.

python scripts/example_query_database.py FOLDER
reticent ask FOLDER/staff.toml "SELECT AVG(salary) FROM data WHERE region = 'north'" --user ann
"""

import secrets
import sys
from pathlib import Path

import numpy as np

REGIONS, TRADES = ("north", "south", "west"), ("trade", "transport", "health", "other")

SCHEMA = """\
[[variable]]
name = "person"
role = "identifier"

[[variable]]
name = "firm"
role = "entity"

[[variable]]
name = "region"
role = "key"
codes = ["north", "south", "west"]

[[variable]]
name = "trade"
role = "key"
codes = ["trade", "transport", "health", "other"]

[[variable]]
name = "age"
role = "key"
kind = "numeric"

[[variable]]
name = "salary"
role = "sensitive"
kind = "numeric"
"""

DATABASE = """\
[data]
path = "staff.csv"
schema = "staff-schema.toml"
secret = "staff.secret"
name = "staff"
version = "2026"

[ledger]
path = "staff.ledger"
anchor = "staff.anchor"    # better on another disk

[policy]
mode = "exact"
minimum = 3                # fewest firms in a set
dominance = [1, 60]        # the largest firm may not hold more than 60 percent
p_percent = 10
filters = ["region", "trade", "age"]
responses = ["salary"]

[policy.cutpoints]
age = [25, 35, 45, 55]

[policy.bounds.salary]
low = 0

[policy.limits]
queries = 1000
"""


def main(folder: Path) -> None:
    """Write the four files."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    lines = ["person,firm,region,trade,age,salary"]
    for person in range(600):
        firm = int(rng.integers(0, 90))
        region, trade = REGIONS[firm % 3], TRADES[(firm // 3) % 4]
        age, salary = int(rng.integers(17, 67)), int(np.exp(rng.normal(8, 0.4)))
        lines.append(f"p{person},f{firm},{region},{trade},{age},{salary}")
    (folder / "staff.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "staff-schema.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "staff.toml").write_text(DATABASE, encoding="utf-8")
    key = folder / "staff.secret"
    key.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
    key.chmod(0o600)
    print(f"wrote {folder / 'staff.toml'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
