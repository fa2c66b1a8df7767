"""The wheel in clean virtual environments with several versions of Airflow: what was checked, recorded for docs/airflow.md."""
