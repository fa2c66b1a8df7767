"""A Python process that has imported what takes seconds, and runs programs in forks of itself: all else is theirs alone."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self

_SERVER = """
import importlib, json, os, sys, traceback

for name in sys.argv[1:]:
    importlib.import_module(name)
for line in sys.stdin:
    program = json.loads(line)
    child = os.fork()
    if not child:
        for number, path in enumerate(program["files"]):
            os.dup2(os.open(path, os.O_RDWR), number)
        os.environ.clear()
        os.environ.update(program["environment"])
        sys.argv = ["-c", *program["arguments"]]
        code = 0
        try:
            exec(program["source"], {"__name__": "__main__"})
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class WarmPython:
    """Runs one program at a time; it has the environment that this process has when it begins."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, "-c", _SERVER, *modules]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def run(self, source: str, *arguments: str, environment=None, given: str = "") -> subprocess.CompletedProcess:
        """Run a program with `given` as its input, in this environment where it is not None."""
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("in", "out", "err")]
            for file in files:
                file.write_text(given if file.name == "in" else "", encoding="utf-8")
            program = {"source": source, "arguments": arguments, "files": [str(file) for file in files]}
            program["environment"] = dict(os.environ if environment is None else environment)
            self._server.stdin.write(json.dumps(program) + "\n")
            self._server.stdin.flush()
            code = int(self._server.stdout.readline())
            return subprocess.CompletedProcess(source, code, *(file.read_text(encoding="utf-8") for file in files[1:]))
