"""The pages in the Airflow UI: the reports of the store, for whoever may read the DAG that writes them."""
