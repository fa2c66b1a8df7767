"""The workflow that GitHub runs, and `.ci/workflow`, which runs its blocks here."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from airflow_environment import ROOT

PROGRAM = ROOT / ".ci" / "workflow.py"
TEXT = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")

specification = importlib.util.spec_from_file_location("ci_workflow", PROGRAM)
workflow = importlib.util.module_from_spec(specification)
sys.modules["ci_workflow"] = workflow  # dataclasses look their module up
specification.loader.exec_module(workflow)


def linted(test):
    """Without actionlint, its test is part of the long matrix, where Go builds it."""
    return test if workflow.actionlint(build=False) else pytest.mark.scenario(test)


@pytest.fixture
def ran(tmp_path):
    """Return a function that commits a workflow in a repository of its own and runs `.ci/workflow` there."""

    def run(text, *arguments, committed=True):
        file = tmp_path / "repository" / workflow.WORKFLOW
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        git = ["git", "-C", str(tmp_path / "repository"), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "init", "--quiet"], check=True)
        if committed:
            subprocess.run([*git, "add", "."], check=True)
            subprocess.run([*git, "commit", "--quiet", "--message", "a"], check=True)
        # An actionlint that has no complaint: tests install nothing.
        (tmp_path / "actionlint").write_text("#!/bin/sh\n")
        (tmp_path / "actionlint").chmod(0o755)
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "STRANGE": "kept", "MAKEFLAGS": "-n"}
        return subprocess.run(
            [sys.executable, PROGRAM, *arguments, tmp_path / "repository"],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def job(*steps, more=""):
    lines = "\n".join(f"      - {step}" for step in steps)
    return f"on: push\ndefaults: {{run: {{shell: bash}}}}\njobs:\n  one:\n    runs-on: ubuntu-24.04\n{more}    steps:\n{lines}\n"


def test_the_workflow_has_its_jobs_and_each_airflow_that_is_checked():
    found = workflow.jobs(TEXT)
    (targets,) = re.findall(r"^AIRFLOW \?= (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    cells = [f"airflow ({target.replace('/', ', ')})" for target in targets.split()]
    assert [job.name for job in found] == ["lint", "test", "integration", *cells]
    blocks = {job.name: [step.block for step in job.steps if step.block] for job in found}
    assert blocks["airflow (3.3.2, 3.12)"][-1] == "make airflow AIRFLOW=3.3.2/3.12"
    assert {"make lint", "make site"} <= {*blocks["lint"]}
    assert blocks["test"][-2:] == ["make install", "make test"]
    assert blocks["integration"][-1] == "make integration"
    assert all(job.seconds <= 2 * 3600 for job in found)


def test_each_target_of_make_that_the_workflow_runs_exists():
    targets = set(re.findall(r"\bmake ([a-z]+)", TEXT))
    missing = {target for target in targets if f"\n{target}:" not in (ROOT / "Makefile").read_text(encoding="utf-8")}
    assert missing == set()


def test_it_needs_no_secret_and_may_only_read():
    assert "secrets." not in TEXT
    assert re.findall(r"^permissions:\n((?:  .*\n)+)", TEXT, re.MULTILINE) == ["  contents: read\n"]


def test_list_prints_every_block_and_names_what_is_skipped():
    listed = subprocess.run([sys.executable, PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
    for one in workflow.jobs(TEXT):
        for step in one.steps:
            block = "".join(f"\n    {line}" for line in (step.block or "").splitlines())
            assert f"{one.name}: {step.name}{block or ' (an action, skipped)'}\n" in listed


def test_a_block_that_fails_is_named_and_the_blocks_behind_it_do_not_run(ran):
    steps = ("uses: a/b@main", "{name: breaks, run: false | true}", "run: echo behind", "{if: always(), run: echo last}")
    completed = ran(job(*steps))
    assert completed.returncode == 1
    lines = completed.stdout.splitlines()
    assert "[workflow] one: skipped, an action: a/b@main" in lines
    assert any(re.fullmatch(r"\[workflow\] one: failed: step «breaks» ended with exit code 1 \(\d+ s\)", line) for line in lines)
    assert "behind" not in lines
    assert "last" in lines


def test_a_block_has_variables_of_all_levels_and_of_the_blocks_before_it(ran):
    completed = ran(
        "env: {OF_WORKFLOW: a, OF_ALL: workflow}\n"
        + job(
            'run: printf "%s\\n" "LATER=b=c" "LONG<<END" 1 2 END >> "$GITHUB_ENV"',
            'run: echo "$PWD" >> "$GITHUB_PATH" && printf "#!/bin/sh\\necho tool" > tool && chmod +x tool',
            "{env: {OF_ALL: step}, run: 'echo $OF_WORKFLOW $OF_JOB $OF_ALL $LATER $LONG $STRANGE $MAKEFLAGS.'}",
            "run: tool",
            more="    env: {OF_JOB: d, OF_ALL: job}\n",
        )
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "a d step b=c 1 2 kept .\n" in completed.stdout
    assert "\ntool" in completed.stdout


def test_a_job_that_takes_longer_than_its_minutes_is_killed(ran):
    completed = ran(job("run: sleep 60", more="    timeout-minutes: 0.01\n"))
    assert completed.returncode == 1
    assert "one: failed: step «sleep 60» was killed: the job took longer than timeout-minutes" in completed.stdout


def test_a_job_sees_what_is_committed_and_nothing_of_another_job(ran):
    steps = "    runs-on: a\n    steps:\n      - run: ls -A; touch left\n"
    completed = ran(f"on: push\njobs:\n  one:\n{steps}  two:\n{steps}", "--job", "two", "--job", "one")
    assert completed.returncode == 0
    assert "left" not in completed.stdout.splitlines()
    assert completed.stdout.splitlines().count(".github") == 2


@pytest.mark.parametrize(
    ("defined", "cells"),
    [
        ({}, [{}]),
        ({"a": [1, 2], "b": ["x"]}, [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]),
        ({"a": [1, 2], "b": [3, 4], "exclude": [{"a": 1}, {"a": 2, "b": 3}]}, [{"a": 2, "b": 4}]),
        ({"include": [{"a": 1}, {"a": 2, "b": 3}]}, [{"a": 1}, {"a": 2, "b": 3}]),
        # An entry goes to each cell whose axes it does not change, and is a cell of its own if there is none.
        (
            {"a": [1, 2], "include": [{"c": 5}, {"a": 1, "c": 6}, {"a": 3}, {"c": 7}]},
            [{"a": 1, "c": 7}, {"a": 2, "c": 7}, {"a": 3}],
        ),
    ],
)
def test_a_matrix_is_expanded_as_on_github(defined, cells):
    assert workflow.matrix(defined) == cells


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (job("{if: github.ref == 'main', run: a}"), "job one, step 1 (a): `if: github.ref == 'main'` is refused"),
        (job("{shell: pwsh, run: a}"), "`shell: pwsh` is refused"),
        (job("run: echo ${{ secrets.TOKEN }}"), "the expression ${{ secrets.TOKEN }} is refused"),
        (job("run: echo ${{ matrix.a }}"), "the expression ${{ matrix.a }} is refused"),
        (job("run: a", more="    services: {}\n"), "job one has keys that are refused: services"),
        (job("{run: a, continue-on-error: true}"), "keys that are refused: continue-on-error"),
        (job("name: a"), "either `run:` or `uses:`"),
        (job("run: a", more="    strategy: {matrix: {a: '${{ fromJSON(1) }}'}}\n"), "whose values are an expression"),
        (job("run: a").replace("one:", "other:"), "no job one; there are: other"),
        ("[]", "the workflow is no mapping"),
    ],
)
def test_what_would_run_otherwise_than_on_github_is_refused(ran, text, complaint):
    completed = ran(text, "--job", "one", committed=False)
    assert completed.returncode == 2
    assert complaint in completed.stderr
    assert completed.stdout == ""


@linted
def test_actionlint_has_no_complaint():
    assert workflow.actionlint(), f"actionlint is missing, and so is Go to build it: go install {workflow.ACTIONLINT}"
    assert workflow.lint(ROOT) == "passed"


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        (
            ".github/workflows/a.yml",
            "  - uses: a/b@v7 # v7",
            "a.yml:1: action without its commit: a/b@v7",
        ),
        (".github/workflows/a.yaml", "uses: 'a/b/c@main'", "a.yaml:1: action without its commit: a/b/c@main"),
        (".github/workflows/a.yml", "run: pip install uv", "a.yml:1: installs without --require-hashes: pip install uv"),
        (".ci/a", "go install example.org/a/b@latest", "a:1: Go module without an exact version: example.org/a/b@latest"),
    ],
)
def test_an_action_without_commit_and_a_module_without_version_are_refused(tmp_path, file, line, complaint):
    for name in ("Dockerfile", "Makefile", "docker-compose.yaml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in (".ci", "requirements", ".github"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / file).write_text(f"{line}\n", encoding="utf-8")
    command = [sys.executable, ROOT / ".ci" / "pinned.py", tmp_path]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 1
    assert completed.stderr.splitlines() == [complaint]
