"""A streaming job in Flink's own local executor, from one topic to another, until some of its checkpoints are reported.

    python pay.py BROKER PORT SECONDS

Args: the Kafka broker; a free port, for Flink's REST, which OpenLineage's listener asks for checkpoints; for how long.
"""

from __future__ import annotations

import sys
import time

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

broker, port, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
configuration = Configuration()
for name, value in {
    "execution.job-status-changed-listeners": (
        "io.openlineage.flink.listener.OpenLineageJobStatusChangedListenerFactory"
    ),
    "execution.checkpointing.interval": "500ms",
    "openlineage.trackingIntervalInSeconds": "2",
    "parallelism.default": "1",
    "pipeline.name": "pay",
    "rest.address": "127.0.0.1",
    "rest.bind-port": port,
    "rest.port": port,
}.items():
    configuration.set_string(name, value)
settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
tables = TableEnvironment.create(settings)
kafka = f"'connector' = 'kafka', 'properties.bootstrap.servers' = '{broker}', 'format' = 'json'"
tables.execute_sql(f"""
    CREATE TABLE orders (id INT, customer STRING, amount INT)
    WITH ({kafka}, 'topic' = 'orders', 'properties.group.id' = 'pay', 'scan.startup.mode' = 'earliest-offset')
""")
tables.execute_sql(f"CREATE TABLE paid (id INT, customer STRING, doubled INT) WITH ({kafka}, 'topic' = 'paid')")
insert = "INSERT INTO paid SELECT id, customer, amount * 2 AS doubled FROM orders WHERE amount > 0"
client = tables.execute_sql(insert).get_job_client()
time.sleep(seconds)
sys.stdout.write(f"{client.get_job_status().result()}\n")
client.cancel().result()
