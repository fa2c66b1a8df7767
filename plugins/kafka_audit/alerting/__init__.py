"""Alerts: what an audit has to alert about, who was sent what before, and the texts. Knows nothing of Airflow."""
