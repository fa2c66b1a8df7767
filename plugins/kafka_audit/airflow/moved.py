"""Names that Airflow 3.2 moved into its SDK. Airflow 3.1 has them at their earlier places."""

try:
    from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable, conf
    from airflow.sdk.bases.decorator import determine_kwargs
    from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException
except ImportError:  # Airflow 3.1
    from airflow.configuration import conf  # type: ignore[assignment]
    from airflow.exceptions import AirflowFailException, AirflowNotFoundException  # type: ignore[no-redef,attr-defined]
    from airflow.timetables.assets import AssetOrTimeSchedule  # type: ignore[assignment]
    from airflow.timetables.trigger import CronTriggerTimetable  # type: ignore[assignment]
    from airflow.utils.operator_helpers import determine_kwargs  # type: ignore[attr-defined]

__all__ = [
    "AirflowFailException",
    "AirflowNotFoundException",
    "AssetOrTimeSchedule",
    "CronTriggerTimetable",
    "conf",
    "determine_kwargs",
]
