# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.delegation_costs`: Σx, Σxy, Σx² of many rows; what owner and handler need, and how it grows."""

import time

import numpy as np

from reticent.delegation.columns import Column
from reticent.delegation.handler import evaluate_request
from reticent.delegation.owner import Job, make_keys, make_request, open_response

SIZES = (10_000, 100_000, 400_000)


def measure(rows: int) -> dict[str, float]:
    """Processor seconds of each step, bytes of the messages."""
    rng = np.random.default_rng(1)
    values = {"x": rng.integers(0, 1000, rows), "y": rng.integers(0, 1000, rows)}
    job = Job(
        {name: Column(0, 1000) for name in values},
        {"sum": "sum(x)", "product": "sum(x*y)", "square": "sum(x*x)"},
    )
    marks = [time.process_time()]
    keys = make_keys(job, rows)
    marks.append(time.process_time())
    request, receipt = make_request(job, keys, values)
    marks.append(time.process_time())
    response = evaluate_request(request)
    marks.append(time.process_time())
    found = open_response(job, keys, receipt, response, values).results
    marks.append(time.process_time())
    x, y = (values[name].astype(object) for name in "xy")
    assert list(found.values()) == [int(x.sum()), int((x * y).sum()), int((x * x).sum())]
    steps = np.diff(marks)
    names = ("keys", "encrypt", "evaluate", "verify")
    return {
        **dict(zip(names, steps.tolist(), strict=True)),
        "request MB": len(request) / 1e6,
        "response MB": len(response) / 1e6,
    }


def main() -> None:
    """Print a row per size."""
    for rows in SIZES:
        found = measure(rows)
        owner = found["keys"] + found["encrypt"] + found["verify"]
        print(f"{rows:>8} rows: owner {owner:.2f} s, handler {found['evaluate']:.2f} s  "
              + ", ".join(f"{name} {value:.2f}" for name, value in found.items()))  # fmt: skip


if __name__ == "__main__":
    main()
