"""A soak of a minute: every process answers, and the picture and the lines are there."""

import csv
import subprocess
import sys

import pytest

from soak.__main__ import TESTS, withdrawn


@pytest.mark.spark
@pytest.mark.scenario
def test_a_short_soak_runs_and_draws(tmp_path):
    command = [sys.executable, "-m", "soak", "--minutes", "0.2", "--every", "1", "--out", str(tmp_path)]
    completed = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert completed.returncode in {0, 1}, completed.stderr
    rows = list(csv.DictReader((tmp_path / "soak.csv").open()))
    assert len(rows) >= 3
    assert {row["page"] for row in rows} == {"200"}
    assert "auditor files" in completed.stdout
    assert (tmp_path / "soak.svg").read_text().startswith("<svg")


def test_a_failure_that_goes_without_a_repair_is_told():
    audits = [
        {"minute": number, "high": high, "repaired": repaired, "done": ""}
        for number, (high, repaired) in enumerate([("KA101 broker/1", 0), ("", 1), ("KA105 broker/2", 0), ("", 0)])
    ]
    (text,) = withdrawn(audits)
    assert "KA105 broker/2" in text
