"""A Spark job whose task was killed ends, too."""

import os
import subprocess
import sys

from kafka_audit.spark.parent import TASK

WATCH = "import time; from kafka_audit.spark.parent import end_with_task; end_with_task(); time.sleep({seconds})"


def test_it_ends_soon_after_the_task():
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as task:
        environment = {**os.environ, TASK: str(task.pid)}
        with subprocess.Popen([sys.executable, "-c", WATCH.format(seconds=1e6)], env=environment) as job:
            assert job.poll() is None
            task.kill()  # not collected: a zombie is no task
            assert job.wait() == 1


def test_it_goes_on_while_the_task_lives_or_where_there_is_none():
    for environment in ({**os.environ, TASK: str(os.getpid())}, {**os.environ, TASK: ""}):
        completed = subprocess.run([sys.executable, "-c", WATCH.format(seconds=1.5)], env=environment, check=False)
        assert completed.returncode == 0
