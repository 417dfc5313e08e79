# SPDX-License-Identifier: Apache-2.0
"""A site of pages: one address per page, one function that shows it, one that acts on its form; the rest is the same for all.

A page is a `Page` in a registry. Both functions take a `Visit` and return a `View` (a template with its facts) or `Go` (another
address, so that Back and reload never send a form twice).
"""

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from reticent.base.errors import ReticentError
from reticent.web.environment import environment
from reticent.web.form_values import Sent
from reticent.web.guard import FOREIGN, FORM_TOKEN, Guard
from reticent.web.state import ChangedMeanwhile
from reticent.web.work import Work, Works

HERE = Path(__file__).parent
SHOW_VALUES = "show values"
MOST_FIELDS = 20_000
ABOUT = "site-about"
ELSEWHERE = (
    "Another file was opened after this page, in another tab; nothing was written. Open the file of this page again."
)
log = logging.getLogger("reticent.web")
State = TypeVar("State")


@dataclass(frozen=True)
class View:
    """A template and what it shows. `error` stands above the page; a `work` that still runs makes the page watch it."""

    template: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    work: Work | None = None
    status: int = 200


@dataclass(frozen=True)
class Go:
    """On to another address."""

    address: str


@dataclass(frozen=True)
class Note:
    """What the list of steps says behind a page: `done`, `attention` or `open`, and a few letters."""

    state: str = "open"
    text: str = ""


@dataclass(frozen=True)
class Visit(Generic[State]):
    """One request to a page: the site's state, what the address asks, what a form sent, and whether values may be shown."""

    state: State
    works: Works
    query: Mapping[str, str]
    sent: Sent
    show_values: bool

    def number(self, name: str, default: int = -1) -> int:
        """A whole number of the address, or the default."""
        return Sent(((name, self.query.get(name, "")),)).number(name, default)

    def within(self, name: str, default: int, low: int, high: int) -> tuple[int, str]:
        """A whole number of the address, and what is wrong with it: then the default stands in for it."""
        text = self.query.get(name, "").strip()
        number = self.number(name, low - 1) if text else default
        good = low <= number <= high
        return (number, "") if good else (default, f"must be a whole number from {low:,} to {high:,}.")


Show = Callable[[Visit[Any]], View | Go]
Notes = Callable[[Any], Note]


@dataclass(frozen=True)
class Page:
    """A page: its address, its title in the list of steps, the group it is in, and its functions."""

    name: str
    title: str
    group: str
    show: Show
    act: Show | None = None
    note: Notes | None = None
    anywhere: bool = False
    """Whether its forms may be sent whatever the site is about by now."""


def address(page: str, **asked: Any) -> str:
    """The address of a page with what it should show; `anchor` names a place on it."""
    anchor = asked.pop("anchor", "")
    query = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return f"/{page}" + (f"?{query}" if query else "") + (f"#{anchor}" if anchor else "")


