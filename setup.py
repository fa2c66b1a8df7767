"""What pyproject.toml cannot say: the wheel contains the top-level folders dags/ and spark_jobs/ as packages of kafka_audit."""

from setuptools import find_namespace_packages, setup

FOLDERS = {"kafka_audit.dags": "dags", "kafka_audit.spark_jobs": "spark_jobs"}

setup(
    packages=[*find_namespace_packages("plugins", include=["kafka_audit*"]), *FOLDERS],
    package_dir={"": "plugins", **FOLDERS},
    # Airflow puts plugins/ on sys.path, where a build's metadata would register everything a second time.
    options={"egg_info": {"egg_base": "."}},
)
