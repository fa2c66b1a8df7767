"""An Airflow connection by its id."""

from airflow.sdk import Connection

from kafka_audit.airflow.moved import AirflowNotFoundException


def find_connection(conn_id: str) -> Connection | None:
    """Return a connection, None where there is none of that id."""
    try:
        connection: Connection = Connection.get(conn_id)
    except AirflowNotFoundException:
        return None
    return connection
