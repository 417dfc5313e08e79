# SPDX-License-Identifier: Apache-2.0
"""Compute the worked examples and the attack tables of the analysis mode and write docs/explanation/analysis-server.md.

python scripts/make_analysis_page.py [number of secrets]
"""

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.base.randomness import as_secret  # noqa: E402
from reticent.queries.analysis.cutpoints import (  # noqa: E402
    fixed_width,
    increasing_width,
    minimum_width,
    partitioned,
)
from reticent.queries.analysis.drop_q import disclosure_bounds, disclosure_probability, kept_rows  # noqa: E402
from reticent.queries.analysis.regression import RegressionRules  # noqa: E402
from reticent.queries.attacks.catalogue import run_attack  # noqa: E402
from reticent.queries.attacks.regression import Sweep, generated_firms, sweep_dummy, sweep_outlier  # noqa: E402
from reticent.queries.attacks.risk_tables import RiskRow, table_1, table_2, table_3  # noqa: E402
from reticent.queries.attacks.scenario import Scenario, establishments  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "analysis-server.md"
DATA = (1, 1, 2, 2, 4, 4, 5, 6)
SIZES = (391, 293, 196, 98)
PAIRS = 20_000
RULES = RegressionRules(least=10, r_squared=0.99, leverage=0.5)
CHANCE = ("collusion", "averaging", "padding", "insider", "version differencing", "covariance")
# share uniquely identified in tables 1 and 2 of the source, for comparison
SOURCE = {"size": (0.034, 0.066, 0.134, 0.335, 0.969), "size * fed. state": (0.159, 0.312, 0.596, 0.872, 1.0)}


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, words: int = 1) -> str:
    """A Markdown table; columns after the first `words` are numbers."""
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * words + "---:|" * (len(names) - words)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def cutpoint_table() -> str:
    """The bins of the worked example."""
    ways = {
        "fixed width": fixed_width(DATA, 2),
        "minimum width": minimum_width(DATA, 2),
        "increasing width": increasing_width(DATA, 2),
        "partitioned": partitioned(DATA, 2).leaves(),
    }
    rows = []
    for name, bins in ways.items():
        texts = [f"{b.low:g}–{b.high:g}" for b in bins]
        rows.append([name, *texts, *["–"] * (4 - len(texts))])
    return table(["method", "bin 1", "bin 2", "bin 3", "bin 4"], rows, words=5)


def xi_table() -> str:
    """ξ of (5), its bounds (6), and how often two universes that differ by one record really lose the same."""
    shares = np.array(SIZES) / sum(SIZES)
    rows = []
    for k in range(3, 8):
        low, high = disclosure_bounds(len(SIZES), k)
        found = disclosure_probability(shares.tolist(), k)
        rows.append([str(k), f"{low:.4f}", f"{found:.4f}", f"{high:.4f}", f"{simulated(k):.4f}"])
    return table(["k", "lower bound", "ξ", "upper bound", f"dropped alike, {PAIRS:,} pairs"], rows)


def simulated(k: int) -> float:
    """The mode's own dropping, with another secret for each pair."""
    cell = np.repeat(np.arange(len(SIZES)), SIZES)
    ids, stratum = np.arange(len(cell), dtype=np.uint64), np.zeros(len(cell), dtype=np.int64)
    whole = np.arange(len(cell))
    without = whole[1:]
    alike = 0
    for number in range(PAIRS):
        secret = as_secret(1000 * number + k)
        lost = []
        for rows in (whole, without):
            kept = kept_rows(rows, ids, stratum, most=k, secret=secret)
            lost.append(np.bincount(cell[rows], minlength=4) - np.bincount(cell[kept], minlength=4))
        alike += bool((lost[0] == lost[1]).all())
    return alike / PAIRS


def number(value: float | None) -> str:
    """Short."""
    return "–" if value is None else f"{value:.3g}" if value < 0.001 and value else f"{value:.3f}"


