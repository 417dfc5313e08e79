"""Direct identifiers in queries, and taxonomies that are not trees."""

import gzip
from pathlib import Path

import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.io.taxonomy import read_taxonomy
from reticent.querylogs.scrub import Scrubber
from reticent.querylogs.taxonomy import make_taxonomy

SCRUBBER = Scrubber(names=frozenset({"anna", "peter", "mary"}))


@pytest.mark.parametrize("query, scrubbed", [
    ("mail to jane.doe+x@mail.example.org please", "mail to <email> please"),
    ("call 212-555-0123 now", "call <phone> now"),
    ("+44 20 7946 0958 london", "<phone> london"),
    ("4111 1111 1111 1111 expired", "<card> expired"),
    ("DE89 3704 0044 0532 0130 00 bank", "<account> bank"),
    ("ssn 078-05-1120", "ssn <social-security>"),
    ("born 12/05/1970", "born <date>"),
    ("host 192.168.1.20", "host <ip-address>"),
    ("follow @somebody", "follow <handle>"),
    ("742 evergreen terrace road pizza", "<street> pizza"),
    ("order 123456789012", "order <number>"),
    ("anna miller divorce", "<name> divorce"),
    ("what did peter do", "what did <name>"),
    ("es9121000418450200051332 bbva", "<account> bbva"),
    ("at611904300234573201 now", "<account> now"),
    ("o'brien@aol.com", "<email>"),
    ("4111.1111.1111.1111", "<card>"),
    ("dob 1/2/80", "dob <date>"),
    ("1600 n. main st. map", "<street>. map"),
    ("tel5551234567", "<code>"),
    ("peter's address", "<name>'s address"),
    ("mary-jane watson", "<name> watson"),
    ("peter_smith", "<name>"),
    ("windows 95 driver", "windows 95 driver"),
    ("annapolis weather", "annapolis weather"),
    ("999.999.999.999", "<number>"),
])  # fmt: skip
def test_identifiers_are_replaced_by_what_they_are(query: str, scrubbed: str) -> None:
    texts, counts = SCRUBBER.scrub([query])
    assert texts == [scrubbed]
    assert sum(counts.values()) == scrubbed.count("<")


def test_no_text_is_too_long_to_be_searched() -> None:
    """Over 20,000 signs such as "1.1.1." the patterns took minutes, and one user can type them: such texts go whole."""
    for sign in ("1.", "a-", "a at ", "ß", "\ufdfa"):
        texts, counts = SCRUBBER.scrub([sign * 20_000, f"{sign * 100} anna@mail.example.org"])
        assert texts[0] == "<long-text>"
        assert counts["long-text"] == (2 if sign == "\ufdfa" else 1)  # one sign that is 18 when written out
        assert "anna" not in texts[1]


def test_invisible_signs_hide_nothing() -> None:
    assert SCRUBBER.scrub(["call 212-5\x0055-01\x7f23", "an\u00adna miller"])[0] == ["call <phone>", "<name>"]


def test_a_number_after_an_at_sign_is_no_handle() -> None:
    assert SCRUBBER.scrub(["@192.168.1.20", "@peter192"])[0] == ["@<ip-address>", "<handle>"]


def test_a_region_is_two_letters() -> None:
    with pytest.raises(ParameterError, match="two letters of a country"):
        Scrubber(region="Germany")


@pytest.mark.parametrize("rows, words", [
    ([("a", "b", "a", []), ("b", "a", "b", [])], "is an ancestor of itself"),
    ([("a", "a", "a", [])], "is an ancestor of itself"),
    ([("a", "x", "a", [])], "the parent 'x' is not a category"),
    ([("a", "", "a", []), ("a", "", "b", [])], "'a' occurs twice"),
    ([], "has no categories"),
])  # fmt: skip
def test_what_is_no_tree_is_refused(rows: list, words: str) -> None:
    with pytest.raises(DataError, match=words):
        make_taxonomy(rows, owner="tree.csv")


def test_the_longest_term_counts() -> None:
    tree = make_taxonomy(
        [("1", "", "sports", ["sports"]), ("2", "1", "field hockey", []), ("3", "", "farming", ["field"])], owner="t"
    )  # fmt: skip
    assert tree.find("buy field sports") == [2, 0]
    tree = make_taxonomy([("1", "", "a", ["field"]), ("2", "", "b", ["field hockey"])], owner="t")
    assert tree.find("Field-hockey sticks") == [1]
    assert tree.find("nothing") == []


