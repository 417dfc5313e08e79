# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.querylog_scale [USERS …]`: a generated log of many users, protected; processor time, memory, growth."""

import resource
import sys
import time

import numpy as np

from reticent.base.randomness import as_secret
from reticent.querylogs.log import QueryLog
from reticent.querylogs.protect import LogOptions, protect_log
from reticent.querylogs.scrub import Scrubber
from reticent.querylogs.taxonomy import Taxonomy, make_taxonomy

ROWS_PER_USER = 54
USERS = (1_000, 10_000, 100_000)


def taxonomy() -> Taxonomy:
    """24 roots, 8 categories below each, 5 below these; a term for each."""
    rows: list[tuple[str, str, str, list[str]]] = []
    for a in range(24):
        rows.append((f"{a}", "", f"topic{a}", [f"topic{a}"]))
        for b in range(8):
            rows.append((f"{a}.{b}", f"{a}", f"field{a}x{b}", [f"field{a}x{b}"]))
            rows += [(f"{a}.{b}.{c}", f"{a}.{b}", f"theme{a}x{b}x{c}", [f"theme{a}x{b}x{c}"]) for c in range(5)]
    return make_taxonomy(rows, owner="generated")


def generated_log(users: int, tree: Taxonomy, seed: int = 1) -> QueryLog:
    """Each user has a few favourite categories (Zipf) and asks popular and less popular questions about them."""
    rng = np.random.default_rng(seed)
    leaves = np.array([at for at, name in enumerate(tree.names) if name.startswith(("field", "theme"))])
    shares = 1 / np.arange(1, len(leaves) + 1) ** 0.8
    shares /= shares.sum()
    favourites = leaves[rng.choice(len(leaves), size=(users, 5), p=shares)]
    sizes = np.maximum(3, rng.lognormal(np.log(ROWS_PER_USER) - 0.5, 1.0, size=users)).astype(np.int64)
    who = np.repeat(np.arange(users), sizes)
    category = favourites[who, np.minimum(rng.geometric(0.4, size=len(who)) - 1, 4)]
    question = np.minimum(rng.zipf(1.4, size=len(who)), 300)
    key = category.astype(np.int64) * 301 + question
    present, queries = np.unique(key, return_inverse=True)
    texts = tuple(f"{tree.names[k // 301]} question {k % 301}" for k in present.tolist())
    return QueryLog(who.astype(np.int32), queries.astype(np.int32), users, texts)


def main() -> None:
    """Print a row per size; scrubbing is on, and every generated query has a digit, so none of them is skipped."""
    tree = taxonomy()
    scrubber = Scrubber(names=frozenset({"anna", "maria", "john", "peter"}))
    warm = as_secret(b"warm up".ljust(32, b"."))
    protect_log(generated_log(300, tree), tree, options=LogOptions(), secret=warm, scrubber=scrubber)
    for users in [int(word) for word in sys.argv[1:]] or USERS:
        log = generated_log(users, tree)
        for k in (3, 5):
            start = time.process_time()
            secret = as_secret(bytes(range(32)))
            found = protect_log(log, tree, options=LogOptions(k=k), secret=secret, scrubber=scrubber)
            seconds = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            shares = "/".join(f"{share:.1%}" for share in found.remaining)
            random = "/".join(f"{share:.1%}" for share in found.remaining_random)
            print(f"{users} users, {log.n_rows} rows, k = {k}: {seconds:.1f} s, peak {peak:.2f} GB; remaining {shares} "
                  f"(random {random}), rows kept {1 - found.dropped / found.rows:.1%}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
