"""The pages asked as a browser asks them, without a browser: for tests."""

import re
from pathlib import Path

from starlette.testclient import TestClient

from reticent.jobs.project import copy_example
from reticent.workbench.project import Project
from reticent.workbench.server import site

HOST = "http://127.0.0.1:8421"
OWN = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}


class Bench:
    """The application without a browser, on a copy of an example."""

    def __init__(self, folder: Path, example: str) -> None:
        project = Project(folder)
        project.choose(copy_example(example, folder))
        self.folder, self.site = folder, site(project, 8421)
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

    def send(self, path: str, form: dict[str, object], status: int = 200) -> str:
        """A form of the page as it is now, with its token and version."""
        page = self.get(path)
        hidden = {name: re.search(rf'name="{name}" value="(\w+)"', page) for name in ("form-token", "version")}
        data = {**{name: found[1] for name, found in hidden.items() if found}, **form}
        answer = self.client.post(path.split("?")[0], data=data, headers=OWN)
        assert answer.status_code == status, re.sub(r"(?s)^.*<main", "", answer.text)[:2000]
        return answer.text
