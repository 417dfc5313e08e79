# SPDX-License-Identifier: Apache-2.0
"""Examples of the Python interface, one per public name, for docs/reference/api.md; tests run them on the data of the package."""

FIRST = """\
import polars as pl
import reticent as rt
from reticent import games, mask, methods, rules
"""

EXAMPLES: dict[str, str] = {
    "load": """\
data = rt.load("people.csv", schema="people.schema.toml")
few = rt.load(
    pl.read_csv("people.csv").head(400),
    keys=["region", "sex", "age"],
    sensitive=["income"],
    identifiers=["person"],
)
print(few)  # <Data 400 records × 11 variables, keys: region, sex, age>
""",
    "describe": """\
described = rt.describe("people.csv")
for guess in described.guesses[:3]:
    print(guess.variable, guess.fact, guess.value, guess.reason)
""",
    "Data": """\
print(data.schema["region"].role, len(data))  # key 3522
bins = data.cutpoints("income", least=50)
""",
    "Risk": """\
risk = few.risk(keys=["region", "sex"], dimension=2)
print(risk)
print(risk.summary()["records"])
""",
    "FileRun": """\
unneeded = mask.RemoveIdentifiers(("person", "household", "occupation", "birthplace", "weight"))
steps = [unneeded, mask.Recode("age", bands=(16, 50))]
run = few.protect(steps, most=1.0, secret="secret.key")
print(run.verdict.headline)
print(run.risk["after"]["unsafe combinations"], run.summary()["steps"][1]["method"])
run.confidential_report("confidential.html")
""",
    "LargeData": """\
with rt.load("people.csv", schema="people.schema.toml", engine="duckdb") as large:
    print(large.risk(keys=["region", "sex"]))
""",
    "MaskedFile": """\
masked = run.release()
masked.write("few.safe.csv", schema="few.safe.schema.toml", recodings="few.recodings.csv", separator=";", decimal=",")
masked.public_report("few.public.html")
frame = masked.to_frame()
""",
    "RiskSection": """\
strict = rt.RiskSection(most=0.2, attacks=("recount", "linkage"), known=("region", "sex", "age"))
print(few.protect(steps, risk=strict, secret="secret.key").verdict.state)
""",
    "Exploration": """\
candidates = {"bands": steps, "wide bands": [steps[0], mask.Recode("age", bands=(16,))]}
found = few.explore(candidates, settings=rt.ExploreSettings(draws=1, fresh=1), secret="secret.key")
print([row["candidate"] for row in found.rows()], found.chosen)
""",
    "ExploreSettings": """\
careful = rt.ExploreSettings(draws=5, fresh=5, most_risk=0.1, attacks=("recount",))
""",
    "combine": """\
print(rt.combine([10.0, 12.0, 11.0], [1.0, 1.0, 1.0]).variance)
""",
    "Tabulation": """\
firms = rt.load("firms.csv", schema="firms.schema.toml")
table = firms.tabulate("industry", "size", response="turnover")
print(table)
""",
    "TableRun": """\
made = table.protect(rules=[rules.PPercent(15), rules.Threshold(3)], method=methods.Heuristic(), time_limit=300)
print(made, made.exposed)
print(made.why("C10", "large"))
""",
    "PublishedTable": """\
published = made.release()
published.write("turnover.csv")
published.write("turnover.px")
cells = published.to_frame()
""",
    "audit": """\
industries = firms.schema["industry"].hierarchy
outsider = rt.audit(cells, structure={"industry": industries}, kind="magnitude")
""",
    "PublishedAudit": """\
print(outsider.exposed, outsider.rows()[0])
""",
    "DimensionSpec": """\
by_section = rt.DimensionSpec("industry", level=1)
print(firms.tabulate(by_section, "size"))
""",
    "BoundsOptions": """\
bounds = rt.BoundsOptions(lower=0, upper="1.5 max")
print(firms.tabulate("size", response="turnover").protect(rules=[rules.Threshold(3)], bounds=bounds))
""",
    "Entry": """\
known = [rt.Entry(("large",), "S")]  # this cell is safe, whatever the rules say
print(firms.tabulate("size", response="turnover").protect(rules=[rules.PPercent(15)], a_priori=known))
""",
    "open_database": """\
regions = rt.Policy(minimum=3, filters=("region", "size"), responses=("turnover",))
database = rt.open_database(firms, policy=regions, secret="secret.key", ledger="firms.ledger")
""",
    "ProtectedDatabase": """\
answer = database.ask("SELECT SUM(turnover) FROM data WHERE size = 'small'", user="analyst1")
print(database.guarantee)
""",
    "Answer": """\
print(answer.value, answer.as_json()["answered"])
""",
    "Refusal": """\
refused = database.ask("SELECT MAX(turnover) FROM data", user="analyst1")
print(refused.code, refused.message)
""",
    "ask_for": """\
question = rt.ask_for("sum", "turnover").where("size", "=", "medium")
print(database.ask(question, user="analyst1"))
""",
    "Term": """\
print(rt.Term.log("turnover") * rt.Term.of("region"))
database.close()
""",
    "Policy": """\
policy = rt.Policy(minimum=5, filters=("region", "sex"), responses=("income",), dominance=(1, 60))
""",
    "Bounds": """\
print(rt.Bounds(low=0, high=120, integer=True))
""",
    "attack_database": """\
report = rt.attack_database(rt.load(pl.read_csv("people.csv").head(60)), policy=policy, response="income")
print(report)
""",
    "open_ledger": """\
ledger = rt.open_ledger("firms.releases", secret="secret.key", dataset="firms")
sizes = firms.tabulate("size", response="turnover").protect(rules=[rules.Threshold(3)])
released = sizes.release(ledger=ledger, name="turnover by size")
""",
    "ReleaseLedger": """\
print([one["name"] for one in ledger.releases()])
ledger.verify()
""",
    "Schema": """\
schema = rt.Schema((rt.Variable("age", role="key", kind="numeric"), rt.Variable("region", role="key")))
print(schema.keys)
""",
    "Variable": """\
print(rt.Variable("sex", role="key", codes=("f", "m"), labels=("female", "male"), missing=("9",)).label("f"))
""",
    "Role": """\
print([str(role) for role in rt.Role])
""",
    "Kind": """\
print(rt.Kind("ordinal") is rt.Kind.ORDINAL)
""",
    "Hierarchy": """\
tree = rt.Hierarchy.from_children({"Total": ["N", "S"], "N": ["N1", "N2"]})
print(tree.leaves, tree.ancestor_at(1)["N2"])
""",
    "write_schema": """\
rt.write_schema(schema, "few.schema.toml")
""",
    "read_schema": """\
print(rt.read_schema("few.schema.toml").names)
""",
    "ReticentError": """\
try:
    rt.load("nowhere.csv")
except rt.ReticentError as error:
    print(error, error.exit_code)
""",
    "ParameterError": """\
try:
    mask.Recode("age", bands=(35, 16))
except rt.ParameterError as error:
    print(error)
""",
    "PlanError": """\
try:
    published.write("turnover.doc")
except rt.PlanError as error:
    print(error)
""",
    "DataError": """\
try:
    data.tabulate("county")
except rt.DataError as error:
    print(error.variables)
""",
    "InfeasibleError": """\
try:
    few.protect([mask.Generalize(keys=("region",), k=401)], most=1.0, secret="secret.key")
except rt.InfeasibleError as error:
    print(error)
""",
    "NotProtectedError": """\
try:
    few.protect(steps, most=0.0, secret="secret.key").release()
except rt.NotProtectedError as error:
    print(error.exposed)
""",
    "mask.estimate_counts": """\
import numpy as np

print(mask.estimate_counts(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([60.0, 40.0])))
""",
    "mask.masked_moment": """\
print(mask.masked_moment((3,), lambda powers: {(0,): 1.0, (1,): 2.0, (2,): 5.0, (3,): 14.0}[powers], k=0.1))
""",
    "mask.original_moments": """\
print(mask.original_moments({(0,): 1.0, (1,): 2.0, (2,): 5.0, (3,): 14.3}, k=0.1))
""",
    "methods.design_ptable": """\
ptable = methods.design_ptable(methods.Design(largest=3, variance=1.5))
""",
    "methods.ptable_text": """\
print(methods.ptable_text(ptable).splitlines()[0])
""",
    "rules.dominance_flaw": """\
print(rules.dominance_flaw(1, 60, step=1).passed)
""",
    "rules.why_dominance_misleads": """\
print(rules.why_dominance_misleads([59, 40, 1], 1, 60))
""",
    "games.disclosure_game": """\
print(games.disclosure_game(3).players)
""",
    "games.pure": """\
print([one.payoffs for one in games.pure(game)])
""",
    "games.correlated": """\
print(games.correlated(game, "welfare").payoffs)
""",
    "games.Question": """\
game = games.disclosure_game(2)
question = games.Question("user 1", {"user 2": "publish"}, {"user 2": "publish"})
""",
    "games.coprivate_share": """\
print(games.coprivate_share([game], question))
""",
    "games.privacy_functionality": """\
print(games.privacy_functionality(np.array([[[1.0], [0.0]]]), np.array([[1.0]]), np.array([[0, 1], [1, 0]])))
""",
    "games.run_game": """\
print(games.run_game("examples/games/two-users.toml").findings())
""",
}
