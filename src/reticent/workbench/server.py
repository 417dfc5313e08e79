# SPDX-License-Identifier: Apache-2.0
"""The server of the workbench: on loopback, with a one-time token, until the terminal stops it."""

import logging
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from reticent.base.errors import ReticentError
from reticent.web.guard import Guard
from reticent.web.site import Site
from reticent.web.work import Works
from reticent.workbench.ledgers import ledger_name
from reticent.workbench.pages import PAGES
from reticent.workbench.project import Project

HOST = "127.0.0.1"
PACKAGES = ("reticent.workbench", "reticent.web")
PLANS = {
    "plan": "file",
    "protect": "file",
    "table": "table",
    "audit": "table",
    "queries": "queries",
    "explore": "explore",
}
"""The kind of plan that a page is about, where it is not the one that was opened."""
Say = Callable[[str], None]


def heading(project: Project, page: str, asked: Mapping[str, str]) -> Mapping[str, str]:
    """What the top bar says: the project, the plan that a page changes, and the version that is saved."""
    if page == "ledger" and project.ready:
        return {"title": project.stem, "file": ledger_name(project), "saved": ""}
    state = project.plan(PLANS.get(page, asked.get("plan", project.kind))) or project.plan(project.kind)
    if state is None:
        return {"title": "New project" if project.waiting is None else project.stem, "file": "", "saved": ""}
    try:
        saved = f"Saved · version {state.read().number}"
    except ReticentError:
        saved = "The plan file is gone"
    return {"title": project.stem, "file": state.name, "saved": saved}


def site(project: Project, port: int) -> Site[Project]:
    """The pages over a project, for a server on a port."""
    guard = Guard((f"{HOST}:{port}", f"localhost:{port}"))
    return Site(PAGES, project, guard, Works(), PACKAGES, heading, Project.mark)


def serve(target: Path | None, *, say: Say, port: int = 0, browser: bool = True) -> None:
    """Serve until Ctrl-C; `say` gets the address with its token, and the browser opens it."""
    project = Project.open(target)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((HOST, port))
        except OSError:
            raise ReticentError(f"open: port {port} is taken; leave out --port, or give another.") from None
        door.listen()  # a browser that is quicker than the server waits, instead of being refused
        made = site(project, door.getsockname()[1])
        made.works.warm("reticent.workbench.engine")
        try:
            _run(made, made.app(), door, say, browser=browser)
        finally:
            made.works.close()


def _run(made: Site[Project], app: FastAPI, door: socket.socket, say: Say, *, browser: bool) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a traceback could hold values of records
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    address = _address(made, door)
    say(f"The workbench is at {address}\nStop it with Ctrl-C. Nothing leaves this machine.")
    threading.Thread(target=_new_addresses, args=(made, door, say), daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="reticent-") as private:
        if browser:
            webbrowser.open(_entrance(Path(private), address).as_uri())
        uvicorn.Server(config).run(sockets=[door])


def _entrance(private: Path, address: str) -> Path:
    """A file that leads to an address: what a command is started with can be read by everybody on the machine."""
    path = private / "open.html"
    path.touch(mode=0o600)
    path.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">', encoding="utf-8")
    return path


def _address(made: Site[Project], door: socket.socket) -> str:
    return f"http://{HOST}:{door.getsockname()[1]}/enter?token={made.guard.new_token()}"


def _new_addresses(made: Site[Project], door: socket.socket, say: Say) -> None:
    """Each Enter in the terminal gives a new address, for another browser or one that was closed."""
    if sys.stdin is not None and sys.stdin.isatty():
        for _ in sys.stdin:
            say(f"The workbench is at {_address(made, door)}")
