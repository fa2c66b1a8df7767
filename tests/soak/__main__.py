"""A compressed soak: an audit a minute over a cluster that changes, and what memory, file handles and threads do meanwhile.

    python -m soak [--minutes 120] [--every 60] [--without-spark] [--seed 7] [--out build/soak]      (in tests/; or: make soak)

Topics are created and deleted, leaders move (also during an audit), brokers restart, now and then one answers as a hostile one
would. Audits run in one process, as they would for ever in a worker of Airflow; Spark is a new process for each, the page of the
Airflow UI a third one that reads each report. The store keeps 20 snapshots. It passes when

- the slopes of memory in use, file handles and threads of both processes are within their error of zero, or below, after the
  first sixth and once the store is full (until then each audit reads a longer history than the one before), or memory rises by
  less than one page in all;
- the memory that each holds, free pieces between used ones included, stays within a twentieth of what it was then;
- no FAIL of HIGH or above withdraws itself: one that the next audit does not see any more, though nothing was repaired between;
- every audit ends within its time.

DIR/soak.csv has a line for each audit, DIR/soak.svg the picture. The exit code is 1 where it does not pass.
"""

import argparse
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from soak.line import fit, picture

TESTS = Path(__file__).resolve().parents[1]
WARM_UP = 6  # samples are divided into this many parts; in the first one caches fill
KEEP = 20  # snapshots: the store is full after as many audits
COLLECT_S = 45.0  # `audit_s` of the cluster file, and what a machine with other work takes
MEASURABLE = {"PYTHONMALLOC": "malloc", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""All memory comes from the C library, which knows how much of it is in use; other allocators keep what they took."""
MEASURES = {"memory": "MB", "files": "files", "threads": "threads"}
PAGE_MB = 4096 / 1024**2
"""What rises by less in all does not grow: the system gives memory in pages, and a sample has three decimals."""
RESIDENT_GROWS = 1.05
HOSTILE = (
    (32, "hang"), ("identity", "hang_up"), (3, "drip 50"), (35, "announce 1000000000"), (18, "raw HTTP/1.1"), (3, "cut 9"),
    (32, "null_arrays configs"), (29, "wrong_correlation"), (3, "undecodable_text"), (32, "cut 3"), (2, "hang"), (60, "hang_up"),
)  # fmt: skip


class Role:
    """A process of `soak.roles`."""

    def __init__(self, name, folder):
        paths = [str(TESTS), str(TESTS.parent), str(TESTS.parent / "plugins"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._log = (folder / f"{name}.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "soak.roles", name, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, **MEASURABLE, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._answer()

    def ask(self, **fields):
        self._process.stdin.write(json.dumps(fields) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self._log.name}: the process ended")
        return json.loads(line)

    def sample(self, measured):
        """Return memory in MB (in use, as it says, and of its own: pages of libraries come and go), open files and threads."""
        folder = Path(f"/proc/{self._process.pid}")
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        files = len(list((folder / "fd").iterdir()))
        resident = int(status["RssAnon"].split()[0]) / 1024
        return {"memory": measured["in_use"], "resident": resident, "files": files, "threads": int(status["Threads"])}

    def close(self):
        self._process.stdin.close()
        self._process.wait(300)
        self._log.close()


class Churn:
    """Decides what happens before and during each audit; `done` says it in words, `repaired` whether something was."""

    def __init__(self, cluster, seed):
        self._cluster = cluster
        self._dice = random.Random(seed)  # noqa: S311 -- no secret
        self._topics = {"orders": 3}
        self._number = 0
        self._down = None
        self._hostile = False

    def step(self):
        """Change the cluster; return what was done, whether a fault was repaired, and whether one is there now."""
        steps, repaired = [], False
        if self._hostile:
            self._cluster.ask(do="honest")
            steps, repaired, self._hostile = [*steps, "honest again"], True, False
        if self._down is not None:
            self._cluster.ask(do="start", broker=self._down)
            steps, repaired, self._down = [*steps, f"broker {self._down} starts"], True, None
        choice = self._dice.random()
        if choice < 0.35:
            steps += self._topic()
        elif choice < 0.6:
            steps += [self._move(after_s=0.2 + self._dice.random()) for _ in range(self._dice.randrange(1, 4))]
        elif choice < 0.75:
            steps.append(self._move())
        elif choice < 0.85:
            self._down = self._dice.randrange(1, 3)
            self._cluster.ask(do="stop", broker=self._down)
            steps.append(f"broker {self._down} stops")
        else:
            steps.append(self._be_hostile())
        return steps, repaired, self._hostile or self._down is not None

    def _topic(self):
        if len(self._topics) > 30 or (len(self._topics) > 3 and self._dice.random() < 0.4):
            name = self._dice.choice([topic for topic in self._topics if topic != "orders"])
            self._cluster.ask(do="delete", name=name)
            del self._topics[name]
            return [f"topic {name} is deleted"]
        self._number += 1
        name, count = f"topic-{self._number}", self._dice.randrange(1, 5)
        self._cluster.ask(
            do="create", name=name, replicas=[[(broker + step) % 3 for step in range(3)] for broker in range(count)]
        )
        self._topics[name] = count
        return [f"topic {name} is created"]

    def _move(self, **when):
        name = self._dice.choice([*self._topics])
        partition = self._dice.randrange(self._topics[name])
        self._cluster.ask(do="move", name=name, partition=partition, **when)
        return f"{name}-{partition} moves{' during the audit' if when else ''}"

    def _be_hostile(self):
        self._hostile = True
        if self._dice.random() < 0.2:
            self._cluster.ask(do="hostile_znode", path="/config/brokers/0", text='{"config": {"x": "' + "://:::" * 9000 + '"}}')
            return "a hostile znode"
        key, behaviour = self._dice.choice(HOSTILE)
        broker = self._dice.randrange(3)
        self._cluster.ask(do="hostile", broker=broker, key=key, behaviour=behaviour)
        return f"broker {broker} answers {key} by {behaviour}"


def main():
    """Soak; return 1 where it does not pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--every", type=float, default=60.0, help="seconds from audit to audit")
    parser.add_argument("--without-spark", action="store_true", help="many more audits, judged by the checks of rows alone")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=TESTS.parent / "build" / "soak")
    options = parser.parse_args()
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    roles = {"cluster": Role("cluster", folder)}
    try:
        entry = roles["cluster"].ask(do="entry")
        near = {"near": {"command": ["env"]}}
        muted = {"code": "KA303", "reason": "loopback addresses", "owner": "soak", "until": "2999-12-31"}
        mutes = [muted | {"resource": f"broker/{broker}/listener/PLAINTEXT"} for broker in range(3)]
        clusters = {"clusters": {"soak": entry | {"keep": {"snapshots": KEEP}, "vantages": near, "mute": mutes}}}
        (folder / "clusters.yaml").write_text(json.dumps(clusters))
        roles |= {name: Role(name, folder) for name in ("auditor", "page")}
        audits = soak(roles, Churn(roles["cluster"], options.seed), options)
    finally:
        for role in roles.values():
            role.close()
    return verdict(audits, folder)


