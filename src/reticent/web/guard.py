# SPDX-License-Identifier: Apache-2.0
"""Who may ask: a one-time token opens a session, other hosts and origins are refused, and every answer has its policy."""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
SAFE = ("GET", "HEAD")
FORM_TOKEN = "form-token"
NO_TOKEN = (
    "This page needs a session. Open the address that the terminal shows; it works once. "
    "Press Enter in the terminal for a new one."
)
ENTERED = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<title>reticent</title></head><body><p><a href="/">Go to the pages</a></p></body></html>'
)
"""A page that leads on: a redirect would still count as coming from elsewhere, and would not bring the cookie along."""
MOST_SENT = 20_000_000
"""Bytes of a form: more is refused unread."""
TOO_MUCH = f"A form of more than {MOST_SENT:,} bytes is not taken; nothing was changed. Save a large text as a file and open it."
FOREIGN = "This request came from another site and was refused; nothing was changed."
Next = Callable[[Request], Awaitable[Response]]


class Guard:
    """The sessions of a server on one's own machine."""

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._hosts = hosts
        self._tokens: set[str] = set()
        self._sessions: dict[str, dict[str, bool]] = {}
        self._lock = threading.Lock()

    def new_token(self) -> str:
        """A token that opens one session, once."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens = {_hashed(token)}
        return token

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; servers on other ports have their own."""
        return f"reticent-{self._hosts[0].rpartition(':')[2]}"

    def session(self, request: Request) -> dict[str, bool] | None:
        """What the session of a request remembers; None: there is no session."""
        return self._sessions.get(_hashed(request.cookies.get(self.cookie, "")))

    def form_token(self, request: Request) -> str:
        """What every form of a session has to send back."""
        return hashlib.sha256(f"form {request.cookies.get(self.cookie, '')}".encode()).hexdigest()

    def right_form(self, request: Request, token: str) -> bool:
        """Whether a form was made by this session's pages."""
        return hmac.compare_digest(self.form_token(request), token)

    async def __call__(self, request: Request, go_on: Next) -> Response:
        """Let a request through, or refuse it; in both cases the answer has the policy headers."""
        response = self._refusal(request) or await go_on(request)
        response.headers.update(HEADERS)
        if not request.url.path.startswith("/static/") or response.status_code >= 400:
            response.headers["Cache-Control"] = "no-store"
        return response

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This server answers its own address only.", 421)
        if not self._same_origin(request):
            return PlainTextResponse(FOREIGN, 403)
        if request.url.path == "/enter" and request.method == "GET":
            return self._enter(request)
        if self.session(request) is None and not request.url.path.startswith("/static/"):
            return PlainTextResponse(NO_TOKEN, 403)
        length = request.headers.get("content-length", "")
        if request.method not in SAFE and not (length.isascii() and length.isdigit() and int(length) <= MOST_SENT):
            return PlainTextResponse(TOO_MUCH, 413)
        return None

    def _same_origin(self, request: Request) -> bool:
        """Whether a request comes from these pages; one that changes something must say so."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return False
        if request.method in SAFE:
            navigation = request.headers.get("sec-fetch-mode") == "navigate"
            return site in (None, "same-origin", "none") or navigation
        return site == "same-origin" or (site is None and origin is not None)

    def _enter(self, request: Request) -> Response:
        token = _hashed(request.query_params.get("token", ""))
        with self._lock:
            if token not in self._tokens:
                return PlainTextResponse(NO_TOKEN, 403)
            self._tokens.discard(token)
            session = secrets.token_urlsafe(32)
            self._sessions[_hashed(session)] = {}
        response = HTMLResponse(ENTERED)
        response.set_cookie(self.cookie, session, httponly=True, samesite="strict", path="/")
        return response


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