def outlier_table(rows: list[RiskRow]) -> str:
    """Table 1 or 2."""
    lines = []
    for row, printed in zip(rows, SOURCE[rows[0].indicators]):
        label = "all" if row.quantile is None else f"{row.quantile:g}"
        lines.append(
            [
                label,
                f"{row.n:,}",
                f"{row.unique:.3f}",
                number(row.error_all),
                number(row.error_unique),
                f"{printed:.3f}",
            ]
        )
    head = [
        "quantile",
        "N",
        "share uniquely identified",
        "Δ all records",
        "Δ uniquely identified",
        "prop. in the source",
    ]
    return table(head, lines)


def dummy_table(rows: list[RiskRow]) -> str:
    """Table 3."""
    lines, last = [], "nothing"
    for row in rows:
        label = "all" if row.quantile is None else f"{row.quantile:g}"
        first = [label, f"{row.n:,}"] if label != last else ["", ""]
        lines.append([*first, row.indicators, f"{row.unique:.4f}", number(row.error_all), number(row.error_unique)])
        last = label
    head = ["quantile", "N", "indicators", "share uniquely identified", "Δ all records", "Δ uniquely identified"]
    return table(head, lines, words=3)


def sweep_table(lines: list[Sweep], first: str) -> str:
    """A sweep: open, and under the rules of the mode."""
    rows = []
    for line in lines:
        known = f"{100 * line.knowledge:g} %"
        label = known if not line.epsilon else f"ε = {line.epsilon:g}, {known}"
        weight = "–" if line.own_weight is None else f"{line.own_weight:.2f}"
        rows.append(
            [label, f"{line.open_error:.5f}", f"{100 * line.refused:.0f} %", number(line.protected_error), weight]
        )
    head = [first, "open: mean relative error", "refused by the rules", "answered: median error", "largest own weight"]
    return table(head, rows)


def chance_table(scenarios: dict[str, Scenario], secrets: int) -> str:
    """How often attacks come within 1 % over many secrets, and the median error."""
    rows = []
    for attack in CHANCE:
        row = [attack]
        for scenario in scenarios.values():
            found = [run_attack(attack, scenario, secret=secret) for secret in range(secrets)]
            errors = [f.recovered_error for f in found if f.recovered_error is not None]
            row += [f"{sum(f.succeeded for f in found)}", f"{np.median(errors):.3f}" if errors else "–"]
        rows.append(row)
    head = ["attack"]
    for label in scenarios:
        head += [f"{label}: within 1 %", "median error"]
    return table(head, rows)