def soak(roles, churn, options):
    """Audit until the time is over; return a row for each audit, as in the CSV."""
    audits, began = [], time.monotonic()
    with (options.out / "soak.csv").open("w", newline="") as file:
        while time.monotonic() - began < options.minutes * 60 or len(audits) < 3:
            started = time.monotonic()
            steps, repaired, faulty = churn.step()
            audit = roles["auditor"].ask(spark=not options.without_spark)
            read = roles["page"].ask()
            row = {"minute": round((time.monotonic() - began) / 60, 3)}
            for name, answer in (("auditor", audit), ("page", read)):
                row |= {f"{name} {key}": round(value, 3) for key, value in roles[name].sample(answer).items()}
            row |= {"seconds": round(audit["seconds"], 2), "collected_s": round(audit["collected_s"], 2)}
            row |= {"asked": audit["asked"], "answered": audit["answered"], "page": " ".join(map(str, read["codes"]))}
            row |= {"high": "; ".join(audit["high"]), "done": "; ".join(steps), "repaired": int(repaired), "faulty": int(faulty)}
            row["alerts"] = " | ".join(audit["alerts"])
            writer = csv.DictWriter(file, row)
            if not audits:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            audits.append(row)
            say(f"{row['minute']:7.1f} min  {row['auditor memory']:.0f} MB  {row['seconds']} s  {row['done']}  {row['high']}")
            time.sleep(max(0.0, started + options.every - time.monotonic()))
    return audits


def say(text):
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def withdrawn(audits):
    """Return failures that the next audit does not see, though nothing was repaired between."""
    found = []
    for audit, following in itertools.pairwise(audits):
        gone = {*filter(None, audit["high"].split("; "))} - {*filter(None, following["high"].split("; "))}
        if gone and not following["repaired"]:
            found.append(f"minute {audit['minute']:.1f}: {', '.join(sorted(gone))} ({audit['done']})")
    return found


def verdict(audits, folder):
    """Draw, print what was found, return the exit code."""
    begin = audits[min(max(len(audits) // WARM_UP, KEEP + 1), len(audits) - 3)]["minute"]
    charts, wrong = [], []
    for name in ("auditor", "page"):
        for measure, unit in MEASURES.items():
            samples = [(row["minute"], row[f"{name} {measure}"]) for row in audits]
            counted = [sample for sample in samples if sample[0] >= begin]
            line = fit(*zip(*counted, strict=True))
            charts.append((f"{name} {measure}", unit, samples, line, begin))
            say(f"{name} {measure}: {line.slope:+.4g} ± {line.error:.2g} {unit} a minute, at last {samples[-1][1]:.4g}")
            rise = line.slope * (counted[-1][0] - begin)
            if line.grows and (measure != "memory" or rise > PAGE_MB):
                wrong.append(f"{name} {measure} grows: {line.slope:+.4g} ± {line.error:.2g} {unit} a minute")
        held = [row[f"{name} resident"] for row in audits if row["minute"] >= begin]
        say(f"{name} resident memory: {held[0]:.4g} MB at first, {max(held):.4g} MB at most")
        if max(held) > RESIDENT_GROWS * held[0]:
            wrong.append(f"{name} resident memory grew from {held[0]:.4g} to {max(held):.4g} MB")
    wrong += [f"withdrew itself: {text}" for text in withdrawn(audits)]
    wrong += [f"minute {row['minute']}: the page answered {row['page']}" for row in audits if row["page"] != "200"]
    wrong += [f"minute {row['minute']}: asked for {row['collected_s']} s" for row in audits if row["collected_s"] > COLLECT_S]
    (folder / "soak.svg").write_text(picture(f"{len(audits)} audits in {audits[-1]['minute']:.0f} minutes", charts))
    say("\n".join([*wrong, f"{folder}/soak.svg: {'NOT PASSED' if wrong else 'passed'}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
