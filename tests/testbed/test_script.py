"""Scripts of the bed run apart from it: what they share is found there, and none hangs for ever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed import script

FOLDER = Path(script.__file__).parent


def run(seconds, file, *arguments, cwd):
    command = [sys.executable, "-P", script.__file__, str(seconds), str(file), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=cwd, input="{}", capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("name", ["broker_client.py", "topics_client.py", "zookeeper_client.py"])
def test_every_script_finds_what_it_imports(tmp_path, name):
    completed = run(600, FOLDER / name, "no-such-command", cwd=tmp_path)
    assert completed.returncode
    assert "ModuleNotFoundError" not in completed.stderr
    assert "in main" in completed.stderr


def test_a_script_that_hangs_ends_and_shows_where(tmp_path):
    file = tmp_path / "hangs.py"
    file.write_text("import sys, time\ndef wait():\n    time.sleep(1e6)\nassert sys.argv[1:] == ['a']\nwait()\n")
    completed = run(10, file, "a", cwd=tmp_path)  # a busy machine takes a second to come to the call
    assert completed.returncode
    assert "in wait" in completed.stderr
