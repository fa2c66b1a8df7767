"""`.ci/pinned.py` refuses what could be another file tomorrow, and the list of components names what is locked."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from airflow_environment import ROOT

FILES = ("Dockerfile", "Makefile", "docker-compose.yaml", "requirements.txt")


def checked(folder):
    completed = subprocess.run([sys.executable, ROOT / ".ci" / "pinned.py", folder], capture_output=True, text=True, check=False)
    return completed.returncode, completed.stderr.splitlines()


@pytest.fixture
def checkout(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in (".ci", "requirements"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_this_checkout_is_pinned():
    assert checked(ROOT) == (0, [])


def test_it_runs_first_in_the_gate_and_in_lint():
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "python3 .ci/pinned.py" in gate
    assert gate.index("python3 .ci/pinned.py") < gate.index("make lint")
    assert "@$(BIN)/python .ci/pinned.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "pattern", "instead", "complaint"),
    [
        ("requirements.txt", r"(kazoo==[\d.]+)(?: \\\n    --hash=\S+)+", r"\1", r"requirements\.txt:\d+: .*kazoo"),
        ("requirements.txt", r"kazoo==2", "kazoo>=2", r"requirements\.txt:\d+: .*kazoo"),
        ("requirements.txt", r"\A", "kazoo @ git+https://example.org/kazoo\n", r"requirements\.txt:1: .*git"),
        ("requirements.txt", r"\A", "--extra-index-url https://example.org/simple\n", r"requirements\.txt:1: .*extra-index"),
        ("requirements.txt", r"\A", "-e .\n", r"requirements\.txt:1: "),
        ("requirements/dev.txt", r"--hash=sha256:[0-9a-f]{60}", "--hash=sha256:", r"dev\.txt:\d+: "),
        ("requirements/runtime.in", r"\Z", "left-pad\n", r"runtime\.in:\d+: not in requirements\.txt.*left-pad"),
        ("Dockerfile", r"@sha256:[0-9a-f]+", "", r"Dockerfile:3: image without digest: python:3\.11-slim-bookworm$"),
        ("Dockerfile", r"@sha256:[0-9a-f]+", ":$TAG", r"Dockerfile:3: image without digest"),
        ("Dockerfile", r"\Z", "COPY --from=busybox:1 /bin/sh /sh\n", r"Dockerfile:\d+: image without digest: busybox:1"),
        ("Dockerfile", r"--require-hashes --no-build", "--no-build", r"Dockerfile:\d+: installs without .*requirements\.txt"),
        ("Dockerfile", r"(--require-hashes) --no-build-isolation", r"\1", r"Dockerfile:\d+: installs without"),
        ("Dockerfile", r"--no-deps ", "", r"Dockerfile:\d+: installs without .*--editable"),
        ("Makefile", r"--require-hashes --only-binary :all: -r requirements/build.txt", "uv", r"Makefile:\d+: installs .* uv"),
        (".ci/run", r"\Z", "uv tool install ruff\n", r"run:\d+: installs without"),
        ("docker-compose.yaml", r"(postgres:16)@sha256:[0-9a-f]+", r"\1", r"docker-compose\.yaml:\d+: .*postgres:16$"),
        ("docker-compose.yaml", r"(apache/kafka:3.9.1)@\S+", r"\1@sha256:beef", r"docker-compose\.yaml:\d+: .*kafka:3"),
    ],
)
def test_what_is_not_pinned_is_refused(checkout, file, pattern, instead, complaint):
    text = (checkout / file).read_text(encoding="utf-8")
    broken, count = re.subn(pattern, instead, text, count=1)
    assert count == 1
    (checkout / file).write_text(broken, encoding="utf-8")
    code, messages = checked(checkout)
    assert code == 1
    assert len(messages) == 1, messages
    assert re.search(complaint, messages[0]), messages[0]


def test_a_lock_that_is_missing_or_comes_from_nowhere_is_refused(checkout):
    (checkout / "requirements" / "image.txt").rename(checkout / "requirements" / "elsewhere.txt")
    assert checked(checkout) == (
        1,
        [
            "image.txt: missing, `make lock` writes it",
            "elsewhere.txt: no elsewhere.in says what it was made from",
        ],
    )


def test_a_stage_of_the_dockerfile_itself_needs_no_digest(checkout):
    text = (checkout / "Dockerfile").read_text(encoding="utf-8")
    (checkout / "Dockerfile").write_text(
        re.sub(r"^(FROM \S+)", r"\1 AS base", text, flags=re.MULTILINE) + "FROM base\nCOPY --from=base /a /b\n"
    )
    assert checked(checkout) == (0, [])


def test_the_list_of_components_names_what_the_image_installs(tmp_path):
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 -- heavy
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    completed = subprocess.run(
        ["make", "-s", "-o", ".venv/.installed", "sbom", f"SBOM={tmp_path}/sbom.json", f"BIN={Path(sys.executable).parent}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    text = (tmp_path / "sbom.json").read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bom = json.loads(text)
    hashes = {
        (component["name"].lower().replace("_", "-").replace(".", "-"), component["version"]): {
            found["content"] for reference in component["externalReferences"] for found in reference.get("hashes", [])
        }
        for component in bom["components"]
    }
    locked = {}
    for name in ("requirements.txt", "requirements/image.txt"):
        for match in re.finditer(r"^(\S+?)(?:\[\S+\])?==(\S+).*((?:\n    --hash=.*)+)", (ROOT / name).read_text(), re.MULTILINE):
            locked[match[1].lower(), match[2]] = set(re.findall(r"sha256:([0-9a-f]{64})", match[3]))
    assert len(locked) > 150
    assert hashes == locked
    version = re.search(r'__version__ = "(.*)"', (ROOT / "plugins" / "kafka_audit" / "__init__.py").read_text())[1]
    assert (bom["metadata"]["component"]["name"], bom["metadata"]["component"]["version"]) == ("kafka-audit", version)
