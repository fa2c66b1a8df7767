import airflow_environment

airflow_environment.apply()
