"""When the audit runs: the schedule of the DAG, the assets of each cluster, and the trigger that suspects one."""
