"""Run the blocks of .github/workflows/ci.yml on this machine, as GitHub does.

`.ci/workflow` lints the workflow with actionlint, then runs each job in a fresh clone of the last commit. A step with `uses:` is
skipped and printed. The caches of the user who runs it (pip, uv, Kafka's jars) are used; GitHub's runner begins without them.
A workflow that needs what this program does not have (services, secrets, expressions about anything but the matrix) is refused
before a block runs.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORKFLOW = Path(".github", "workflows", "ci.yml")
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
"""Go compares the module with its checksum database."""
GO = "/usr/local/go/bin"
"""Where Go's own archive is unpacked; not in every user's PATH."""
SHELLS = {"": ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
"""What GitHub starts on Linux for a block without `shell:` and with `shell: bash`."""
RUNS_AFTER = {"": (True, False), "success()": (True, False), "failure()": (False, True), "always()": (True, True)}
"""Conditions: whether the step runs while nothing failed, and after a failure."""
KEYS = {
    "workflow": {"name", "on", "permissions", "concurrency", "defaults", "env", "jobs"},
    "job": {"runs-on", "permissions", "concurrency", "defaults", "env", "strategy", "timeout-minutes", "steps"},
    "strategy": {"matrix", "fail-fast", "max-parallel"},
    "step": {"name", "uses", "with", "run", "env", "shell", "working-directory", "if"},
}
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class WorkflowError(Exception):
    """The workflow has something that this program cannot do as GitHub does it."""


@dataclass(frozen=True)
class Step:
    """A step of a job.

    Attributes:
        name: its name, else the action, else the first line of the block.
        block: what `run:` has, None for an action.
        env: its variables.
        shell: a key of `SHELLS`.
        folder: the working directory, below the clone.
        condition: a key of `RUNS_AFTER`.
    """

    name: str
    block: str | None
    env: dict[str, str]
    shell: str
    folder: str
    condition: str


@dataclass(frozen=True)
class Job:
    """A job, or one cell of its matrix.

    Attributes:
        key: its key in the workflow.
        name: as GitHub names it: the key, and the values of the matrix in parentheses.
        env: variables of the workflow and of the job.
        seconds: how long it may take.
        steps: in the order of the job.
    """

    key: str
    name: str
    env: dict[str, str]
    seconds: float
    steps: list[Step]


def jobs(text: str) -> list[Job]:
    """Return the jobs of a workflow, the matrix expanded; raises `WorkflowError`."""
    document = yaml.safe_load(text)
    if isinstance(document, dict) and True in document:
        document["on"] = document.pop(True)  # YAML 1.1 reads the key `on` as a boolean
    workflow = _mapping(document, "workflow", "the workflow")
    found = []
    for key, job in (workflow.get("jobs") or {}).items():
        _mapping(job, "job", f"job {key}")
        for values in matrix(_mapping(job.get("strategy") or {}, "strategy", f"strategy of job {key}").get("matrix") or {}):
            name = f"{key} ({', '.join(map(_text, values.values()))})" if values else key
            env = _variables({**(workflow.get("env") or {}), **(job.get("env") or {})}, values, f"job {name}")
            defaults = {**_defaults(workflow), **_defaults(job)}
            listed = enumerate(job.get("steps") or [], 1)
            steps = [_step(step, defaults, values, f"job {name}, step {number}") for number, step in listed]
            found.append(Job(key, name, env, 60 * float(job.get("timeout-minutes", 360)), steps))
    return found


def matrix(defined: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a matrix, as GitHub expands it: one without values if there is no matrix; raises `WorkflowError`."""
    axes = {name: values for name, values in defined.items() if name not in {"include", "exclude"}}
    lists = [*axes.values(), defined.get("include", []), defined.get("exclude", [])]
    if not all(isinstance(values, list) for values in lists):
        message = "a matrix is refused whose values are an expression"
        raise WorkflowError(message)
    product = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())] if axes else []
    excluded = [entry.items() for entry in defined.get("exclude", [])]
    cells = [cell for cell in product if not any(entry <= cell.items() for entry in excluded)]
    of_axes = [dict(cell) for cell in cells]
    for entry in defined.get("include", []):
        fits = [cell for cell, own in zip(cells, of_axes, strict=False) if own | entry == entry | own]
        for cell in fits:
            cell.update(entry)
        if not fits:
            cells.append(dict(entry))
    return cells or [{}]


