"""The project's own gate, `.ci/run`, and `.ci/install`, which installs what it needs."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_scenario_that_the_gate_begins_with_is_there():
    lines = (line.partition("#")[0].strip() for line in (ROOT / ".ci" / "scenarios").read_text().splitlines())
    listed = [line for line in lines if line]
    assert len(listed) > 10
    assert [line for line in listed if not (ROOT / line.partition("::")[0]).is_file()] == []


@pytest.fixture
def install(tmp_path):
    """Return a function that runs `.ci/install` where only some commands exist, and apt-get only says what it is asked for."""
    tools = tmp_path / "bin"
    tools.mkdir()

    def run(*arguments, present=(), user=0, apt=True):
        scripts = dict.fromkeys(present, "") | {"id": f"echo {user}"} | ({"apt-get": 'echo "apt-get $*"'} if apt else {})
        for name, script in scripts.items():
            (tools / name).write_text(f"#!/bin/sh\n{script}\n")
            (tools / name).chmod(0o755)
        # A copy that does not look into /usr/sbin of this machine.
        copy = tmp_path / "install"
        copy.write_text(re.sub(r"^export PATH=.*\n", "", (ROOT / ".ci" / "install").read_text(), flags=re.MULTILINE))
        return subprocess.run(
            ["/bin/bash", copy, *arguments], env={"PATH": str(tools)}, capture_output=True, text=True, check=False
        )

    return run


COMMANDS = re.findall(r"^require (\S+)", (ROOT / ".ci" / "install").read_text(), re.MULTILINE)


def test_packages_of_commands_that_are_missing_are_installed_and_named(install):
    completed = install("make", "nginx", "ip", present=["make"])
    assert completed.returncode == 0
    assert completed.stdout.splitlines() == [
        ".ci/install: installing iproute2 nginx-light for ip nginx",
        "apt-get update -qq",
        "apt-get install -y -qq --no-install-recommends iproute2 nginx-light",
    ]


def test_without_a_name_everything_is_installed(install):
    present = [command for command in COMMANDS if "/" not in command and command != "krb5kdc"]
    (_, _, installed) = install(present=present).stdout.splitlines()
    assert "krb5-kdc krb5-admin-server krb5-user" in installed


def test_nothing_is_installed_where_nothing_is_missing(install):
    completed = install("java", "ip", present=["java", "ip"], user=1000, apt=False)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"user": 1000}, ".ci/install: java missing, and only root can install them: apt-get install openjdk-17-jre-headless\n"),
        ({"apt": False}, ".ci/install: java missing, and there is no apt-get to install the Debian packages openjdk-17"),
    ],
)
def test_without_root_or_apt_get_it_says_what_is_missing(install, state, message):
    completed = install("java", **state)
    assert completed.returncode == 1
    assert completed.stderr.startswith(message)
    assert completed.stdout == ""


def test_a_command_that_it_does_not_know_is_an_error(install):
    completed = install("jav")
    assert completed.returncode == 2
    assert completed.stderr.startswith(".ci/install: unknown command jav; known: make ip ")


def test_the_gate_installs_what_is_missing_before_it_lints():
    gate = (ROOT / ".ci" / "run").read_text()
    installs = re.search(r"^\.ci/install$", gate, re.MULTILINE)
    assert installs, "it does not call .ci/install"
    assert gate.index("python3 .ci/pinned.py") < installs.start() < gate.index("\nmake lint")
    assert "apt-get" not in gate
