# SPDX-License-Identifier: Apache-2.0
"""The list of loss measures: name, words, formula, source. One place, read by reports and the manual."""

from reticent.microdata.loss.measure import Definition

_ALL = (
    Definition(
        "il1s",
        "mean distance of values in units of √2 standard deviations",
        "1/(np) Σ|x−y|/(√2 s)",
        "Yancey, Winkler and Creecy 2002",
    ),
    Definition("il1s-sum", "the same, summed over all values", "Σ|x−y|/(√2 s)", "sdcMicro dUtility IL1s"),
    Definition(
        "il1-percent",
        "sum of relative differences in percent, values of 0 left out",
        "Σ 100|x−y|/|x|",
        "sdcMicro dUtility IL1",
    ),
    Definition("squares-share", "within over total sum of squares, standardised", "SSE/SST", "EUSTAT, equation (1)"),
    Definition(
        "variables",
        "mean distance of values: 0/1 nominal, rank distance ordinal, (2/π)arctan|x−y| numeric",
        "mean d(x,y)",
        "Młodak 2020; sdcMicro IL_variables",
        1.0,
    ),
    Definition(
        "means", "change of means in standard deviations", "mean |x̄−ȳ|/s", "Domingo-Ferrer and Torra 2001, scaled by s"
    ),
    Definition("variances", "relative change of variances", "mean |s²−s'²|/s²", "Domingo-Ferrer and Torra 2001"),
    Definition(
        "covariances",
        "change of covariances over s_i·s_j",
        "mean |c−c'|/(s_i s_j)",
        "Domingo-Ferrer and Torra 2001, scaled",
    ),
    Definition("correlations", "change of correlations", "mean |r−r'|", "Domingo-Ferrer and Torra 2001", 2.0),
    Definition("quantiles", "change of seven quantiles in standard deviations", "mean |q−q'|/s", "usual"),
    Definition(
        "eigenvalues", "relative change of the correlation matrix's eigenvalues", "Σ|e−e'|/e", "sdcMicro dUtility eigen"
    ),
    Definition(
        "inverse-correlations",
        "distance of the diagonals of the inverse correlation matrices",
        "‖a/‖a‖−b/‖b‖‖/√2",
        "Młodak 2020; sdcMicro IL_correl",
        1.0,
    ),
    Definition(
        "first-regression",
        "sum of coefficient differences, first variable on the others",
        "Σ|b−b'|",
        "sdcMicro summary adlm",
    ),
    Definition("totals", "relative change of weighted totals", "mean |T−T'|/Σw|x|", "usual"),
    Definition(
        "hellinger", "mean Hellinger distance of the tables", "√(½Σ(√p−√q)²)", "spec M6; Shlomo and Young 2006", 1.0
    ),
    Definition(
        "jensen-shannon",
        "mean Jensen–Shannon divergence of the tables in bits",
        "½D(p‖m)+½D(q‖m)",
        "synthpop utility.tab JSD",
        1.0,
    ),
    Definition(
        "cramers-v", "mean change of Cramér's V of two-way tables", "mean |V−V'|", "spec M6; Shlomo and Young 2006", 1.0
    ),
    Definition("table-absolute", "sum of absolute differences of table cells", "Σ|a−b|", "sdcMicro infoLoss absD"),
    Definition(
        "table-relative", "mean relative difference of table cells", "mean |a−b|/a", "sdcMicro infoLoss relabsD"
    ),
    Definition("table-roots", "sum of differences of root counts", "Σ|√a−√b|", "sdcMicro infoLoss abssqrtD"),
    Definition(
        "table-pmse",
        "mean propensity error of the saturated model of the tables",
        "VW·c(1−c)²/N",
        "synthpop utility.tab",
        0.25,
    ),
    Definition(
        "entropy",
        "bits per record of the true code that the masked one leaves open, summed over variables",
        "H(V|V')",
        "de Waal and Willenborg 1999",
    ),
    Definition(
        "entropy-share",
        "the same as a share of what there was, mean over variables",
        "H(V|V')/H(V)",
        "de Waal and Willenborg 1999",
        1.0,
    ),
    Definition("suppressions", "values that became missing", "count", "EUSTAT"),
    Definition("suppression-share", "share of present values that became missing", "count/values", "usual", 1.0),
    Definition(
        "suppression-cost", "values that became missing, each at its variable's priority", "Σ priority", "spec M3"
    ),
    Definition("records-lost", "share of the records that the masked file no longer has", "1−n'/n", "usual", 1.0),
    Definition("dropped-share", "share of the variables that the masked file no longer has", "1−q'/q", "usual", 1.0),
    Definition("pmse", "propensity mean squared error, logistic regression", "Σ(p−c)²/N", "Woo et al. 2009", 0.25),
    Definition(
        "s-pmse",
        "the same over its expectation for synthesis from the right model (then 1; a new sample has 1/(1−c))",
        "pMSE/[(k−1)(1−c)²c/N]",
        "Snoke et al. 2018",
    ),
    Definition("specks", "largest distance of the score distributions", "max|F−F'|", "Bowen et al. 2021", 1.0),
    Definition("po50", "percent above half that a model tells apart", "% right − 50", "synthpop utility.gen", 50.0),
    Definition(
        "tree-pmse", "propensity mean squared error, classification tree", "Σ(p−c)²/N", "Snoke et al. 2018", 0.25
    ),
    Definition("tree-s-pmse", "the same over its mean for exchanged records", "pMSE/mean pMSE", "Snoke et al. 2018"),
    Definition(
        "regression-overlap", "1 − mean overlap of the coefficients' confidence intervals", "1−J", "Karr et al. 2006"
    ),
    Definition(
        "regression-difference", "mean coefficient change in standard errors", "mean |b−b'|/se", "synthpop compare"
    ),
    Definition(
        "classification",
        "relative drop of classification accuracy when trained on the masked file",
        "max(0,(A−A')/A)",
        "ARX; own naive Bayes",
        1.0,
    ),
)

DEFINITIONS = {definition.name: definition for definition in _ALL}
"""All measures by name."""
