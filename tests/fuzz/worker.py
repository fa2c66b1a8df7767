"""Feeds inputs to one reader, in a process that `fuzz.run` has forked for it.

With atheris (libFuzzer), inputs that reach new code are kept and changed further; without it, inputs are changes of those in the
corpus. The results are in the job's `told` file. The current input is in `now`, so that the parent process knows which one hangs,
or ended the process.
"""

import gc
import hashlib
import json
import mmap
import os
import random
import struct
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from fuzz import watch
from fuzz.mutations import mutated, stretched
from fuzz.readers import READERS

HEAD = struct.Struct("!qdi")
"""Of `now`: inputs so far, when this one began (monotonic clock, seconds), its length; the input follows."""

MOST_KEPT = 3
"""Inputs that are kept of each way to fail."""

_STRETCH_EVERY = 64
_MOST_SEED = 2048


@dataclass(frozen=True)
class Job:
    """What a worker does; `folder` is its own."""

    reader: str
    count: int
    seed: int
    folder: str
    engine: str

    @property
    def told(self):
        """Where the outcome goes."""
        return Path(self.folder) / "told.json"

    @property
    def now(self):
        """Where the input under way stands."""
        return Path(self.folder) / "now"


class Worker:
    """Counts, watches, and keeps what fails."""

    def __init__(self, job, reader):
        self._job, self._reader = job, reader
        self._dice = random.Random(job.seed)  # noqa: S311 -- no secret
        self._started = time.monotonic()
        self._done = 0
        self._slowest = (0.0, b"")
        self._failures = {}
        size = HEAD.size + 2 * reader.longest + _MOST_SEED
        job.now.write_bytes(bytes(size))
        with job.now.open("r+b") as file:
            self._now = mmap.mmap(file.fileno(), size)

    def take(self, data):
        """Try an input, and now and then what it becomes when a part of it stands many times; ends the process at the last."""
        self._try(data)
        if self._done % _STRETCH_EVERY == 0:
            self._try(stretched(data, self._dice, self._reader.longest))
        if self._done >= self._job.count:
            self._tell()
            sys.stdout.flush()
            os._exit(0)

    def _try(self, data):
        HEAD.pack_into(self._now, 0, self._done, time.monotonic(), len(data))
        self._now[HEAD.size : HEAD.size + len(data)] = data
        before = time.thread_time()
        found = watch.failure(self._reader, data)
        seconds = time.thread_time() - before
        self._done += 1
        if seconds > self._slowest[0]:
            self._slowest = (seconds, data[:200])
        if found is None and watch.peak_mb() > watch.MOST_MB:
            found = watch.Failure("memory", f"{watch.peak_mb():.0f} MB after {len(data)} bytes")
            self._job = Job(**asdict(self._job) | {"count": 0})  # what it took is not given back, so no later input can be judged
        if found is not None:
            self._keep(found, data)

    def _keep(self, found, data):
        kept = self._failures.setdefault(found.kind, [])
        if len(kept) >= MOST_KEPT and len(data) >= max(map(len, kept)):
            return
        kept[:] = sorted({*kept, data}, key=len)[:MOST_KEPT]
        (Path(self._job.folder) / f"{hashlib.sha256(found.kind.encode()).hexdigest()[:8]}.txt").write_text(found.text)

    def _tell(self):
        seconds = time.monotonic() - self._started
        result = {
            "inputs": self._done,
            "seconds": seconds,
            "slowest_ms": self._slowest[0] * 1000,
            "slowest": self._slowest[1].decode("latin-1"),
            "peak_mb": watch.peak_mb(),
            "failures": {
                kind: {
                    "inputs": [data.hex() for data in kept],
                    "text": (Path(self._job.folder) / f"{hashlib.sha256(kind.encode()).hexdigest()[:8]}.txt").read_text(),
                }
                for kind, kept in self._failures.items()
            },
        }
        self._job.told.write_text(json.dumps(result))


def main(job, atheris):
    """Do a job; never returns. `atheris` is that module, None for inputs that coverage does not guide."""
    gc.freeze()  # a collection would write to the pages that are shared with the parent: an input that copies them looks slow
    reader = READERS[job.reader]
    worker = Worker(job, reader)
    paths = [path for folder in (watch.CORPUS, watch.REGRESSIONS) for path in watch.inputs(folder, job.reader)]
    seeds = [path.read_bytes()[:_MOST_SEED] for path in paths] or [b""]
    if atheris is None:
        _unguided(job, reader, worker, seeds)
    _guided(job, reader, worker, seeds, atheris)


def _guided(job, reader, worker, seeds, atheris):
    corpus = Path(job.folder) / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds):
        (corpus / str(number)).write_bytes(content)
    # Its own timer would act in the middle of Python's code; hangs are looked for from outside.
    options = [f"-seed={job.seed}", f"-max_len={_MOST_SEED}", "-timeout=1000000", "-rss_limit_mb=0", "-verbosity=0"]
    if reader.words:
        words = Path(job.folder) / "words"
        words.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in reader.words))
        options.append(f"-dict={words}")
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={job.folder}/", str(corpus)], worker.take)
    atheris.Fuzz()


def _unguided(job, reader, worker, seeds):
    dice = random.Random(job.seed)  # noqa: S311 -- no secret
    for seed in seeds:
        worker.take(seed)
    while True:
        worker.take(mutated(dice.choice(seeds), seeds, reader.words, dice, _MOST_SEED))
