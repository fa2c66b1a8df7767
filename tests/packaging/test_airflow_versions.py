"""The table of Airflow versions in docs/airflow.md: it is of the record, and the record is of this checkout."""

import json

from airflow_environment import ROOT
from testbed.airflow_versions import names, record
from testbed.airflow_versions.checks import CHECKS, DAGS
from testbed.airflow_versions.environments import TARGETS

AGAIN = "run `make airflow`"


def test_the_page_has_the_table_of_the_record():
    page = record.PAGE.read_text(encoding="utf-8")
    assert page.partition(record.BEGIN)[2].partition(record.END)[0] == f"\n\n{record.table(record.read())}\n"


def test_the_record_has_every_check_of_every_version():
    kept = record.read()
    assert list(kept["runs"]) == [target.name for target in TARGETS], AGAIN
    assert {name: list(run["checks"]) for name, run in kept["runs"].items()} == {
        target.name: list(CHECKS) for target in TARGETS
    }, AGAIN
    assert kept["dags"] == list(DAGS), AGAIN


def test_each_name_of_airflow_exists_in_every_version():
    """Without installing these versions: the record has each name that the checkout imported when they were run."""
    runs = record.read()["runs"]
    used = {f"{module}:{name}": optional for path in names.sources() for (module, name), optional in _required(path)}
    unknown = {name for name in used for run in runs.values() if name not in run["names"]}
    assert unknown == set(), AGAIN
    missing = {(version, name) for version, run in runs.items() for name in used if not (used[name] or run["names"][name])}
    assert missing == set(), "import it within try, with what that version has instead"
    assert any(not run["names"][name] for name in used for run in runs.values()), "names were looked for in one version only"


def _required(path):
    """Return names with False before those with True: a name that is imported in both ways is required."""
    return sorted(names.imported(path), key=lambda name: not name[1])


def test_a_name_is_optional_within_a_try_that_catches_import_errors(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "import airflow.sdk\nfrom airflow.sdk import dag\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from airflow.sdk import Context\n"
        "try:\n    from airflow.sdk import conf\nexcept ImportError:\n    from airflow.configuration import conf\n"
        "try:\n    from airflow.sdk import task\nexcept ValueError:\n    pass\n"
        "def late():\n    from airflow.models import Late\n"
    )
    assert list(names.imported(module)) == [
        (("airflow.sdk", ""), False),
        (("airflow.sdk", "dag"), False),
        (("airflow.sdk", "conf"), True),
        (("airflow.configuration", "conf"), True),
        (("airflow.sdk", "task"), False),
        (("airflow.models", "Late"), False),
    ]


def test_a_check_that_fails_and_a_package_that_was_replaced_are_in_the_table():
    checks = dict.fromkeys(CHECKS, "") | {"audit": "report: [], expected ('bed', [])"}
    run = {"checks": checks, "replaced": {"apache-airflow-providers-standard": ["1.12.0", "1.21.0"]}, "names": {}}
    table = record.table({"dags": list(DAGS), "runs": {"3.1.8 on Python 3.11": run}})
    rows = [line for line in table.splitlines() if line.endswith("| failed |")]
    assert [row.partition(" | ")[0] for row in rows] == [f"| {CHECKS['audit'].__doc__.removesuffix('.')}"]
    assert "- Airflow 3.1.8 on Python 3.11, audit: report: []" in table
    assert "`apache-airflow-providers-standard` 1.12.0 → 1.21.0" in table


def test_the_record_holds_nothing_of_the_machine():
    text = json.dumps(record.read())
    assert str(ROOT) not in text
    assert "/tmp" not in text  # noqa: S108 -- where environments are made
