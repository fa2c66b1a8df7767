"""Names that Airflow 3.2 moved into its SDK. Airflow 3.1 has them at their earlier places.

Every process of Airflow imports this with the plugin: names that cost time to import are in the modules that need them.
"""

try:
    from airflow.sdk import conf
    from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException
except ImportError:  # Airflow 3.1
    from airflow.configuration import conf  # type: ignore[assignment]
    from airflow.exceptions import AirflowFailException, AirflowNotFoundException  # type: ignore[no-redef,attr-defined]

__all__ = ["AirflowFailException", "AirflowNotFoundException", "conf"]
