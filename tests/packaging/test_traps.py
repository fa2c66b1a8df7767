"""Traps of Airflow and Spark that were met once; each test fails where one opens again."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import kafka_audit
from airflow_environment import ROOT

PACKAGE = ROOT / "plugins" / "kafka_audit"
SOURCES = (
    sorted((ROOT / "plugins").rglob("*.py")) + sorted((ROOT / "dags").glob("*.py")) + sorted((ROOT / "spark_jobs").glob("*.py"))
)

LOAD_PLUGINS = """
import json, sys
from airflow import plugins_manager
plugins_manager.ensure_plugins_loaded()
import airflow, kafka, kazoo, types
own = sorted(name for name, module in sys.modules.items() if sys.argv[1] in str(getattr(module, "__file__", None) or ""))
print("RESULT", json.dumps({"own": own, "kafka": kafka.__file__, "kazoo": kazoo.__file__, "types": types.__file__,
                            "airflow": airflow.__file__,
                            "errors": plugins_manager.get_import_errors(),
                            "plugins": sorted(p.name or "" for p in plugins_manager._get_plugins()[0])}))
"""


def loaded(plugins):
    """Return what Airflow's plugin loader leaves in a fresh process for a plugins folder."""
    completed = subprocess.run(
        [sys.executable, "-P", "-c", LOAD_PLUGINS, str(plugins)],
        env={**os.environ, "AIRFLOW__CORE__PLUGINS_FOLDER": str(plugins)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    (line,) = (line for line in completed.stdout.splitlines() if line.startswith("RESULT "))
    return json.loads(line.removeprefix("RESULT "))


@pytest.mark.airflow
def test_the_plugin_loader_executes_the_shim_and_nothing_else():
    """It runs every .py below plugins/ and registers it by its bare stem: a `types.py` there would replace stdlib's."""
    found = loaded(ROOT / "plugins")
    assert {name for name in found["own"] if "." not in name} == {"kafka_audit", "kafka_audit_plugin"}
    # Every process of Airflow loads plugins; the pages, their templates and FastAPI are for the API server alone.
    assert {name for name in found["own"] if "." in name} == {
        "kafka_audit.airflow",
        "kafka_audit.airflow.environment",
        "kafka_audit.airflow.moved",
        "kafka_audit.airflow.options",
        "kafka_audit.airflow.page",
        "kafka_audit.airflow.page.plugin",
        "kafka_audit.airflow.page.links",
        "kafka_audit.airflow.provider_info",
        "kafka_audit.model",
        "kafka_audit.model.errors",
    }
    assert found["errors"] == {}
    assert "kafka_audit" in found["plugins"]
    assert "site-packages" in found["kafka"]
    assert "site-packages" in found["kazoo"]
    assert "site-packages" in found["airflow"], "kafka_audit/airflow is no top-level package, and must not become one"
    assert found["types"] == __import__("types").__file__


@pytest.mark.airflow
def test_without_airflowignore_the_loader_would_take_a_modules_place(tmp_path):
    """The trap itself: when this fails, Airflow has changed and `.airflowignore` may be superfluous."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "kafka.py").write_text("x = 1\n")
    assert loaded(tmp_path)["kafka"] == str(package / "kafka.py")
    (tmp_path / ".airflowignore").write_text("package/\n")
    assert "site-packages" in loaded(tmp_path)["kafka"]


def test_no_module_is_called_like_one_that_others_need():
    taken = {"kafka", "kazoo", "spark", "types", "pyspark", "airflow"}
    assert [str(path) for path in PACKAGE.rglob("*.py") if path.stem in taken] == []
    # These folders are on sys.path, unlike the package, whose room `airflow` therefore shadows nothing.
    roots = (ROOT / "plugins", ROOT / "tests", ROOT)
    assert [str(root / name) for root in roots for name in taken if (root / name).exists()] == []


def test_pyspark_and_its_client_are_one_set_of_files():
    """Both wheels own `site-packages/pyspark`; of unequal versions, the one installed last wins file by file."""
    import pyspark  # noqa: PLC0415 -- heavy

    (core,) = (Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar")
    jar = re.fullmatch(r"spark-core_2\.13-(.+)\.jar", core.name)[1]
    assert {pyspark.__version__, version("pyspark"), version("pyspark-client"), jar} == {pyspark.__version__}


def pins(name):
    lines = (ROOT / name).read_text().splitlines()
    found = (Requirement(line.partition("#")[0].rstrip(" \\")) for line in lines if line[:1].isalpha())
    return {requirement.name.lower(): str(requirement.specifier) for requirement in found}


@pytest.mark.parametrize("file", ["requirements/runtime.in", "requirements.txt"])
def test_pyspark_and_its_client_are_pinned_alike(file):
    assert pins(file)["pyspark"] == pins(file)["pyspark-client"]
    assert pins(file)["pyspark"].startswith("==")


def test_what_is_installed_is_what_is_pinned():
    locked = pins("requirements.txt")
    packages = ("apache-airflow", "apache-airflow-providers-apache-spark", "pyspark", "kafka-python", "kazoo", "pandas")
    assert {name: f"=={version(name)}" for name in packages} == {name: locked[name] for name in packages}


def test_pandas_is_one_that_pyspark_imports():
    """`pyspark.pandas` does not import under pandas 3."""
    assert int(version("pandas").partition(".")[0]) < 3


def test_the_package_is_this_checkouts():
    """site-packages precedes plugins/ on Airflow's path: an installed copy would win, unseen."""
    assert Path(kafka_audit.__file__).is_relative_to(PACKAGE)


ASKS_CONVERTERS = """
import sys
from py4j import protocol
from kafka_audit.spark import session
if sys.argv[1] == "ours":
    session._take_nothing_of_numpy()
asked = [one.can_convert({}) for one in protocol.INPUT_CONVERTER]
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize(("whose", "message"), [("ours", "False\n"), ("pyspark's", "True\n")])
def test_pyspark_imports_pandas_for_the_first_value_that_goes_to_the_jvm(whose, message):
    """A second of each start. When the second case fails, `session._take_nothing_of_numpy` may be superfluous."""
    completed = subprocess.run(
        [sys.executable, "-c", ASKS_CONVERTERS, whose], env={**os.environ, "PYTHONPATH": str(ROOT / "plugins")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert completed.stdout == message


def test_no_python_function_runs_on_executors():
    """Executors have no kafka_audit: what runs there is SQL."""
    used = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Name) and node.id in {"udf", "pandas_udf"})
        or (isinstance(node, ast.Attribute) and node.attr in {"udf", "pandas_udf", "mapInPandas", "applyInPandas", "rdd"})
    ]
    assert used == []


def test_the_shim_imports_the_plugin_and_nothing_else():
    tree = ast.parse((ROOT / "plugins" / "kafka_audit_plugin.py").read_text())
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [node.name for node in tree.body if isinstance(node, ast.ClassDef)] == []
    assert imported == ["pathlib", "kafka_audit.airflow.page"]


def test_rendering_a_notifier_still_overwrites_it():
    """Why `airflow.alert_channels` makes a new notifier for each alert; when this fails, it no longer needs to."""
    from airflow.providers.smtp.notifications.smtp import SmtpNotifier  # noqa: PLC0415 -- heavy

    notifier = SmtpNotifier(to="a@b", subject="{{ name }}")
    notifier.render_template_fields({"name": "first"})
    notifier.render_template_fields({"name": "second"})
    assert notifier.subject == "first"
