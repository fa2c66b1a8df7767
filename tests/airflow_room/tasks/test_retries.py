"""Retries by policies, which Airflow 3.2 does not have."""

import builtins

from kafka_audit.airflow.tasks import retries


def test_tasks_without_a_policy_are_not_retried(monkeypatch):
    original = builtins.__import__

    def older(name, *arguments, **more):
        if name == "airflow.sdk":
            raise ImportError
        return original(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", older)
    assert retries._policies() == (None, None)
    assert retries.retried(None) == {"retries": 0}
    assert retries.retried(retries.STORE_HICCUPS) == {"retries": 2, "retry_policy": retries.STORE_HICCUPS}
