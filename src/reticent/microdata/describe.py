# SPDX-License-Identifier: Apache-2.0
"""Describe data: guess what each variable is, and say for every guess that it is one, and why."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reticent.data.hierarchy import Hierarchy
from reticent.data.large import LargeFile
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.frames.frame import Frame
from reticent.frames.profile import Profile, constant_within, group_sizes, profile, profile_counted
from reticent.microdata.nested import nested_chains, tree_of_columns

FEW = 25  # distinct whole numbers up to here look like codes
LARGEST_HOUSEHOLD = 30
MOST_VALUES = 1_000_000  # different values of a variable in an engine up to which each is looked at

# words in names, in the languages that survey files come in; matched at the beginning of a part of the name
_WORDS: dict[Role, tuple[str, ...]] = {
    Role.WEIGHT: ("weight", "wgt", "wt", "peso", "gewicht", "poids", "factor", "samplingweight"),
    Role.HOUSEHOLD_ID: ("hid", "hhid", "idhh", "household", "hogar", "haushalt", "huishoud", "menage", "orihid", "dwelling"),
    Role.ENTITY: ("holding", "enterpriseid", "firmid", "companyid", "entity", "respondent", "personid"),
    Role.IDENTIFIER: ("id", "name", "surname", "firstname", "lastname", "forename", "ssn", "email", "phone", "telephone",
                      "address", "street", "passport", "nif", "dni", "iban", "taxnumber", "nombre", "apellido", "soc"),
    Role.SENSITIVE: ("income", "salary", "wage", "earning", "turnover", "profit", "debt", "asset", "saving", "expend",
                     "disease", "diagnos", "health", "illness", "religion", "relig", "politic", "benefit", "crime",
                     "ingreso", "salario", "einkommen", "inkomen", "revenu", "umsatz", "money", "tax", "capital"),
    Role.KEY: ("sex", "gender", "age", "birth", "dob", "region", "municip", "postcode", "zip", "county", "country",
               "province", "city", "town", "district", "nuts", "nation", "citizen", "ethni", "etni", "race", "marit",
               "marstat", "civil", "educ", "degree", "occup", "profes", "prof", "job", "isco", "nace", "isic", "industry",
               "activity", "relat", "urb", "edad", "sexo", "provincia", "nivel", "alter", "geschlecht", "leeftijd",
               "geslacht", "regio", "lang", "size", "agegr", "agecat", "edu", "placesize", "socprof", "hsize", "hhsize",
               "workclass", "urban", "rural", "urbrur", "hhcivil"),
}  # fmt: skip
# EU-SILC files name their variables by numbers
_NAMED = {"db030": Role.HOUSEHOLD_ID, "db040": Role.KEY, "rb090": Role.KEY, "pb220a": Role.KEY, "rb050": Role.WEIGHT,
          "db090": Role.WEIGHT, "rb030": Role.IDENTIFIER, "pb030": Role.IDENTIFIER}  # fmt: skip
_LEVELS = {1: ("region", "regio", "municip", "postcode", "zip", "county", "province", "provincia", "city", "town",
               "district", "nuts"), 2: ("sex", "gender", "age", "birth", "dob", "sexo", "edad", "country", "nation",
               "alter", "geschlecht", "leeftijd", "geslacht")}  # fmt: skip
_ORDERED = ("educ", "degree", "level", "nivel", "grade", "rank", "size", "class", "band", "group")


@dataclass(frozen=True)
class Guess:
    """One guessed fact of one variable, in words, with the reason."""

    variable: str
    fact: str
    value: str
    reason: str


@dataclass(frozen=True)
class Description:
    """A schema with every guess marked, how each column looks in counts, and what was repaired in reading."""

    schema: Schema
    guesses: tuple[Guess, ...]
    profiles: tuple[Profile, ...]
    notes: tuple[str, ...]
    samples: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<Description {len(self.schema.variables)} variables: {len(self.guesses)} guesses>"

    def summary(self) -> dict[str, Any]:
        """Roles, kinds, guesses and counts by variable, as plain data; values only where they were asked for."""
        return {
            variable.name: {
                "role": str(variable.role),
                "kind": str(variable.kind),
                "level": variable.level,
                "records": looks.n_records,
                "different": looks.n_distinct,
                "missing": looks.n_empty + looks.n_missing_codes,
                "guessed": {guess.fact: guess.reason for guess in self.reasons(variable.name)},
                **({"frequent": list(self.samples[variable.name])} if variable.name in self.samples else {}),
            }
            for variable, looks in zip(self.schema.variables, self.profiles, strict=True)
        }

    def reasons(self, name: str) -> tuple[Guess, ...]:
        """The guesses about one variable."""
        return tuple(guess for guess in self.guesses if guess.variable == name)


def describe_records(
    frame: Frame,
    schema: Schema,
    *,
    declared: bool,
    notes: tuple[str, ...] = (),
    profiles: tuple[Profile, ...] | None = None,
) -> Description:
    """Guess the open facts of each variable of a table; `profiles` are those of all records where the table is a part of them."""
    if profiles is None:
        profiles = tuple(profile(frame, variable.name, missing=variable.missing) for variable in schema.variables)
    guesses: list[Guess] = []
    variables = [
        _guess(variable, looks, guesses, declared) for variable, looks in zip(schema.variables, profiles, strict=True)
    ]
    variables = _one_of_each(variables, guesses)
    variables = _check_household(frame, variables, guesses)
    if not declared:
        variables = _nest(frame, variables, profiles, guesses)
    return Description(Schema(tuple(variables)), tuple(guesses), profiles, notes)


def profile_in_engine(file: LargeFile, block: Frame, variable: Variable) -> Profile:
    """What a column looks like, by its values in all records; where these are too many, their number and the look of a block."""
    name = variable.name
    text = file.view.connection.quote(name)
    facts = file.view.facts(present=f"COUNT({text})", different=f"COUNT(DISTINCT {text})")
    if facts["different"] <= MOST_VALUES:
        found = file.view.distinct(name)
        return profile_counted(found.frame, name, found.counts, missing=variable.missing)
    looks = profile(block, name, missing=variable.missing)
    return replace(
        looks, n_records=file.n_records, n_empty=file.n_records - facts["present"], n_distinct=facts["different"]
    )  # fmt: skip


def _guess(variable: Variable, looks: Profile, guesses: list[Guess], declared: bool) -> Variable:
    found: list[Guess] = []
    if not declared:
        variable = _guess_kind(variable, looks, found)
        variable = _guess_missing(variable, looks, found)
    if variable.role is Role.OTHER and variable.level == 0:
        variable = _guess_role(variable, looks, found, declared)
    if not declared:
        variable = _guess_digits(variable, looks, found)
    guesses.extend(found)
    return replace(variable, guessed=tuple(dict.fromkeys(guess.fact for guess in found)))


def _guess_kind(variable: Variable, looks: Profile, found: list[Guess]) -> Variable:
    if variable.codes and variable.labels:
        return variable  # the file has labels for it: its own kind counts
    name = variable.name
    if looks.n_present == 0:
        kind, reason = Kind.NOMINAL, "no record has a value"
    elif looks.leading_zeros:
        kind, reason = Kind.NOMINAL, "codes with leading zeros"
    elif looks.ranges:
        kind, reason = Kind.ORDINAL, "all values are ranges of numbers"
    elif not looks.is_number:
        ordered = _word(name, _ORDERED)
        kind = Kind.ORDINAL if ordered else Kind.NOMINAL
        reason = f"text, and the name has {ordered!r}" if ordered else f"text with {looks.n_distinct} different values"
    elif not looks.is_whole:
        kind, reason = Kind.NUMERIC, "numbers with decimals"
    elif looks.n_distinct <= FEW and not _word(name, ("age", "edad", *_WORDS[Role.WEIGHT], *_WORDS[Role.SENSITIVE])):
        ordered = _word(name, _ORDERED)
        kind = Kind.ORDINAL if ordered else Kind.NOMINAL
        reason = f"whole numbers, only {looks.n_distinct} different"
    else:
        kind, reason = Kind.NUMERIC, f"whole numbers, {looks.n_distinct} different"
    found.append(Guess(name, "kind", str(kind), reason))
    return replace(variable, kind=kind)


def _guess_missing(variable: Variable, looks: Profile, found: list[Guess]) -> Variable:
    if variable.missing or not looks.missing_codes:
        return variable
    codes = looks.missing_codes
    if variable.kind is Kind.NUMERIC:
        codes = tuple(dict.fromkeys(_number_code(code) for code in codes))
    many = f"{len(looks.missing_codes)} codes in {looks.n_missing_codes} records"
    found.append(Guess(variable.name, "missing", many, "they look like codes for 'not known'"))
    return replace(variable, missing=codes)


def _number_code(code: str) -> str:
    """The code of a number as it is usually written: "-8.0" is -8."""
    return code[:-2] if code.endswith(".0") else code


def _guess_role(variable: Variable, looks: Profile, found: list[Guess], declared: bool) -> Variable:
    role, reason = _role(variable, looks)
    if declared and role not in (Role.IDENTIFIER, Role.SENSITIVE):
        return variable
    if role is Role.OTHER:
        return variable
    facts: dict[str, object] = {"role": role}
    found.append(Guess(variable.name, "role", str(role), reason))
    if role is Role.WEIGHT:
        facts["missing"], facts["kind"] = (), Kind.NUMERIC
    if role in (Role.HOUSEHOLD_ID, Role.ENTITY, Role.IDENTIFIER) and not declared:
        facts["kind"], facts["missing"] = Kind.NOMINAL, ()
    if role is Role.KEY:
        level = next((level for level, words in _LEVELS.items() if _word(variable.name, words)), 3)
        facts["level"] = level
        found.append(Guess(variable.name, "level", str(level), ("geography", "easily seen", "a key")[level - 1]))
    return replace(variable, **facts)  # type: ignore[arg-type]


def _role(variable: Variable, looks: Profile) -> tuple[Role, str]:
    """The first role that both name and values allow."""
    name, n = variable.name, looks.n_records
    whole_or_text = looks.is_whole or not looks.is_number
    repeated = whole_or_text and 0.05 * n < looks.n_distinct < n and not looks.n_empty
    tests = (
        (Role.WEIGHT, looks.positive and looks.n_empty == 0),
        (Role.HOUSEHOLD_ID, repeated),
        (Role.ENTITY, repeated),
        (Role.IDENTIFIER, whole_or_text and looks.n_distinct > 0.9 * looks.n_present and looks.n_present > 1),
        (Role.SENSITIVE, looks.n_distinct > 1),
        (Role.KEY, looks.n_distinct > 1 and not (looks.unique and whole_or_text)),
    )
    for role, allowed in tests:
        word = name.lower() if _NAMED.get(name.lower()) is role else _word(name, _WORDS[role])
        if word and allowed:
            return role, f"the name has {word!r}"
    if looks.unique and whole_or_text and n > FEW:
        return Role.IDENTIFIER, "every record has its own value"
    return Role.OTHER, ""


def _guess_digits(variable: Variable, looks: Profile, found: list[Guess]) -> Variable:
    """Levels where the number of prefixes grows, for code-like variables whose codes have one length."""
    code_like = looks.leading_zeros or _word(
        variable.name, ("nace", "isic", "isco", "nuts", "industry", "occu", "region")
    )
    if variable.role in (Role.IDENTIFIER, Role.HOUSEHOLD_ID, Role.ENTITY) or variable.hierarchy is not None:
        return variable
    if not code_like or not looks.prefixes or looks.n_distinct <= 10:
        return variable
    cuts, seen = [], 1
    for cut, count in enumerate(looks.prefixes, start=1):
        if seen < count < looks.n_distinct and cut < len(looks.prefixes):
            cuts.append(cut)
            seen = count
    if not cuts:
        return variable
    ends = [*cuts, len(looks.prefixes)]
    digits = tuple(end - start for start, end in zip([0, *cuts], ends, strict=True))
    levels = " < ".join(str(looks.prefixes[end - 1]) for end in ends)
    found.append(
        Guess(variable.name, "hierarchy", f"digits {list(digits)}", f"codes of one length; prefixes: {levels}")
    )
    found.append(Guess(variable.name, "kind", str(Kind.NOMINAL), "codes with levels"))
    return replace(variable, digits=digits, kind=Kind.NOMINAL)


def _one_of_each(variables: list[Variable], guesses: list[Guess]) -> list[Variable]:
    """A schema has one weight, one household id, one entity: of several guesses the first stays."""
    taken: set[Role] = {v.role for v in variables if "role" not in v.guessed}
    result = []
    for variable in variables:
        if "role" in variable.guessed and variable.role in (Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY):
            if variable.role in taken:
                guesses[:] = [g for g in guesses if not (g.variable == variable.name and g.fact == "role")]
                open_facts = tuple(fact for fact in variable.guessed if fact != "role")
                variable = replace(variable, role=Role.OTHER, guessed=open_facts)
            else:
                taken.add(variable.role)
        result.append(variable)
    return result


def _check_household(frame: Frame, variables: list[Variable], guesses: list[Guess]) -> list[Variable]:
    """Households must be small; what is the same in all of them is marked as a household variable."""
    index = next((i for i, v in enumerate(variables) if v.role is Role.HOUSEHOLD_ID), None)
    if index is None:
        return variables
    household = variables[index]
    n_groups, largest = group_sizes(frame, household.name)
    if "role" in household.guessed and largest > LARGEST_HOUSEHOLD:
        guesses[:] = [g for g in guesses if not (g.variable == household.name and g.fact == "role")]
        open_facts = tuple(fact for fact in household.guessed if fact != "role")
        return [*variables[:index], replace(household, role=Role.OTHER, guessed=open_facts), *variables[index + 1 :]]
    guesses.append(Guess(household.name, "household", f"{n_groups} households", f"the largest has {largest} records"))
    names = [v.name for v in variables if v.role in (Role.KEY, Role.SENSITIVE, Role.OTHER) and not v.is_household]
    constant = set(constant_within(frame, names, household.name))
    return [_as_household(v, guesses) if v.name in constant else v for v in variables]


def _nest(frame: Frame, variables: list[Variable], profiles: Sequence[Profile], guesses: list[Guess]) -> list[Variable]:
    """Give the finest of nested columns the tree that the coarser ones make; which of them stay is for people to say."""
    chains = nested_chains(frame, variables, profiles)
    named = {variable.name: variable for variable in variables}
    result = []
    for variable in variables:
        chain = chains.get(variable.name)
        tree = tree_of_columns(frame, variable, [named[name] for name in chain]) if chain else None
        if chain and tree is not None:
            reason = f"each code belongs to one of {' and one of '.join(chain)}, which follow from it"
            guess = Guess(variable.name, "hierarchy", f"levels {', '.join(reversed(chain))}", reason)
            variable = _with_tree(variable, tree, guess, guesses)
        result.append(variable)
    return result


def with_trees(described: Description, trees: Mapping[str, tuple[Hierarchy, str]]) -> Description:
    """The description with trees that were found elsewhere, each with the reason why it belongs to its variable."""
    guesses = list(described.guesses)
    variables = [
        _with_tree(v, trees[v.name][0], Guess(v.name, "hierarchy", "tree", trees[v.name][1]), guesses)
        if v.name in trees
        else v
        for v in described.schema.variables
    ]
    return replace(described, schema=Schema(tuple(variables)), guesses=tuple(guesses))


def _with_tree(variable: Variable, tree: Hierarchy, guess: Guess, guesses: list[Guess]) -> Variable:
    """The variable with a tree; what digits seemed to say no longer counts."""
    guesses[:] = [one for one in guesses if not (one.variable == variable.name and one.fact == "hierarchy")]
    guesses.append(guess)
    kind = Kind.NOMINAL if variable.kind is Kind.NUMERIC else variable.kind
    guessed = tuple(dict.fromkeys((*variable.guessed, "hierarchy")))
    return replace(variable, hierarchy=tree, digits=(), kind=kind, guessed=guessed)


def _as_household(variable: Variable, guesses: list[Guess]) -> Variable:
    guesses.append(Guess(variable.name, "household", "yes", "the same for all members of every household"))
    return replace(variable, household=True, guessed=(*variable.guessed, "household"))


def _word(name: str, words: Sequence[str]) -> str:
    """The word that a part of the name begins with (parts end at _ - . digits and capitals), or nothing."""
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-zà-ÿ]+|[A-Z]+(?![a-z])", name)]
    parts.append("".join(parts))
    for word in words:
        for part in parts:
            if part == word or (len(word) > 3 and part.startswith(word)) or (part == f"{word}s"):
                return word
    return ""
