"""The pages in the Airflow UI: the reports of the store, for users who can read the DAG that writes them."""
