# SPDX-License-Identifier: Apache-2.0
"""Collect wheels for a machine without network, with their hashes, and try them in a new environment with no index.

python scripts/wheelhouse.py FOLDER [EXTRAS]      EXTRAS as [excel,duckdb]
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def pip(*words: str, python: str = sys.executable) -> None:
    """Run pip; its errors are ours."""
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "--quiet", *words], check=True)


def collect(folder: Path, extras: str) -> Path:
    """Build and fetch the wheels; gives the list of them with versions and hashes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    pip("wheel", "--wheel-dir", str(folder), "--constraint", str(ROOT / "constraints.txt"), f"{ROOT}{extras}")
    lines = []
    for wheel in sorted(folder.glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        lines.append(f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    listed = folder / "requirements.txt"
    listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return listed


def try_out(folder: Path, listed: Path) -> None:
    """Install from the folder alone into a new environment, and ask the doctor."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = str(Path(place) / "bin" / "python")
        pip(
            "install", "--no-index", "--find-links", str(folder), "--require-hashes", "--requirement", str(listed),
            python=python,
        )  # fmt: skip
        subprocess.run([python, "-I", "-m", "reticent", "doctor"], check=True, cwd=place)  # not from PYTHONPATH


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    found = collect(target, sys.argv[2] if len(sys.argv) > 2 else "")
    try_out(target, found)
    print(
        f"{target.name}: {len(list(target.glob('*.whl')))} wheels. On the other machine: "
        f"python3 -m venv env && env/bin/pip install --no-index --find-links {target.name} --require-hashes "
        f"-r {target.name}/requirements.txt"
    )
