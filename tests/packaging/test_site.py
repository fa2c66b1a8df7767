"""The documentation site: Sphinx reads all pages strictly. `make site` writes them as HTML too."""

import shutil
import subprocess
import sys

import pytest

from airflow_environment import ROOT


def sphinx(folder, output):
    """Let Sphinx read the pages of a folder as strictly as `make site`, and write nothing; returns its warnings."""
    command = ["-m", "sphinx", "-b", "dummy", "-W", "--keep-going", "--quiet", "-c", str(folder / "docs" / "site")]
    completed = subprocess.run(
        [sys.executable, *command, "-d", str(output), str(folder), str(output)], capture_output=True, text=True, check=False
    )
    assert completed.returncode == bool(completed.stderr), completed.stderr
    return completed.stderr


@pytest.fixture
def copied(tmp_path):
    """The pages of this checkout without those of the checks, as a folder to change."""
    shutil.copytree(ROOT / "docs", tmp_path / "copy" / "docs", ignore=shutil.ignore_patterns("KA*.md"))
    for page in ROOT.glob("*.md"):
        shutil.copy(page, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.large
def test_the_site_builds_strictly(tmp_path):
    assert sphinx(ROOT, tmp_path) == ""


@pytest.mark.large
def test_a_page_outside_of_the_navigation_and_a_broken_link_fail(copied, tmp_path):
    (copied / "docs" / "forgotten.md").write_text("# Forgotten\n\n[Airflow](airflow.md#no-such-part), [gone](gone.md)\n")
    warnings = [line for line in sphinx(copied, tmp_path / "out").splitlines() if "forgotten.md" in line]
    assert any("isn't included in any toctree" in line for line in warnings), warnings
    assert any("no-such-part" in line for line in warnings), warnings
    assert any("gone.md" in line for line in warnings), warnings
