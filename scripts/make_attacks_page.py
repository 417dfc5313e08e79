# SPDX-License-Identifier: Apache-2.0
"""Run all attacks against all modes on generated establishments and write docs/explanation/attacks.md.

python scripts/make_attacks_page.py
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.queries.attacks.catalogue import ATTACKS, AttackReport, Finding, run_attack, run_catalogue  # noqa: E402
from reticent.queries.attacks.coverage import NOT_COVERED  # noqa: E402
from reticent.queries.attacks.scenario import establishments  # noqa: E402
from reticent.queries.modes import MODES  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "attacks.md"
SECRETS = 24
NOISE_CHANCE = (
    "averaging", "collusion", "insider", "tracker", "version differencing", "padding", "differencing at depth",
    "linear reconstruction", "error oracle",
)  # fmt: skip
WHAT = {
    "tracker": "four sums around the target: q(C ∨ T) + q(C ∨ ¬T) − q(T) − q(¬T)",
    "differencing at depth": "twenty random unions of cells, of which the target is a rational combination",
    "averaging": "the sums of all and of all except the target, asked repeatedly and in many spellings, then averaged",
    "padding": "the same two sums, each taken together with many other groups (pads), then averaged",
    "syntactic variants": "47 spellings of one record set; it succeeds if one of them has another answer or verdict",
    "linear reconstruction": "forty random subset sums of sixteen firms, and a linear program",
    "regression outlier": "a regression on a number in which the target is far out",
    "strategic dummy": "a regression on a code that only the target has",
    "saturated model": "a regression on codes in a small universe: fitted values are cell means",
    "covariance": "mean and variance of two records, directly or as differences",
    "encoding": "quantiles at many shares and the maximum spell out the ordered values",
    "error oracle": "asks about a code that one firm has and about one that nobody has; different replies reveal "
    "that the code exists",
    "weights fingerprint": "equality with a number that is different for everybody",
    "insider": "the sum of a pair less one's own value",
    "collusion": "two users with one harmless question each",
    "version differencing": "the same sums of two versions of the data, without and with the target",
    "denial leaks": "compares the refusals of two databases that differ only in the target's value",
}


def cell(finding: Finding) -> str:
    """One cell of the table attack × mode."""
    star = "" if finding.covered or finding.mode == "open" else " \\*"
    word = "**succeeded**" if finding.succeeded else finding.verdict
    return f"{word} ({finding.queries}){star}"


def catalogue_rows(report: AttackReport) -> list[str]:
    """The table attack × mode."""
    rows = ["| attack | " + " | ".join(MODES) + " |", "|---|" + "---|" * len(MODES)]
    for attack in ATTACKS:
        rows.append(f"| {attack} | " + " | ".join(cell(report.finding(attack, mode)) for mode in MODES) + " |")
    return rows


def chance_rows(mode: str, attacks: tuple[str, ...]) -> list[str]:
    """How often attacks on a mode succeed over many secrets."""
    scenario = establishments(mode=mode)
    rows = ["| attack | succeeded | median relative error |", "|---|---:|---:|"]
    for attack in attacks:
        found = [run_attack(attack, scenario, secret=secret) for secret in range(SECRETS)]
        errors = [f.recovered_error for f in found if f.recovered_error is not None]
        middle = f"{np.median(errors):.3f}" if errors else "–"
        rows.append(f"| {attack} | {sum(f.succeeded for f in found)} of {SECRETS} | {middle} |")
    return rows


def page() -> str:
    """The whole page."""
    report = run_catalogue(establishments(), modes=MODES)
    why = [f"- **{attack}, {mode}**: {reason}." for (attack, mode), reason in NOT_COVERED.items()]
    parts = [
        "# What attackers get\n\nThis page is written by `scripts/make_attacks_page.py` from a run; do not edit it. "
        "It shows what known attacks on query databases achieve in each "
        "[mode](../how-to/queries.md#what-the-modes-guarantee). `reticent attack` runs the same catalogue, "
        "`reticent attack DATABASE.toml` runs it against copies of your own database in its mode, and in the open "
        "mode (everything answered exactly) to show that each attack has power.\n\nThe data are 400 generated "
        "firms. The attacker knows all filters of all firms; the target is the only one in its region, industry and "
        "size class, has a licence and a permit of its own, and is the largest firm of its region. An attack "
        "succeeds if every value that it leaves possible is within 1 % of the target's, or, for attacks on refusals "
        "and messages, if what must look the same does not. In brackets: the number of queries; \\*: the mode does "
        "not promise that this attack fails.",
        "## Attack × mode",
        "\n".join(catalogue_rows(report)),
        "What each attack does:",
        "\n".join(f"- **{attack}**: {what}." for attack, what in WHAT.items()),
        "## What is not promised",
        "\n".join(why),
        "In the modes exact and simulatable the existence of a code can be seen from whether *all but that code* is "
        'answered: which records a condition selects is declared public. With `history = "user"` users are judged separately, '
        "and collusion is not covered.",
        "## Chance in the analysis mode\n\nIn the table above the target's own codes make all sets that reveal "
        "anything about it too small. What attackers get where only the combination of three filters singles it "
        "out, over many secrets, and what they get by regressions, is on the page [The analysis "
        "mode](analysis-server.md). For magnitudes of which single firms hold much, `exact` with a dominance rule "
        "and `camouflage` promise more.",
        "## Chance in the cell-key mode\n\nHere sums carry noise with a standard deviation of 35 % of their largest contribution "
        "(`small = 0.2`, variance 3), and counts change by at most 5. Repeating a question gains nothing: averaging gets "
        "exactly what a single pair of questions gets. Different sets have independent noise, so attacks that combine many "
        f"of them come nearer. Over {SECRETS} secrets:",
        "\n".join(chance_rows("cell-key", NOISE_CHANCE)),
        "The mode keeps no account of what was asked; against somebody with many questions use `exact` or `camouflage`, or "
        "limit the questions (`[policy.limits] queries`).",
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
