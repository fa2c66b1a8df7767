"""Everything that knows Airflow: tasks, operators, notifiers."""
