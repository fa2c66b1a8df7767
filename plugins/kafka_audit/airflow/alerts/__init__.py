"""Alerts of the DAGs' tasks: what a task's end calls for, and the channels that it goes out by."""