def test_the_first_or_the_first_five_categories_of_a_term() -> None:
    tree = make_taxonomy([(str(n), "", f"c{n}", ["bank"]) for n in range(7)], owner="t")
    assert tree.find("bank") == [0]
    assert tree.find("bank", most=5) == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_iab_and_wordnet(tmp_path: Path, shared_data: Path) -> None:
    iab = read_taxonomy(shared_data / "taxonomy" / "iab_content_taxonomy_3.1.tsv", "iab")
    assert iab.depth == 4
    assert iab.names[iab.find("field hockey rules")[0]] == "Field Hockey"
    wordnet = read_taxonomy(shared_data / "taxonomy" / "wordnet30_noun_hypernyms.csv.gz", "wordnet")
    assert len(wordnet.names) > 80_000
    path = [wordnet.names[c] for c in wordnet.paths()[wordnet.find("chromosome")[0]] if c >= 0]
    assert path[0] == "entity"
    assert path[-1] == "chromosome"


def test_our_own_form(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv.gz"
    path.write_bytes(gzip.compress(b"category,parent,name,terms\n1,,Sports,ball games;match\n2,1,Tennis,\n"))
    tree = read_taxonomy(path)
    assert tree.names[tree.find("a match today")[0]] == "Sports"
    assert tree.paths()[1].tolist() == [0, 1]
    (tmp_path / "bad.csv").write_text("category,terms\n1,x\n")
    with pytest.raises(DataError, match="the column 'parent' is missing"):
        read_taxonomy(tmp_path / "bad.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_taxonomy(tmp_path / "none.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"category,parent,terms\n1,,x\n" * 99)[:40] + b"x" * 40)
    with pytest.raises(DataError, match="cannot be read"):
        read_taxonomy(tmp_path / "cut.csv.gz")
    (tmp_path / "short.csv").write_text("synset,lemmas,hypernyms\n1,thing\n")
    with pytest.raises(DataError, match="fewer than three fields"):
        read_taxonomy(tmp_path / "short.csv", "wordnet")


NAMES = frozenset({"john", "paul", "maria", "josé", "小明", "mary", "jane", "мария"})
LEFT = {
    "jdoe at gmail dot com": "<email>",
    "jdoe (at) mail [dot] org": "<email>",
    "jdoe @ gmail . com": "<email>",
    "jdoe at yahoo.com": "<email>",
    "ｊｄｏｅ＠ｇｍａｉｌ．ｃｏｍ": "<email>",
    "de89\u200b370400440532013000": "<account>",
    "48.8584, 2.2945": "<position>",
    "48.8584 2.2945 map": "<position> map",
    "40°26'46\"N 79°58'56\"W": "<position> <position>",
    "facebook.com/john.smith": "<profile>",
    "QQ123456C": "<code>",
    "12345678Z": "<code>",
    "550e8400-e29b-41d4-a716-446655440000": "<code>",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa": "<code>",
    "john paul jones lyrics": "<name> lyrics",
    "john o'neil": "<name>",
    "mary-jane van der berg address": "<name> address",
    "smith, john": "<name>",
    "john f. kennedy": "<name>",
    "jose\u0301 garcia": "<name>",
    "JOSE GARCIA": "<name>",
    "Jose de la cruz phone": "<name> phone",
    "王小明的电话": "<name>的电话",
    "Мария Иванова": "<name>",
}
UNCHANGED = (
    "jobs at google.com", "eat at joes", "iphone 12 pro", "windows 2000", "1984 book", "covid 19", "2020 election",
    "ps5 vs xbox360", "cheap flights 747",
)  # fmt: skip


@pytest.mark.parametrize("text", LEFT)
def test_other_ways_of_writing_an_identifier_are_found(text: str) -> None:
    assert Scrubber("US", NAMES).scrub([text])[0] == [LEFT[text]]


def test_what_is_no_identifier_stays() -> None:
    assert tuple(Scrubber("US", NAMES).scrub(UNCHANGED)[0]) == UNCHANGED