def page(secrets: int) -> str:
    """The whole page."""
    scenario = establishments(mode="analysis", own_codes=False)
    plain = {"analysis": {"strata": ["region"], "blur": 0.0}}
    scenarios = {
        "dropping only": replace(scenario, policy=replace(scenario.policy, dominance=(), options=plain)),
        "with dominance rule": replace(scenario, policy=replace(scenario.policy, options=plain)),
        "with factors too (default)": scenario,
    }
    firms, unique = generated_firms(12_814), generated_firms(800, unique_sizes=True)
    epsilons, off = (1.0, 1e-2, 1e-4, 1e-6), (0.0, 0.001, 0.01, 0.05)
    parts = [
        "# The analysis mode\n\nThis page is written by `scripts/make_analysis_page.py`; do not edit it. The mode "
        "follows the Microdata Analysis System of the U.S. Census Bureau (Lucero and others, SORT 35, 2011), with "
        "the changes described here. It answers statistics of a *universe*, the records that a condition selects, "
        "and computes each answer without a few records of it. This page shows how numbers become filters "
        "(cutpoints), which universes are allowed, what dropping and its companions achieve, and what regressions "
        "reveal. [Queries](../how-to/queries.md) explains how to use the mode.",
        "## Cutpoints\n\nA number can be a filter only in bins that are cut beforehand. The bins of 1, 1, 2, 2, 4, "
        "4, 5, 6 with at least two values in each:",
        cutpoint_table(),
        "## Universes\n\nA universe is judged by its records, however it is written. First the filters that it "
        "depends on are found: beginning with those that have most codes, filters are left out as long as the "
        "others still determine who belongs to it. On these the rule *No Marginal 1 or 2* is tested: in the table "
        "of m filters, no margin over m − 1 of them may have 1 or 2 records. The pieces of a universe are the "
        "largest simple universes (a choice of codes for each filter) that fit into it; each must have enough "
        "records, and so must every non-empty intersection. So all spellings of a set get the same verdict.",
        "## Dropping\n\nξ is the probability that two universes that differ by one record lose the same from every "
        "cell of a table (here 978 records in four cells), when 2 to k records are dropped. Beside it are its "
        "bounds, and how often the mode's own dropping does so:",
        xi_table(),
        "Records are dropped by strata, combinations of some filters. Each stratum has its own draw, which depends "
        "on the records that the universe has in it. An attacker can add other records, *pads*, to both universes "
        "of a pair; pads from other strata change nothing. Pads from the target's own stratum make another "
        "universe with another draw, and many of them average the dropped records out. Therefore every "
        "respondent's values carry a factor 1 + e, |e| between half of `blur` and `blur` (0.1 by default), drawn "
        "once for each respondent and response, the same in every universe and version: what averaging comes to is "
        "the value with its factor. Values that hold more of Σ|y| or Σy² than the policy's dominance and p percent "
        "rules allow are limited to what they allow (and to `reach` times the mean, if that is set). No sum or "
        "variance is refused for this reason, so no refusal reveals that somebody is large. Answers other "
        "than counts are rounded to a tenth of their standard error.\n\nAttacks on a firm "
        f"that holds 27 % of Σy² and is the only one in its region, industry and size, over {secrets} secrets:",
        chance_table(scenarios, secrets),
        "A single pair of universes (collusion) has the step to which sums are rounded, about a tenth of this firm's value. "
        "Averaging and repeating give the same pair again. Padding averages dropping and rounding out and comes to the value "
        "with its factor; it comes near by chance, and the attacker cannot know when.",
        "## Regression attacks\n\nWhoever may transform predictors needs no rare code (Ronning and others, SORT 35, 2011). With "
        "z = 1/(|x − x̂| + ε) the target (size x̂) is an outlier that pulls the line through its own value; an indicator of "
        "everything known about the target does the same exactly. Tables 1 to 3 have the rows and columns of the source, "
        "computed on as many generated establishments on an *open* regression: quantile of the size above which targets lie, "
        "their number, the share uniquely identified, and Δ, the mean relative error, of all and of those.",
        "Table 1. Artificial outliers from the establishment size, ε = 0.0001:",
        outlier_table(table_1(firms)),
        "Table 2. Artificial outliers from the interaction of size and federal state:",
        outlier_table(table_2(firms)),
        "Table 3. Strategic dummies (approx. size: within ± 2.5 %):",
        dummy_table(table_3(firms)),
        "In this mode (and all others) a query can transform numbers by square, root and logarithm only, so neither variable "
        "can be asked for. Should the data hold such a variable, the rules of the mode refuse the model, absorb the indicator, "
        "or leave the target less than half of the weight in what is answered about it. The outlier over ε and the error of the "
        "known size, 800 firms with different sizes:",
        sweep_table(sweep_outlier(unique, RULES, epsilons=epsilons, knowledge=off), "ε, size known within"),
        "The strategic dummy, all codes known, over the width of the known size, 2,000 firms:",
        sweep_table(sweep_dummy(generated_firms(2000), RULES, widths=(0.0, 0.025, 0.1, 0.2, 0.5)), "size known within"),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(int(sys.argv[1]) if len(sys.argv) > 1 else 100), encoding="utf-8")
