# SPDX-License-Identifier: Apache-2.0
"""Protect the shared log with and without the guard and write docs/explanation/query-logs.md.

python scripts/make_querylog_page.py      (needs ../shared, or RETICENT_SHARED)
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.base.randomness import as_secret  # noqa: E402
from reticent.io.query_log import read_query_log  # noqa: E402
from reticent.io.taxonomy import read_taxonomy  # noqa: E402
from reticent.querylogs.protect import LogOptions, LogResult, protect_log  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "query-logs.md"
DATA = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data"


def _shares(values: tuple[float, ...]) -> str:
    return " / ".join(f"{100 * value:.1f}" for value in values)


def _row(found: LogResult, label: str) -> str:
    cells = (
        str(found.options.k), label, _shares(found.remaining), _shares(found.remaining_random),
        f"{100 / found.options.k:.0f}", f"{1 - found.dropped / found.rows:.0%}", str(found.users_left_out),
        str(found.risk.own_queries), f"{found.risk.linked_before:.2f} → {found.risk.linked_person:.2f}",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def table() -> str:
    """One row per k and guard."""
    log = read_query_log(
        DATA / "querylog" / "synthetic_querylog_1000users.csv", user="AnonID", query="Query", category="CategoryID"
    )
    tree = read_taxonomy(DATA / "taxonomy" / "iab_content_taxonomy_3.1.tsv", "iab")
    secret = as_secret(bytes(range(32)))
    lines = ["| k | guard | remaining, levels 1 / 2 / 3 (%) | random clusters | worst case | rows kept | users left out "
             "| users with a query of their own | right person found |", "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for k in (2, 3, 5):
        for guard, rare in ((1, "drop"), (3, "drop"), (3, "generalise")):
            found = protect_log(log, tree, options=LogOptions(k=k, guard=guard, rare=rare), secret=secret)
            lines.append(_row(found, "off" if guard == 1 else f"3, {rare}"))
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    return f"""# Query logs: who asked, and what was asked

The method is semantic microaggregation (Erola and others, SORT 35, 2011): users who ask about the same things become one
pseudo-user, whose queries are a sample of theirs. A *guard* withholds queries that fewer users made than it says. The
[tutorial](../tutorials/query-log.md) shows how to protect a log.

The table is made by `python scripts/make_querylog_page.py` from a synthetic log of 1,000 users and 20,527 queries,
classified by the IAB content taxonomy. *Remaining* is how much of the users' interests is kept at three levels of the
taxonomy: with clusters of similar users, with random clusters, and in the worst case (users who have nothing in common).
*Users with a query of their own* are published with a query that nobody else made. *Right person found* is how often
somebody who knows half of a user's queries finds the user, in the original log with numbers for names → in the
published one.

{table()}

## What is promised

Against somebody who has the published log, the code and everything else except the original log and the secret:

- Every pseudo-user stands for at least `k` users. The release does not show which of them asked a given query.
- No query is published that fewer than `guard` users made (3 by default), after direct identifiers were taken out. A
  rare query is dropped, or replaced by the deepest category that at least `guard` users share.
- A month or day is published only if at least `guard` users asked the same query then.

**The method of the source protects users, not content.** Without the guard hundreds of users of this log are published with a
query that only they made: k-anonymity of pseudo-users does not hide it. So the guard is on unless it is switched off.

## What is not promised

- Names and numbers that no pattern and no list knows stay in a query that enough users made. Patterns find e-mail
  addresses (also spelled out, as in "at … dot com"), telephone, account, card and other long numbers, codes of letters
  and digits, IP addresses, dates, streets with a number, positions, handles and profiles of networks. Names are those
  of the list, in any case and with or without accents, together with what belongs to a name: initials, "van der", the
  word after it. In scripts without spaces a listed name is also found inside a word. A surname alone stays.
- Somebody who knows half of a user's queries finds the right person about as often as the last column says, and the
  right pseudo-user about `k` times as often. They also learn what the group asked about.
- Two releases of the same log with other parameters, or of logs that overlap, are two samples with separate draws,
  also under the same secret; each keeps the promises, together they show more queries. Where the logs differ by one
  user, what changes between the releases may be that user's. Many pseudo-users change with one user, so the difference
  names nobody by itself, but it narrows what the user asked. A user who gives nothing to the release changes nothing,
  and under one secret that shows: both releases are equal.
- Users of one cluster who combine their own queries know that the rest of their pseudo-user's queries are the
  others'. Where one user of a cluster asks far more than the others, most of its queries are that user's.

## How it works

Queries are classified by the longest terms of a taxonomy that are in them (or by the log's own categories); the
levels that half of the queries reach are used, at least the first three. Similarity of two users is the number of
shared queries per category, added up over levels. The most similar pair starts a cluster, and the user closest to the
cluster as a whole joins it until there are `k`; the remaining users join the last cluster. Above 2,000 users the log is
sorted by main interest and cut into blocks, so that cost grows linearly. Each user gives a share of the queries, the most
repeated first, until the quota is reached; where fractions do not reach it, the remaining queries fill it.

`python -m benchmarks.querylog_scale` (processor time while other jobs ran beside it, with scrubbing): 1,000 users
0.5 s; 10,000 users (0.5 million rows) 3.3 s; 100,000 users (5.4 million rows) 28 s with a peak of 0.9 GB.
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
