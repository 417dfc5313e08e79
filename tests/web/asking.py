"""The pages asked as a browser asks them, without a browser: for tests."""

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from reticent.base.errors import ReticentError
from reticent.jobs.project import copy_example
from reticent.web.work import Work, Works
from reticent.workbench.project import Project
from reticent.workbench.server import site

HOST = "http://127.0.0.1:8421"
OWN = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}


class Here(Works):
    """Work that is done at once, in this process: starting another takes seconds, and the walks in a browser have it.

    The clock is that of the test, and what goes in and comes out is sent as it would be between processes.
    """

    def ask(
        self, function: Callable[..., Any], *args: Any, title: str = "", patience: float = 0.0, again: bool = False
    ) -> Work:
        """Do it, and say what came of it."""
        key = (function.__module__, function.__qualname__, args)
        if again or key not in self._kept:
            work = self._kept[key] = Work(title)
            try:
                found = function(*pickle.loads(pickle.dumps(args)), progress=lambda share, what="": None)
                work.end("done", result=pickle.loads(pickle.dumps(found)))
            except ReticentError as err:
                work.end("failed", error=err)
        return self._kept[key]


class Bench:
    """The application without a browser, on a copy of an example."""

    def __init__(self, folder: Path, example: str, cut: Callable[[Path], None] | None = None) -> None:
        project, chosen = Project(folder), copy_example(example, folder)
        if cut is not None:
            cut(folder / f"{example}.csv")
        project.choose(chosen)
        self.folder, self.site = folder, replace(site(project, 8421), works=Here())
        self.client = TestClient(self.site.app(), base_url=HOST, follow_redirects=True)
        self.client.get(f"/enter?token={self.site.guard.new_token()}")
        self.get("/data")

    def get(self, path: str, status: int = 200) -> str:
        """A page when its work is done."""
        for _ in range(600):
            answer = self.client.get(path)
            found = re.search(r'data-work="(\w+)"', answer.text)
            if not found:
                assert answer.status_code == status
                return answer.text
            work = self.site.works.find(found[1])
            if work is not None:
                work.wait(60)
        raise AssertionError("the work never ends")

    def values(self, show: bool) -> None:
        """Press "Show values", or "Hide values"."""
        token = re.search(r'name="form-token" value="(\w+)"', self.get("/data"))
        assert token
        form = {"form-token": token[1], "show": "on" if show else "off", "back": "/data"}
        self.client.post("/values", data=form, headers=OWN)

    def send(self, path: str, form: dict[str, object], status: int = 200) -> str:
        """A form of the page as it is now, with its token and version."""
        page = self.get(path)
        hidden = {
            name: re.search(rf'name="{name}" value="(\w+)"', page) for name in ("form-token", "site-about", "version")
        }
        data = {**{name: found[1] for name, found in hidden.items() if found}, **form}
        answer = self.answer = self.client.post(path.split("?")[0], data=data, headers=OWN)
        assert answer.status_code == status, re.sub(r"(?s)^.*<main", "", answer.text)[:2000]
        return answer.text
