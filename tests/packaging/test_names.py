"""A reader who searches for the name of a class or of a public function finds one definition."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "plugins" / "kafka_audit"

INTERFACES = {
    "answer": "of an engine: `cli.engines` calls it so",
    "main": "what a process runs first: the console script and each module that Python starts by itself",
    "validate": "of a release of Kafka: `configuration.starts` calls the one of the version",
}
"""Functions that several modules have under one name, for one caller that takes any of them."""


def test_no_two_classes_share_a_name():
    """With an underscore or without: `_Row` beside `Row` is found twice as well."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip("_")].append(f"{path.relative_to(PACKAGE)}: {node.name}")
    assert len(found) > 100
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_modules_have_a_public_function_of_one_name():
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(PACKAGE)))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1 and name not in INTERFACES} == {}
    assert [name for name in INTERFACES if len(found[name]) < 2] == [], "an interface that one module has is none"


_CALLERS = ("plugins", "dags", "spark_jobs", "docs", "benchmarks", "testbed", "tests")
CALLED_BY_NAME = re.compile(r"__\w+__|\w+_command|get_response_class|_dns|_tcp|_api|_packets")
"""Of Python itself, of the table of commands, of kafka-python, and of the layers of `clients/probe_script.py`."""


def test_every_function_and_class_is_named_beside_its_definition():
    """What a decorator takes, such as a check or a route of a page, is called by whatever that registers it with."""
    texts = [path for folder in _CALLERS for path in (ROOT / folder).rglob("*.py")]
    texts += PACKAGE.rglob("*.yaml")
    named = Counter(word for path in texts for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))
    defined = {
        f"{path.relative_to(PACKAGE)}: {node.name}": node
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.decorator_list
    }
    assert len(defined) > 3000
    unused = [place for place, node in defined.items() if named[node.name] == 1 and not CALLED_BY_NAME.fullmatch(node.name)]
    assert unused == [], "nobody calls them"