@dataclass(frozen=True)
class Site(Generic[State]):
    """Pages over one state. `heading` says what the top bar shows at an address: a title and the name of a file.

    `about` names what the site is about; a form of a page that was about something else is not taken.
    """

    pages: Sequence[Page]
    state: State
    guard: Guard
    works: Works
    packages: tuple[str, ...]
    heading: Callable[[State, str, Mapping[str, str]], Mapping[str, str]]
    about: Callable[[State], str]

    def app(self) -> FastAPI:
        """The application; it has no pages of documentation, which would fetch scripts from elsewhere."""
        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        app.middleware("http")(self.guard)
        app.mount("/static", StaticFiles(directory=HERE / "static"))
        app.add_api_route("/", self._first, methods=["GET"])
        app.add_api_route("/work/{work_id}", self._work, methods=["GET"])
        app.add_api_route("/work/{work_id}/cancel", self._cancel, methods=["POST"])
        app.add_api_route("/values", self._values, methods=["POST"])
        app.add_api_route("/{name}", self._page, methods=["GET", "POST"])
        app.add_exception_handler(404, self._missing)
        app.add_exception_handler(405, self._missing)
        app.add_exception_handler(400, self._unreadable)
        return app

    async def _first(self) -> Response:
        return RedirectResponse(address(self.pages[0].name), 303)

    async def _page(self, name: str, request: Request) -> Response:
        page = next((one for one in self.pages if one.name == name), None)
        if page is None or (request.method == "POST" and page.act is None):
            return await self._missing(request, None)
        sent = await self._sent(request)
        if sent is None:
            return self._plain(request, FOREIGN, 403)
        return await run_in_threadpool(self._answer, page, request, sent)

    async def _sent(self, request: Request) -> Sent | None:
        """What a form sent; None if no page of this session made it."""
        if request.method != "POST":
            return Sent(())
        form = await request.form(max_files=0, max_fields=MOST_FIELDS)
        sent = Sent(tuple((name, value) for name, value in form.multi_items() if isinstance(value, str)))
        return sent if self.guard.right_form(request, sent.get(FORM_TOKEN)) else None

    def _answer(self, page: Page, request: Request, sent: Sent) -> Response:
        session = self.guard.session(request) or {}
        visit = Visit(self.state, self.works, dict(request.query_params), sent, session.get(SHOW_VALUES, False))
        try:
            if not page.anywhere and sent.get(ABOUT, self.about(self.state)) != self.about(self.state):
                raise ChangedMeanwhile(ELSEWHERE)
            function = page.act if request.method == "POST" and page.act is not None else page.show
            answer = function(visit)
        except ChangedMeanwhile as err:
            answer = View("changed.html", {"message": str(err), "kept": _kept(sent), "page": page}, status=409)
        except ReticentError as err:
            answer = View("problem.html", {"message": str(err), "page": page}, status=422)
        except Exception as err:  # noqa: BLE001 - the last place where an error can be told; its text may hold values
            number = secrets.token_hex(4)
            log.error("error %s on page %s: %s", number, page.name, type(err).__name__)
            answer = View("problem.html", {"message": _failed(number, err), "page": page}, status=500)
        if isinstance(answer, Go):
            return RedirectResponse(answer.address, 303)
        try:
            return self._drawn(page, request, answer, visit)
        except Exception as err:  # noqa: BLE001 - as above
            number = secrets.token_hex(4)
            log.error("error %s while drawing page %s: %s", number, page.name, type(err).__name__)
            return PlainTextResponse(_failed(number, err), 500)

    def _drawn(self, page: Page | None, request: Request, view: View, visit: Visit[State] | None) -> Response:
        running = view.work is not None and view.work.running
        facts = {
            "page": page,
            "groups": self._groups(),
            "heading": self.heading(self.state, page.name if page else "", visit.query if visit else {}),
            "show_values": visit.show_values if visit else False,
            "form_token": self.guard.form_token(request),
            "site_about": self.about(self.state),
            "here": str(request.url.path) + (f"?{request.url.query}" if request.url.query else ""),
            "error": view.error,
            "work": view.work,
            "watch": running,
            **view.facts,
        }
        return HTMLResponse(environment(self.packages).get_template(view.template).render(facts), view.status)

    def _groups(self) -> list[tuple[str, list[tuple[Page, Note]]]]:
        groups: dict[str, list[tuple[Page, Note]]] = {}
        for page in self.pages:
            groups.setdefault(page.group, []).append((page, self._note(page)))
        return list(groups.items())

    def _note(self, page: Page) -> Note:
        """The note of a page; one that cannot be made (the plan is being edited) is none."""
        try:
            return page.note(self.state) if page.note else Note()
        except ReticentError:
            return Note("attention")

    def _plain(self, request: Request, message: str, status: int) -> Response:
        """One sentence: within its page, which names the project, for a session only."""
        if self.guard.session(request) is None:
            return PlainTextResponse(message, status)
        view = View("problem.html", {"message": message, "page": None}, status=status)
        return self._drawn(None, request, view, None)

    async def _missing(self, request: Request, _error: Any) -> Response:
        return self._plain(request, "There is no such page. Choose one of the steps.", 404)

    async def _unreadable(self, request: Request, _error: Any) -> Response:
        return self._plain(
            request, "The form cannot be read: it has files, or too many fields. Nothing was changed.", 400
        )

    async def _work(self, work_id: str) -> Response:
        work = self.works.find(work_id)
        if work is None:
            return JSONResponse({"state": "gone"}, 404)
        return JSONResponse({
            "state": work.state, "percent": work.percent, "what": work.what, "seconds": round(work.seconds, 1),
        })  # fmt: skip

    async def _cancel(self, work_id: str, request: Request) -> Response:
        sent = await self._sent(request)
        if sent is None:
            return self._plain(request, FOREIGN, 403)
        await run_in_threadpool(self.works.cancel, work_id)
        return RedirectResponse(_within(sent.get("back")), 303)

    async def _values(self, request: Request) -> Response:
        sent = await self._sent(request)
        session = self.guard.session(request)
        if sent is None or session is None:
            return self._plain(request, FOREIGN, 403)
        session[SHOW_VALUES] = sent.get("show") == "on"
        return RedirectResponse(_within(sent.get("back")), 303)


def _within(back: str) -> str:
    """An address of this site; anything else leads to its first page."""
    inside = back.startswith("/") and not back.startswith("//") and "\\" not in back and back.isprintable()
    return back if inside else "/"


def _kept(sent: Sent) -> list[tuple[str, str]]:
    """What a form sent and could not be taken, so that nothing typed is lost."""
    return [(name, value) for name, value in sent.items if value and name not in (FORM_TOKEN, ABOUT, "version")]


def _failed(number: str, err: Exception) -> str:
    return (
        f"The program failed on this page ({type(err).__name__}, error {number}); this is an error of reticent itself. "
        "Nothing was written; the plan is as it was."
    )
