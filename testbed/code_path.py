"""The way of one finding through the code: ``python testbed/code_path.py RECORDING RESOURCE [--code KA302] [--checkout DIR]``.

It judges a recorded cluster by one check, from the rows of its snapshot to the finding, and prints each module of the package of
which a function was executed, how many of its functions were, and their switches: `if` and `else`, the conditions of expressions
and of comprehensions, `and`, `or`, `while`, `case`, `except`. With `--checkout` it judges by the code of another checkout, whose
tables may be older: `git worktree add DIR COMMIT`. The difference tables of the engine are made before it counts.
"""

import argparse
import ast
import importlib
import json
import lzma
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

HERE = Path(__file__).parents[1]
CLUSTERS = HERE / "tests" / "faults" / "clusters"
PACKAGE = "kafka_audit"
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.match_case, ast.ExceptHandler)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def executed(call: Callable[[], object], package: Path) -> set[CodeType]:
    """Return the functions of a package that a call executes."""
    found: set[CodeType] = set()

    def called(frame: FrameType, event: str, _value: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{package}/"):
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def switches(source: str) -> Mapping[tuple[str, int], int]:
    """Return the switches of each function of a module, by its name and first line; a function inside it has its own."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _FUNCTIONS):
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name, line] = sum(map(_switches, _inside(node)))
    return found


def _inside(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, _FUNCTIONS):
            yield child
            yield from _inside(child)


def _switches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return len(node.ifs)
    return int(isinstance(node, _BRANCHES))


def counted(codes: set[CodeType], package: Path) -> Mapping[str, tuple[int, int]]:
    """Return how many functions of each module were executed, and their switches; classes and modules are no functions."""
    functions: Counter[str] = Counter()
    branches: Counter[str] = Counter()
    known = {file: switches(Path(file).read_text(encoding="utf-8")) for file in {code.co_filename for code in codes}}
    for code in codes:
        if (code.co_name, code.co_firstlineno) in known[code.co_filename]:
            module = Path(code.co_filename).relative_to(package).as_posix()
            functions[module] += 1
            branches[module] += known[code.co_filename][code.co_name, code.co_firstlineno]
    return {module: (functions[module], branches[module]) for module in sorted(functions)}


def snapshots(name: str) -> tuple[Any, Any]:
    """Return a recorded snapshot, and the previous one or None, as far as the tables of the code that judges have them."""
    tables = importlib.import_module(f"{PACKAGE}.model.tables")
    known = {table.table(): table for table in tables.TABLES}
    plain = json.loads(lzma.decompress((CLUSTERS / f"{name}.json.xz").read_bytes()))

    def snapshot(held: Mapping[str, Any]) -> object:
        rows = []
        for table, content in held["tables"].items():
            names = {column.name for column in tables.columns(known[table])} if table in known else set()
            for values in content["rows"] if names else ():
                pairs = zip(content["columns"], values, strict=True)
                row = {column: tuple(value) if isinstance(value, list) else value for column, value in pairs if column in names}
                rows.append(known[table](**row))
        head = {key: held[key] for key in ("snapshot_id", "cluster", "cluster_id")}
        return tables.Snapshot(**head, rows=tuple(rows))

    return snapshot(plain["snapshot"]), None if plain["previous"] is None else snapshot(plain["previous"])


def _views() -> Callable[[Mapping[str, tuple[Any, Any]]], Mapping[str, Any]]:
    for place in ("testbed.cluster_views", "cluster_views"):  # the second up to 2026-11-26
        try:
            found: Callable[[Mapping[str, tuple[Any, Any]]], Mapping[str, Any]] = importlib.import_module(place).cluster_views
        except ModuleNotFoundError:
            continue
        return found
    message = "this checkout has no module of cluster views"
    raise SystemExit(message)


def way(name: str, resource: str, code: str, checkout: Path) -> tuple[Mapping[str, tuple[int, int]], str]:
    """Return the modules on the way of a finding in a recorded cluster, with their functions and switches, and its message."""
    sys.path[:0] = [str(checkout / part) for part in ("plugins", "", "tests")]
    check = importlib.import_module(f"{PACKAGE}.checks").catalogue()[code]
    pair = snapshots(name)
    (view,) = _views()({pair[0].snapshot_id: pair}).values()
    lines: list[str] = []

    def judge() -> None:
        lines.extend(
            f"{judgement.status}: {judgement.evidence.get('why') or judgement.evidence}"
            for judgement in check.function(view)
            if judgement.resource == resource
        )

    package = checkout / "plugins" / PACKAGE
    return counted(executed(judge, package), package), "; ".join(lines) or "no judgement of this resource"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recording", help="a file of tests/faults/clusters, without .json.xz")
    parser.add_argument("resource", help="broker/2/listener/PLAINTEXT")
    parser.add_argument("--code", default="KA302")
    parser.add_argument("--checkout", type=Path, default=HERE)
    options = parser.parse_args()
    found, message = way(options.recording, options.resource, options.code, options.checkout.resolve())
    lines = [
        f"{branches:5} switches in {functions:3} functions  {module}"
        for module, (functions, branches) in sorted(found.items(), key=lambda item: -item[1][1])
    ]
    rooms = sorted({module.rpartition("/")[0] for module in found})
    every = [(room, [counts for module, counts in found.items() if module.rpartition("/")[0] == room]) for room in rooms]
    for room, counts in (*every, ("all", [*found.values()])):
        lines.append(f"{room}: {len(counts)} modules, {sum(count for _, count in counts)} switches")
    sys.stdout.write("\n".join([*lines, message, ""]))


if __name__ == "__main__":
    main()
