"""How long one run of the DAG over fifty clusters takes, and the page after it: `python benchmarks/fifty_clusters.py`.

A whole Airflow on the worker host of the test bed (Linux network namespaces, Java 17): scheduler, four tasks at a time, a pool of
ten slots, one Spark submission on `local[*]`. The clusters are 46 small fakes with three brokers each, two real ones of three
brokers, of which one has an address that the controller cannot reach, one that refuses connections, and one that sends a byte a
second (`audit_s: 30`). Fakes, brokers and Airflow share this machine.

Prints what is wrong in the 48 reports, which gates failed, how long tasks took, and the page: first after the run, and again.
Exits with 1 if a report is wrong, the run is not over within 15 minutes, or a page takes a second.
"""

import argparse
import statistics
import sys
import tempfile
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from scenarios.fifty_clusters import DEADLINE_S, DRIPS, FiftyClusters  # noqa: E402 -- of the tests

PROMISED_SECONDS = 1.0
PAGES = ("", "?label=kind%3Dreal", "clusters/real-faulty", "clusters/fake-00/timeline")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="kafka-audit-", ignore_cleanup_errors=True) as folder,
        FiftyClusters(Path(folder)) as fifty,
    ):
        _, seconds, tasks = fifty.run()
        wrong = fifty.wrong(fifty.reports())
        failed = sorted(name for (task, name), one in tasks.items() if task == "gate" and one["state"] != "success")
        print(f"{len(fifty.names)} clusters in one run: {seconds:.0f} s (at most {DEADLINE_S})")
        print(f"{len(fifty.expected) - len(wrong)} of {len(fifty.expected)} reports right")
        for name, why in wrong.items():
            print(f"  {name}: {why}")
        print(f"failed gates: {', '.join(failed)}\n")
        print("| task | tasks | median of one | longest | first start to last end |\n|---|---|---|---|---|")
        for task_id in ("clusters", "collect", "compare", "report", "gate"):
            of = [one for (task, _), one in tasks.items() if task == task_id]
            took = [one["duration"] for one in of]
            times = [datetime.fromisoformat(one[key]) for one in of for key in ("start_date", "end_date")]
            whole = (max(times) - min(times)).total_seconds()
            print(f"| {task_id} | {len(of)} | {statistics.median(took):.1f} s | {max(took):.1f} s | {whole:.0f} s |")
        print(f"\ncollect of the cluster that sends a byte a second: {tasks['collect', DRIPS]['duration']:.1f} s")
        worst = 0.0
        for path in PAGES:
            (text, first), (_, again) = fifty.page(path), fifty.page(path)
            worst = max(worst, first, again)
            print(f"page /{path:30} first {first:.2f} s, again {again:.2f} s, {len(text) / 1000:.0f} kB")
    return 1 if wrong or worst >= PROMISED_SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
