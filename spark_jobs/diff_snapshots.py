"""The Spark job of one audit run: `spark-submit --py-files kafka_audit.zip diff_snapshots.py --store ROOT --run RUN_ID`."""

import argparse
from concurrent.futures import ThreadPoolExecutor

from kafka_audit.spark.parent import end_with_task
from kafka_audit.spark.session import start, without_pandas


def main() -> None:
    """Compare and judge the snapshots that `runs/RUN_ID/request.json` names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--store", required=True, help="root of the snapshot store: a path or URL that the driver and Spark can read"
    )
    parser.add_argument("--run", required=True, help="name of the run below runs/")
    arguments = parser.parse_args()
    end_with_task()
    without_pandas()
    with ThreadPoolExecutor(1) as thread:
        starting = thread.submit(start)
        from kafka_audit.job import spark_job  # noqa: PLC0415 -- loaded while Spark starts
    spark = starting.result()
    try:
        spark_job.answer(spark, arguments.store, arguments.run)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
