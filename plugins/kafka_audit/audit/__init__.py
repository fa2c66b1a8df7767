"""The steps of an audit, the same for the console and the DAG: collect, request, (the Spark job answers), conclude.

Each step reads from the store what the step before wrote there, so that they may run in different processes and be retried.
"""

from kafka_audit.audit.reports import conclude, judged_view
from kafka_audit.audit.requests import request
from kafka_audit.audit.snapshots import collect, stamp

__all__ = ["collect", "conclude", "judged_view", "request", "stamp"]
