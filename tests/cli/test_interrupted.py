"""Ctrl-C ends a command, wherever it comes."""

import subprocess
import sys

from airflow_environment import ROOT

COMMAND = """
import signal, sys, time, weakref
from kafka_audit import cli

class Held:
    pass

def finalize(_):
    signal.raise_signal(signal.SIGINT)

def command():
    held = Held()
    watched = weakref.ref(held, finalize)
    del held  # Python prints what a finalizer raises, and goes on
    time.sleep(1e6)
    return 0

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
cli.arguments.parse_arguments = lambda _: command
sys.exit(cli.main([]))
"""


def test_an_interruption_while_a_finalizer_runs_is_not_lost():
    completed = subprocess.run(
        [sys.executable, "-c", COMMAND], env={"PYTHONPATH": str(ROOT / "plugins")}, capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stderr) == (130, "kafka-audit: interrupted\n")