def _step(step: object, defaults: Mapping[str, str], values: Mapping[str, Any], where: str) -> Step:
    mapping = _mapping(step, "step", where)
    block = mapping.get("run")
    name = _filled(mapping.get("name") or mapping.get("uses") or str(block).strip().partition("\n")[0], values, where)
    where = f"{where} ({name})"
    if (block is None) == ("uses" not in mapping):
        message = f"{where} has to have either `run:` or `uses:`"
        raise WorkflowError(message)
    condition = re.sub(r"^\$\{\{\s*(.*?)\s*\}\}$", r"\1", str(mapping.get("if", "")).strip())
    shell = mapping.get("shell", defaults.get("shell", ""))
    for key, value, possible in (("if", condition, RUNS_AFTER), ("shell", shell, SHELLS)):
        if block is not None and value not in possible:
            message = f"{where}: `{key}: {value}` is refused, possible are: {', '.join(filter(None, possible))}"
            raise WorkflowError(message)
    return Step(
        name=name,
        block=None if block is None else _filled(block, values, where),
        env={} if block is None else _variables(mapping.get("env") or {}, values, where),
        shell=shell,
        folder=_filled(mapping.get("working-directory", defaults.get("working-directory", ".")), values, where),
        condition=condition,
    )


def _mapping(value: object, kind: str, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{where} is no mapping"
        raise WorkflowError(message)
    if unknown := value.keys() - KEYS[kind]:
        message = f"{where} has keys that are refused: {', '.join(sorted(map(str, unknown)))}"
        raise WorkflowError(message)
    return value


def _defaults(mapping: Mapping[str, Any]) -> dict[str, str]:
    return (mapping.get("defaults") or {}).get("run") or {}


def _variables(env: Mapping[str, Any], values: Mapping[str, Any], where: str) -> dict[str, str]:
    return {name: _filled(value, values, where) for name, value in env.items()}


def _filled(value: object, values: Mapping[str, Any], where: str) -> str:
    """Return a text with its expressions replaced; only those of the matrix have a value here."""

    def replaced(match: re.Match[str]) -> str:
        name = match[1].removeprefix("matrix.")
        if name == match[1] or name not in values:
            message = f"{where}: the expression {match[0]} is refused, only values of the matrix are known here"
            raise WorkflowError(message)
        return _text(values[name])

    return EXPRESSION.sub(replaced, _text(value))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def run(job: Job, source: Path, folder: Path) -> str:
    """Run a job in a clone below `folder`; return what failed, "" if nothing did."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{source}", clone], check=True)
    deadline = time.monotonic() + job.seconds
    environment = _fresh_environment() | job.env
    environment |= {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(clone), "RUNNER_TEMP": str(folder)}
    failed = ""
    for number, step in enumerate(job.steps, 1):
        if step.block is None:
            say(f"{job.name}: skipped, an action: {step.name}")
            continue
        if not RUNS_AFTER[step.condition][bool(failed)]:
            say(f"{job.name}: skipped: {step.name}")
            continue
        say(f"{job.name}: {step.name}")
        files = {f"GITHUB_{name}": folder / f"{number}.{name.lower()}" for name in ("ENV", "PATH", "OUTPUT", "STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        script = folder / f"{number}.sh"
        script.write_text(step.block, encoding="utf-8")
        variables = environment | step.env | {name: str(file) for name, file in files.items()}
        outcome = _execute([*SHELLS[step.shell], script], clone / step.folder, variables, deadline)
        failed = failed or (outcome and f"step «{step.name}» {outcome}")
        environment |= dict(_assignments(files["GITHUB_ENV"].read_text(encoding="utf-8")))
        for line in files["GITHUB_PATH"].read_text(encoding="utf-8").splitlines():
            environment["PATH"] = f"{line}:{environment['PATH']}"
    return failed


def _execute(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str], deadline: float) -> str:
    """Run a block in a process group of its own; return how it failed, "" if it did not."""
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        code = process.wait(timeout=max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "was killed: the job took longer than timeout-minutes"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return f"ended with exit code {code}" if code else ""


def _fresh_environment() -> dict[str, str]:
    """Return this process's environment without what belongs to make, to a virtual environment or to a shell's start."""
    strange = ("MAKE", "MFLAGS", "PYTHON", "VIRTUAL_ENV", "BASH_ENV", "GITHUB_", "GIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(strange)}


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the variables of a file GITHUB_ENV: `NAME=value`, or `NAME<<END`, lines, and `END`."""
    lines = iter(text.splitlines())
    for line in lines:
        if several := re.fullmatch(r"([^=]+?)<<(.+)", line):
            yield several[1], "\n".join(itertools.takewhile(several[2].__ne__, lines))
        elif line:
            name, _, value = line.partition("=")
            yield name, value


def actionlint(*, build: bool = True) -> str | None:
    """Return the program: of PATH, or the pinned version, which Go builds into the cache; None without both."""
    if found := shutil.which("actionlint"):
        return found
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    built = cache / "kafka-audit" / ACTIONLINT.rpartition("/")[2] / "actionlint"
    go = shutil.which("go") or shutil.which("go", path=GO)
    if build and go and not built.exists():
        say(f"go install {ACTIONLINT}")
        subprocess.run([go, "install", ACTIONLINT], env={**os.environ, "GOBIN": str(built.parent)}, check=True)
    return str(built) if built.exists() else None


def lint(root: Path) -> str:
    """Run actionlint, which uses shellcheck if it is installed; return "passed", "failed" or why it did not run."""
    if not (program := actionlint()):
        return f"not run, missing: actionlint, and Go to build it (go install {ACTIONLINT})"
    if not shutil.which("shellcheck"):
        say("shellcheck is missing: actionlint does not check the blocks (Debian: shellcheck)")
    return "failed" if subprocess.run([program, "-no-color", root / WORKFLOW], check=False).returncode else "passed"


def say(line: str) -> None:
    """Print a line at once, between the lines of blocks."""
    sys.stdout.write(f"[workflow] {line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run; return 1 if a block or actionlint failed, 2 if the workflow or a name is refused."""
    parser = argparse.ArgumentParser(prog=".ci/workflow", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--job", action="append", help="only this job, or one cell of its matrix: 'airflow (3.3.2, 3.12)'")
    parser.add_argument("--list", action="store_true", help="print jobs, steps and blocks, and run nothing")
    parser.add_argument("--lint", action="store_true", help="only run actionlint; an error if it is missing")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1], help="of the repository")
    options = parser.parse_args(arguments)
    root = options.folder.resolve()
    try:
        chosen = _chosen(jobs((root / WORKFLOW).read_text(encoding="utf-8")), options.job or [])
    except (WorkflowError, yaml.YAMLError, OSError) as error:
        sys.stderr.write(f".ci/workflow: {error}\n")
        return 2
    if options.list:
        sys.stdout.writelines(f"{line}\n" for job in chosen for step in job.steps for line in _listed(job, step))
        return 0
    outcomes = {"actionlint": lint(root)}
    if not options.lint and outcomes["actionlint"] != "failed":
        outcomes |= _outcomes(chosen, root)
    for name, outcome in outcomes.items():
        say(f"{name}: {outcome}")
    return int(any(outcome.startswith("failed") or (options.lint and outcome != "passed") for outcome in outcomes.values()))


def _listed(job: Job, step: Step) -> list[str]:
    if step.block is None:
        return [f"{job.name}: {step.name} (an action, skipped)"]
    return [f"{job.name}: {step.name}", *(f"    {line}" for line in step.block.splitlines())]


def _chosen(found: Sequence[Job], names: Sequence[str]) -> list[Job]:
    if unknown := {*names} - {name for job in found for name in (job.key, job.name)}:
        message = f"no job {', '.join(sorted(unknown))}; there are: {', '.join(job.name for job in found)}"
        raise WorkflowError(message)
    return [job for job in found if not names or {job.key, job.name} & {*names}]


def _outcomes(chosen: Sequence[Job], root: Path) -> dict[str, str]:
    if subprocess.run(["git", "-C", root, "status", "--porcelain"], capture_output=True, check=True).stdout:
        say("changes that are not committed are not in the clones")
    outcomes = {}
    for job in chosen:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="kafka-audit-workflow-", ignore_cleanup_errors=True) as folder:
            failed = run(job, root, Path(folder))
        outcomes[job.name] = f"{f'failed: {failed}' if failed else 'passed'} ({time.monotonic() - began:.0f} s)"
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
