"""Airflow connections: of clusters, of the store, and what the button Test shows."""
