"""What the tasks of the DAGs do, and what they need of a deployment: queues, retries, the package for Spark."""
