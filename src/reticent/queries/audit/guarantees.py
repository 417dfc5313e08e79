# SPDX-License-Identifier: Apache-2.0
"""What the modes that answer exactly promise."""

from reticent.queries.guarantee import ModeGuarantee

EXACT = ModeGuarantee(
    "Answers are exact. What follows holds for the arithmetic attacker, from all answers to all users together; not for the "
    "transparent attacker, because refusals depend on values. A class is a set of records that all answers treat "
    "in the same way.",
    (
        "Few respondents: no combination of answers, with any factors, rests on fewer respondents than the minimum, so that "
        "(with a minimum of 3 or more) nobody who has one or several records among them computes another. What a search cannot "
        "decide within its steps is refused.",
        "Dominance and p percent: no total that is dominated or breaks the p percent rule follows by linear algebra, if it is "
        "the total of a class, of a union of up to `unions` classes (two, if the policy does not say), of a cell of a table of "
        "up to `dimension` filters (three, if the policy does not say) or of a named family, or an answered total that did not "
        "follow from earlier answers less its answered parts.",
        "Known bounds: with the bounds that the policy calls known, and the bins of a response that is a filter with cutpoints, "
        "neither sums nor sums of squares fix a value or narrow an unsafe class below its interval; nor do they fix one for "
        "somebody who also uses their own values (in whole numbers while there are at most 40 classes, and not where records "
        "stay in an engine).",
        "Products: sums of products are judged as the sums over values that they are. No combination of plain sums of a response "
        "and of its products with others, split by the values of these, rests on fewer respondents than the minimum, and no "
        "combination of sums of squares on records of which all, or all but one respondent's, have one value. Of the products "
        "of one response with all that an equation for most records connects, at least one is refused.",
        "Regressions: coefficients are rounded so far that they reveal only such sums.",
        "Whole values: what they spell out is counted in bits, each value from the least to the greatest equally likely. Of "
        "every set of classes with too few respondents that a search finds, sums (also with public weights) and sums of squares "
        "reveal at most half of the bits; while there are few classes (of few whole values, or beside sums of squares), each "
        "such class has a second total that fits.",
    ),
    (
        "other unions of classes for dominance and the p percent rule (also of products)",
        "what squares of two responses that lie on one line for some records only, and the product of both, reveal together",
        "sums of squares whose values are equal in each of several classes but differ between these",
        "insiders who know more than their own records",
        "what sums and sums of squares fix only together, for more than 40 classes, in classes whose values lie 2^30 steps apart "
        "or where records stay in an engine",
        "sums at their least or greatest where no bounds are declared",
        "bits that sums of products of two responses reveal",
        "equations that hold only for most records, if fewer than half follow them of those who have all their responses, of one "
        "response and numeric filters, of more than four variables (responses and numeric filters), of three of more than eight, "
        "of four of more than six, of a product of two responses (or a square) and one of more than eight responses or two of "
        "more than four, or in a data set of several versions",
        "equations between different records of one respondent, other than that they have one value of one response or of two "
        "(the income of a household is the sum of what its members earn), or in a data set of several versions if it is of two",
        "values of several records that some of these lack, where tied responses tell them",
        "values of few kinds that the records of one respondent have in common hardly more often than by chance",
        "values that different respondents share",
        "responses that are products of three or other curves of others, unless they are so for all records and named as `tied`; "
        "and what the sum of a response that is a product of two others reveals with plain sums of these alone",
        "lines between two responses that have two values each, and other lines through two points that chance may make",
    ),
)
SIMULATABLE = ModeGuarantee(
    "Answers are exact. What follows holds for the arithmetic attacker and for the transparent attacker, who can compute every "
    "refusal, from all answers to all users together.",
    (
        "Few respondents: no combination of answers, with any factors, rests on fewer respondents than the minimum, so that "
        "(with a minimum of 3 or more) nobody among them computes another, whatever equation ties responses for all records, or "
        'for some and not for the others (with `ties = "all"`: for all; with `ties = "declared"`: those that the policy names, '
        "for all), and whichever records of a respondent have one value.",
        "Refusals: a refusal or an error depends only on which records the queries so far select, never on a response's value, "
        "however large, small or fine it is. Ratios, correlations and regressions are not answered.",
        "Whole values: what they spell out is counted in bits, each value that the declared bounds allow equally likely (without "
        "bounds: 0 and 1). Of every set of classes with too few respondents that a search finds, at most half of the bits are "
        "revealed.",
    ),
    (
        "dominance, the p percent rule and known bounds",
        "groups whose values are all the same",
        "sums, or sums less others, at their least or greatest",
        "other equations between different records of one respondent, and values that different respondents share",
        "several equations at once that are chosen so that sums over different records cancel out by both (those of both over "
        "the same records are judged, whatever the rates)",
        "responses that are squares, products or other curves of others",
    ),
)
