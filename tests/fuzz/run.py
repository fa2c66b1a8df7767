"""`make fuzz`: a number of inputs over all readers, each reader in a process of its own that is watched from outside."""

import argparse
import contextlib
import hashlib
import importlib
import json
import logging
import math
import os
import secrets
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

try:
    import atheris
except ImportError:  # no wheel for this machine
    atheris = None

INSTRUMENTED = ("kafka_audit", "kafka.protocol", "kazoo.protocol")

HANG_SECONDS = 20.0
"""Of the clock on the wall: an input that is under way for longer is a hang, and its process is ended."""

ATTEMPTS = 10
"""Processes for one reader, where hangs or the kernel end them."""

_LEAST = 200


def main(arguments=None):
    """Fuzz; return 0 where nothing failed."""
    options = _options(arguments)
    _load(guided=options.engine == "atheris")
    names = options.reader or list(READERS)
    unknown = sorted(set(names) - set(READERS))
    if unknown:
        sys.exit(f"make fuzz: no reader {', '.join(unknown)}; there are {', '.join(READERS)}")
    weights = {name: READERS[name].weight for name in names}
    print(f"{options.count:,} inputs, {len(names)} readers, seed {options.seed}, engine {options.engine}", flush=True)
    print(f"{'reader':20}{'inputs':>10}{'seconds':>9}{'slowest':>11}{'memory':>9}  failures")
    total, began, failed = 0, time.monotonic(), 0
    for number, name in enumerate(names):
        if options.seconds and time.monotonic() - began > options.seconds:
            print(f"{name:20}   not begun: {options.seconds} s are over")
            continue
        count = max(_LEAST, math.ceil(options.count * weights[name] / sum(weights.values())))
        result = _fuzzed(name, count, options.seed + number, options, _until(options, began))
        total += result["inputs"]
        slow = result["failures"].get("slow", {}).get("inputs", ())
        if slow and not any(_is_slow(name, bytes.fromhex(data)) for data in slow):
            del result["failures"]["slow"]
        failed += len(result["failures"])
        figures = f"{result['inputs']:>10,}{result['seconds']:>9.1f}{result['slowest_ms']:>8.0f} ms{result['peak_mb']:>6.0f} MB"
        print(f"{name:20}{figures}  {len(result['failures']) or ''}", flush=True)
        for kind, failure in result["failures"].items():
            _tell(name, kind, failure)
    print(f"{total:,} inputs in {time.monotonic() - began:.0f} s, {failed} failures", flush=True)
    return min(failed, 1)


def _load(*, guided):
    """Import all that is fuzzed, once for all readers; with coverage, of which atheris tells each module on stderr."""
    logging.disable(logging.CRITICAL)
    if not guided:
        _modules()
        return
    instrumented = atheris.instrument_imports(include=list(INSTRUMENTED))
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere), instrumented:
        _modules()


def _modules():
    bind(*(importlib.import_module(f"fuzz.{name}") for name in ("watch", "readers", "worker")))


def bind(watching, reading, working):
    """Take the modules that must not be imported before atheris looks."""
    global watch, READERS, HEAD, Job, work
    watch, READERS = watching, reading.READERS
    HEAD, Job, work = working.HEAD, working.Job, working.main


def _options(arguments):
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="inputs over all readers (100,000)")
    parser.add_argument("--seconds", type=float, help="stop after this many seconds")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31), help="of all dice; another one each time")
    parser.add_argument("--reader", action="append", help="this reader alone; may stand several times")
    parser.add_argument("--keep", action="store_true", help="add inputs that reach new lines to the corpus")
    engines = ["atheris", "plain"] if atheris else ["plain"]
    parser.add_argument("--engine", choices=engines, default=engines[0], help="guided by coverage (atheris) or not (plain)")
    return parser.parse_args(arguments)


def _until(options, began):
    return None if options.seconds is None else began + options.seconds


