"""The steps of an audit, the same for the console and the DAG.

They publish a snapshot, prepare the request that the Spark job answers, and write the reports.

Each step reads from the store what the step before wrote there, so that they may run in different processes and be retried.
"""

from kafka_audit.audit.steps import judged_view, prepare_request, publish_snapshot, stamp, write_reports

__all__ = ["judged_view", "prepare_request", "publish_snapshot", "stamp", "write_reports"]
