"""Who may ask: the token is needed and works once, other hosts and origins are refused, forms need the session's token."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reticent.jobs.project import copy_example, make_project
from reticent.web.guard import MOST_SENT, POLICY
from reticent.web.site import MOST_FIELDS
from reticent.workbench.pages import PAGES
from reticent.workbench.project import Project
from reticent.workbench.server import _entrance, site

HOST = "http://127.0.0.1:8421"
WORK = "/work"
"""Where the pages of running work are."""
STATED = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OWN = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}


class Bench:
    """The application without a browser."""

    def __init__(self, project: Project) -> None:
        self.site = site(project, 8421)
        self.client = TestClient(self.site.app(), base_url=HOST, follow_redirects=False)

    def enter(self) -> None:
        """Take the one-time address."""
        assert self.client.get(f"/enter?token={self.site.guard.new_token()}").status_code == 200

    def token(self) -> str:
        """The token of this session's forms."""
        found = re.search(r'name="form-token" value="(\w+)"', self.client.get("/data").text)
        assert found
        return found[1]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "a.csv").write_text("age,sex\n1,f\n2,m\n", encoding="utf-8")
    made = Bench(Project(tmp_path))
    yield made
    made.site.works.close()


@pytest.mark.parametrize(
    "path", ["/", *(f"/{page.name}" for page in PAGES), f"{WORK}/x", "/nothing", "/docs", "/openapi.json"]
)
def test_every_address_needs_a_session(bench: Bench, path: str) -> None:
    refused = bench.client.get(path)
    assert refused.status_code == 403
    assert "token" not in refused.text or "terminal" in refused.text
    assert bench.client.get(path, cookies={bench.site.guard.cookie: "guessed"}).status_code == 403


def test_a_token_works_once_and_an_old_one_never_again(bench: Bench) -> None:
    old = bench.site.guard.new_token()
    token = bench.site.guard.new_token()
    assert bench.client.get(f"/enter?token={old}").status_code == 403
    entered = bench.client.get(f"/enter?token={token}")
    assert entered.status_code == 200
    assert token not in entered.text
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert bench.client.get("/data").status_code == 200
    bench.client.cookies.clear()
    assert bench.client.get(f"/enter?token={token}").status_code == 403


def test_documentation_pages_are_off_and_every_answer_has_the_policy(bench: Bench) -> None:
    assert POLICY == STATED
    bench.enter()
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert bench.client.get(path).status_code == 404
    for path in ("/data", "/nothing", "/static/style.css", "/enter?token=x", "/work/none"):
        answer = bench.client.get(path)
        assert answer.headers["content-security-policy"] == STATED
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert bench.client.get("/data").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999", "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_forms_from_elsewhere_are_refused(bench: Bench, headers: dict[str, str]) -> None:
    bench.enter()
    form = {"form-token": bench.token(), "example": "people"}
    for path in (*(f"/{page.name}" for page in PAGES), "/values", "/work/x/cancel"):
        refused = bench.client.post(path, data=form, headers=headers)
        assert refused.status_code == 403
        assert "content-security-policy" in refused.headers
    assert not list(bench.site.state.folder.glob("people*"))


def test_other_sites_may_not_read_either(bench: Bench) -> None:
    bench.enter()
    for path in (*(f"/{page.name}" for page in PAGES), f"{WORK}/x"):
        assert bench.client.get(path, headers={"Origin": "http://evil.example"}).status_code == 403
        foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
        assert bench.client.get(path, headers=foreign).status_code == 403
        assert bench.client.get(path, headers={"Host": "evil.example"}).status_code == 421


def test_a_form_without_the_sessions_token_is_refused(bench: Bench) -> None:
    bench.enter()
    for token in ({}, {"form-token": ""}, {"form-token": "0" * 64}):
        assert bench.client.post("/data", data={**token, "path": "a.csv"}, headers=OWN).status_code == 403
    assert (
        bench.client.post("/data", data={"form-token": bench.token(), "path": "a.csv"}, headers=OWN).status_code == 303
    )


def test_going_back_stays_on_the_site(bench: Bench) -> None:
    bench.enter()
    for back in ("http://evil.example", "//evil.example", "/\\evil.example", "/a\r\nX: y", ""):
        sent = {"form-token": bench.token(), "show": "on", "back": back}
        assert bench.client.post("/values", data=sent, headers=OWN).headers["location"] == "/"
    sent = {"form-token": bench.token(), "show": "off", "back": "/plan?step=1"}
    assert bench.client.post("/values", data=sent, headers=OWN).headers["location"] == "/plan?step=1"


def test_a_broken_page_says_its_kind_and_no_value(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error that nobody foresaw names its class and a number; its text, which may hold a value, is nowhere."""
    bench.enter()

    def broken(*_: object) -> None:
        raise ValueError("the income of P00976 is 2310")

    monkeypatch.setattr(type(bench.site.state), "ready", property(broken))
    answer = bench.client.get("/plan")
    assert answer.status_code == 500
    assert "ValueError" in answer.text
    assert "2310" not in answer.text + caplog.text


def test_a_form_that_is_too_large_or_has_files_is_refused_with_a_sentence(bench: Bench) -> None:
    bench.enter()
    token = bench.token()
    large = bench.client.post("/data", content=b"x", headers={**OWN, "Content-Length": str(MOST_SENT + 1)})
    assert large.status_code == 413
    assert "not taken" in large.text
    files = bench.client.post("/data", data={"form-token": token}, files={"f": b"x"}, headers=OWN)
    assert files.status_code == 400
    assert "cannot be read" in files.text
    assert "content-security-policy" in files.headers
    fields = {f"f{number}": "x" for number in range(MOST_FIELDS + 1)}
    assert bench.client.post("/data", data={"form-token": token, **fields}, headers=OWN).status_code == 400


def test_the_browser_is_not_started_with_the_token(tmp_path: Path) -> None:
    """Arguments of commands can be read by everybody on the machine; a file of one's own cannot."""
    path = _entrance(tmp_path, "http://127.0.0.1:1/enter?token=secret")
    assert "secret" not in path.as_uri()
    assert "url=http://127.0.0.1:1/enter?token=secret" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "name",
    ['a\n[output]\npath = "elsewhere"\n#', 'quo"te', "@STEM@ @DATA@", "tab\there", "\u202eodd \u2028"],
)
def test_a_file_name_stays_a_name_in_the_plan(tmp_path: Path, name: str) -> None:
    """Whatever a data file is called, its plan says its name and nothing else."""
    data = tmp_path / f"{name}.csv"
    data.write_text("age,sex\n1,f\n2,m\n", encoding="utf-8")
    said = tomllib.loads(make_project(data).read_text(encoding="utf-8"))
    assert said["data"]["path"] == data.name
    assert said["output"]["path"] == f"{name}.safe.csv"
    assert set(said) == {"version", "data", "risk", "output"}


def test_an_example_is_never_written_through_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "people.csv").symlink_to(elsewhere)
    copy_example("people", tmp_path / "here")
    assert not elsewhere.exists()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_whoever_has_no_session_gets_a_sentence_and_nothing_of_the_project(bench: Bench, method: str) -> None:
    paths = (
        "/static/nothing.js",
        "/static/",
        "/static/%00",
        "/static/..%2fguard.py",
        "/static/a/b",
        "/nothing",
    )
    for path in paths:
        answer = bench.client.request(method, path, headers=OWN)
        assert answer.status_code in (403, 404, 413), path
        assert "<" not in answer.text
        assert "form-token" not in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"] == STATED