def _keep(job):
    """Add to the corpus what this job found of worth."""
    keep = importlib.import_module("fuzz.keep")
    folder = watch.CORPUS / job.reader
    known = [path.read_bytes() for path in watch.inputs(watch.CORPUS, job.reader)]
    found = [path.read_bytes() for path in sorted((Path(job.folder) / "corpus").glob("*"))]
    for content in keep.chosen(READERS[job.reader], known, set(found) - set(known)):
        (folder / hashlib.sha256(content).hexdigest()[:12]).write_bytes(content)


def _fuzzed(name, count, seed, options, until):
    """Run workers for a reader until the count is reached: after a hang, or the end of a process, with the next seed."""
    total = {"inputs": 0, "seconds": 0.0, "slowest_ms": 0.0, "peak_mb": 0.0, "failures": {}}
    for attempt in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(prefix="kafka-audit-fuzz-") as folder:
            job = Job(
                reader=name, count=count - total["inputs"], seed=seed + 1000 * attempt, folder=folder, engine=options.engine
            )
            result = _watched(job, until)
            if options.keep:
                _keep(job)
        total["inputs"] += result["inputs"]
        total["seconds"] += result["seconds"]
        for key in ("slowest_ms", "peak_mb"):
            total[key] = max(total[key], result[key])
        total["failures"] |= result["failures"]
        if total["inputs"] >= count or result.get("late"):
            break
    return total


def _watched(job, until):
    began = time.monotonic()
    output = Path(job.folder) / "output"
    child = _forked(job, output)
    kind, late, status = "", False, None
    while status is None:
        time.sleep(0.05)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        status = None
        _, since, _ = _now(job)
        late = until is not None and time.monotonic() > until
        if late or (since and time.monotonic() - since > HANG_SECONDS):
            kind = "" if late else "hang"
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
    if job.told.is_file():
        return json.loads(job.told.read_text())
    inputs, since, data = _now(job)
    if not (since or late):
        sys.exit(f"make fuzz: the worker for {job.reader} did not begin:\n{_said(output)}")
    result = {
        "inputs": inputs + bool(since),
        "seconds": time.monotonic() - began,
        "slowest_ms": 0.0,
        "peak_mb": 0.0,
        "failures": {},
        "late": late,
    }
    if not late:
        text = f"over {HANG_SECONDS:.0f} s" if kind else _said(output)
        result["failures"][kind or f"the process ended with {os.waitstatus_to_exitcode(status)}"] = {
            "inputs": [data.hex()],
            "text": text,
        }
    return result


def _forked(job, output):
    child = os.fork()
    if child:
        return child
    try:
        with output.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        work(job, atheris if job.engine == "atheris" else None)
    except BaseException:  # noqa: BLE001 -- whatever it is, this process must not go on as its parent
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(70)


def _said(output):
    lines = output.read_text(errors="replace").splitlines()
    return "\n".join(lines[-40:])


def _now(job):
    try:
        content = job.now.read_bytes()
        inputs, since, size = HEAD.unpack_from(content)
    except (OSError, struct.error):  # it is being made
        return 0, 0.0, b""
    return inputs, since, content[HEAD.size : HEAD.size + size]


def _is_slow(name, content):
    """Return whether an input takes too long also where no coverage is counted, in a process of its own."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        command = [sys.executable, "-m", "fuzz.watch", name, file.name]
        paths = os.pathsep.join(str(watch.ROOT / folder) for folder in ("plugins", "tests"))
        completed = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, check=False)
    return completed.returncode != 0


def _tell(name, kind, result):
    folder = watch.REGRESSIONS / name
    folder.mkdir(parents=True, exist_ok=True)
    print(f"  {kind}")
    for content in map(bytes.fromhex, result["inputs"]):
        path = folder / hashlib.sha256(content).hexdigest()[:16]
        path.write_bytes(content)
        print(f"    {path.relative_to(watch.ROOT)} ({len(content)} bytes): {content[:60]!r}")
    print("\n".join(f"    | {line}" for line in result["text"].splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
