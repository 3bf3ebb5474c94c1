"""Each type of change of a job: a case in which it is found, and one that nearly is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from headwater_review.jobs.job_review import JobVerdict, review_job
from support.dry_runs import DryRuns
from support.gate import in_gate, named_in_gate
from support.spark_versions import where_spark_can

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

ORDERS = "o = spark.table('shop.orders')\n"
BOTH = ORDERS + "c = spark.table('shop.customers')\n"
OUT = ".write.mode('overwrite').parquet('/lake/out')\n"
UDF = "f = F.udf(lambda s: s.{}(), 'string')\n" + ORDERS + "o.select(f('state').alias('s'))" + OUT
STREAM = (
    "s = spark.readStream.schema('a INT, b STRING, t TIMESTAMP').json('/in')\n"
    "s = s.withWatermark('t', '1 hour').groupBy(F.window('t', '{}'), 'b').count()\n"
    "s.writeStream.format('parquet').option('path', '/out').option('checkpointLocation', '/c').start()\n"
)
MERGE = "spark.sql('MERGE INTO shop.customers c USING shop.orders o ON c.customer = o.{} WHEN MATCHED THEN DELETE')"
BATCHES = (
    "s = spark.readStream.schema('a INT, b STRING').json('/in').select('b', (F.col('a') + {}).alias('a'), {})\n"
    "def each(batch, number):\n"
    "    batch.groupBy('b').agg(F.max('a').alias('a')).write.mode('append').parquet('/lake/out')\n"
    "s.writeStream.foreachBatch(each).start().awaitTermination()\n"
)

UPSERT = (
    "spark.sql('MERGE INTO shop.customers c USING (SELECT customer, state, max(amount) AS amount FROM shop.orders{} "
    "GROUP BY customer, state) o ON c.customer = o.customer WHEN MATCHED{} THEN UPDATE SET segment = {}, "
    "born = o.amount WHEN NOT MATCHED THEN INSERT (customer, born) VALUES (o.customer, o.amount)')"
)
BY_SQL = (
    "spark.sql('MERGE INTO shop.customers USING shop.orders o ON customers.customer = o.customer "
    "WHEN MATCHED THEN UPDATE SET segment = o.state WHEN NOT MATCHED THEN INSERT (customer) VALUES (o.customer)')"
)
BY_WITH = (
    "spark.sql('WITH w AS (SELECT customer, state, max(amount) AS amount FROM shop.orders GROUP BY customer, "
    "state) MERGE INTO shop.customers c USING w ON w.customer = c.customer WHEN MATCHED THEN UPDATE SET segment = "
    "w.state, born = w.amount WHEN NOT MATCHED THEN INSERT (born, customer) VALUES (w.amount, w.customer)')"
)
ALL_OR_EACH = "spark.table('shop.items').alias('s').mergeInto('shop.items', F.expr('items.id = s.id')){}.merge()"
MERGE_INTO = (
    "s = spark.table('shop.orders'){}.alias('o')\n"
    "s.mergeInto('shop.customers', F.expr('customers.customer = o.customer'))"
    ".whenMatched({}).update({{'segment': {}}}).whenNotMatched().insert({{'customer': s.customer}}).merge()"
)
DELTA = (
    "from delta.tables import DeltaTable\n"
    "t = DeltaTable.forName(spark, 'shop.customers').alias('t')\n"
    "t.merge(spark.table('shop.orders'){}.alias('o'), 't.customer = o.customer')"
    ".whenMatchedUpdate({}set={{'segment': {}}}).whenNotMatchedInsert(values={{'customer': 'o.customer'}}).execute()"
)
DELTA_STREAM = (
    "from delta.tables import DeltaTable\n"
    "s = spark.readStream.schema('a INT, b STRING, t TIMESTAMP').json('/in').where('a > {}')\n"
    "def each(batch, number):\n"
    "    last = batch.groupBy('a').agg(F.max('b').alias('b'))\n"
    "    t = DeltaTable.forName(batch.sparkSession, 'shop.customers').alias('t')\n"
    "    t.merge(last.alias('s'), 't.customer = s.a').whenMatchedUpdate(set={{'country': {}}}).execute()\n"
    "s.writeStream.foreachBatch(each).start().awaitTermination()\n"
)
DELTA_PATH = "from delta.tables import DeltaTable\nDeltaTable.forPath(spark, '/lake/items').{}\n"
USED = "spark.sql('USE shop')\nspark.table('items').write.mode('append').saveAsTable('{}')"
ICEBERG = (
    "spark.sql('CREATE TABLE IF NOT EXISTS ice.days.{0} (id BIGINT, at TIMESTAMP) USING iceberg "
    "PARTITIONED BY (days(at), bucket(4, id))')\n"
    "spark.sql('INSERT INTO ice.days.{0} SELECT id, at FROM shop.orders WHERE id > {1}')"
)
VIEW = "spark.sql('CREATE OR REPLACE VIEW mart.seen AS SELECT id, amount + {} AS amount FROM shop.orders')"

INTO = ".write.insertInto('shop.customers')"
CUSTOMER = "o.select('customer', 'state', F.lit(1), 'amount')"
INSERT = "spark.sql('INSERT {} shop.customers SELECT customer, state, state, amount FROM shop.orders{}')"
WITH = (
    "spark.sql('WITH w AS (SELECT * FROM shop.orders WHERE amount > {}) "
    "INSERT INTO shop.customers SELECT customer, state, state, amount FROM w')"
)
FOLDER = "spark.sql(\"INSERT OVERWRITE DIRECTORY '/lake/out' USING parquet SELECT id FROM shop.orders WHERE id > {}\")"
CREATED = "spark.sql('CREATE TABLE made (a INT, d STRING, {}) USING parquet PARTITIONED BY ({})')\n"
PARTITION = (
    'spark.sql("CREATE TABLE made (a INT, {0} STRING) USING parquet PARTITIONED BY ({0})")\n'
    "spark.sql(\"INSERT OVERWRITE made PARTITION ({0}='{1}') SELECT amount FROM shop.orders\")"
)
OVERWRITE = ORDERS + "o.writeTo('lake.t').overwrite(F.col('state') == '{}')"
YEARS = ORDERS + "o.writeTo('lake.t').partitionedBy(F.{}('{}')).createOrReplace()"
BUCKETS = ORDERS + "o.write.bucketBy({}, '{}').sortBy('{}').saveAsTable('lake.t')"
CTAS = "spark.sql('CREATE TABLE lake.t USING {} PARTITIONED BY ({}) AS SELECT * FROM shop.orders')"
STREAMED = (
    "s = spark.readStream.schema('a INT, b STRING, c INT').json('/in').writeStream.partitionBy('{}')\n"
    "s.option('checkpointLocation', '/c').toTable('lake.t')"
)
CSV = "spark.read.option('header', {}).schema('a INT, b STRING').csv('/in')" + OUT
MERGED = (
    "s = spark.readStream.schema('a INT, b STRING').json('/in').where('a > {}')\n"
    "def each(batch, number):\n"
    "    batch.createOrReplaceTempView('v')\n"
    "    batch.sparkSession.sql('MERGE INTO shop.customers c USING v ON c.customer = v.a WHEN MATCHED THEN {}')\n"
    "s.writeStream.foreachBatch(each).start().awaitTermination()\n"
)


def kafka(qty: int, hashed: str) -> str:
    """A topic's JSON, filtered, with a hash in the JSON that is written."""
    return (
        "r = spark.read.format('kafka').option('kafka.bootstrap.servers', 'b:9092').option('subscribe', 't').load()\n"
        "r = r.select(F.from_json(F.col('value').cast('string'), 'id string, qty int, email string').alias('o'))\n"
        f"c = r.where('o.qty > {qty}').select(F.col('o.id').alias('id'), {hashed}.alias('hash'))\n"
        "c.select(F.to_json(F.struct(*c.columns)).alias('value')).write.format('kafka').option('topic', 'u').save()\n"
    )


def nested(least: int, mail: str, total: str, last: int) -> str:
    return ORDERS + (
        f"o = o.where('amount > {least}').groupBy('customer').agg(F.collect_list(F.struct('id', {mail}.alias('m')))"
        f".alias('l'), F.{total}('amount').alias('s'))\n"
        f"o.select('customer', 'l', F.struct('s', F.create_map(F.lit('k'), F.col('s'), F.lit('z'), F.lit({last}))"
        f".alias('m')).alias('n')){OUT}"
    )


TWO_UDFS = (
    "f, g, h = (F.udf(each, 'string') for each in (lambda s: s.{}(), lambda s: s + '{}', lambda s: s))\n"
    + ORDERS
    + "o.where('amount > {}').select(F.to_json(F.struct(f('state').alias('a'), g('state').alias('b'), "
    "h('state').alias('c'))).alias('value'))" + OUT
)
BY_DAY = ORDERS + "o.write.mode('overwrite'){}.partitionBy('day').{}('/lake/out')"
DYNAMIC = ".option('partitionOverwriteMode', 'dynamic')"
CHANGES = {
    "a filter and a hash in a topic's JSON": (
        kafka(0, "F.sha2('o.email', 256)"), kafka(1, "F.col('o.email')"),
        {"ROWS ", "MEANING value.hash", "PRIVACY value.hash"},
    ),
    "a filter, a hash in a list, an aggregate and a map's value": (
        nested(1, "F.md5('state')", "sum", 1), nested(2, "F.col('state')", "max", 2),
        {"ROWS ", "MEANING l.[].m", "PRIVACY l.[].m", "MEANING n.s", "MEANING n.m.k", "MEANING n.m.z"}
        | {"RETYPED n.m.{} NARROWER", "RETYPED n.s NARROWER"},
    ),
    "a filter and two functions": (
        TWO_UDFS.format("upper", "a", 1), TWO_UDFS.format("lower", "b", 2),
        {"ROWS ", "MEANING value.a", "MEANING value.b"},
    ),
    "a filter, the condition of a CASE, and a constant": (
        ORDERS + "o.where('id > 1').selectExpr('CASE WHEN amount > 1 THEN state END c', '1 k', 'day')" + OUT,
        ORDERS + "o.where('id > 2').selectExpr('CASE WHEN amount > 2 THEN state END c', '2 k', 'day')" + OUT,
        {"ROWS ", "MEANING c", "MEANING k"},
    ),
    "members of a JSON that go, come and are renamed": (
        ORDERS + "o.where('id > 1').select(F.to_json(F.struct('id', 'state', F.md5('state').alias('h'))).alias('v'))"
        + OUT,
        ORDERS + "o.where('id > 2').select(F.to_json(F.struct('id', F.col('state').alias('s'), 'day')).alias('v'))"
        + OUT,
        {"ROWS ", "RENAMED v.state", "REMOVED v.h", "ADDED v.day"},
    ),
    "what is overwritten, the format and two options": (
        BY_DAY.format(DYNAMIC + ".option('header', True)", "csv"),
        BY_DAY.format(".option('sep', ';')", "json"),
        {"WRITE_MODE "},
    ),
    # name: the old script, the new one, what differs
    "added": (ORDERS + "o.select('id')" + OUT, ORDERS + "o.select('id', 'state')" + OUT, {"ADDED state"}),
    "removed": (ORDERS + "o.select('id', 'state')" + OUT, ORDERS + "o.select('id')" + OUT, {"REMOVED state"}),
    "renamed": (
        ORDERS + "o.select('id', 'state')" + OUT,
        ORDERS + "o.select('id', F.col('state').alias('status'))" + OUT,
        {"RENAMED state"},
    ),
    "wider": (
        ORDERS + "o.select('amount')" + OUT,
        ORDERS + "o.select(F.col('amount').cast('bigint'))" + OUT,
        {"RETYPED amount WIDER", "MEANING amount"},
    ),
    "narrower": (
        ORDERS + "o.select('id')" + OUT,
        ORDERS + "o.select(F.col('id').cast('int'))" + OUT,
        {"RETYPED id NARROWER", "MEANING id"},
    ),
    "nullability": (
        ORDERS + "o.select(F.coalesce('amount', F.lit(0)).alias('amount'))" + OUT,
        ORDERS + "o.select('amount')" + OUT,
        {"NULLABILITY amount", "MEANING amount"},
    ),
    "partitioning": (
        ORDERS + "o.write.partitionBy('day').parquet('/lake/out')",
        ORDERS + "o.write.partitionBy('state').parquet('/lake/out')",
        {"PARTITIONING "},
    ),
    "filter": (ORDERS + "o.where('amount > 1')" + OUT, ORDERS + "o.where('amount > 2')" + OUT, {"ROWS "}),
    "join": (
        BOTH + "o.join(c, 'customer').select('id')" + OUT,
        BOTH + "o.join(c, 'customer', 'left').select('id')" + OUT,
        {"ROWS "},
    ),
    "group": (
        ORDERS + "o.groupBy('state').agg(F.sum('amount').alias('n')).select('n')" + OUT,
        ORDERS + "o.groupBy('state', 'day').agg(F.sum('amount').alias('n')).select('n')" + OUT,
        {"ROWS "},
    ),
    "order before a limit": (
        ORDERS + "o.orderBy('id').limit(5).select('id')" + OUT,
        ORDERS + "o.orderBy('day').limit(5).select('id')" + OUT,
        {"ROWS "},
    ),
    "order before a number": (
        ORDERS + "o.orderBy('id').select('id', F.monotonically_increasing_id().alias('n'))" + OUT,
        ORDERS + "o.orderBy('day').select('id', F.monotonically_increasing_id().alias('n'))" + OUT,
        {"ROWS "},
    ),
    "distinct": (ORDERS + "o.select('id')" + OUT, ORDERS + "o.select('id').distinct()" + OUT, {"ROWS "}),
    "expression": (
        ORDERS + "o.select('id', (F.col('amount') * 2).alias('n'))" + OUT,
        ORDERS + "o.select('id', (F.col('amount') * 3).alias('n'))" + OUT,
        {"MEANING n"},
    ),
    "aggregate": (
        ORDERS + "o.groupBy('state').agg(F.sum('amount').alias('n'))" + OUT,
        ORDERS + "o.groupBy('state').agg(F.expr('try_sum(amount)').alias('n'))" + OUT,
        {"MEANING n"},
    ),
    "window": (
        ORDERS + "o.select('id', F.row_number().over(Window.partitionBy('day').orderBy('id')).alias('n'))" + OUT,
        ORDERS + "o.select('id', F.row_number().over(Window.partitionBy('day').orderBy('at')).alias('n'))" + OUT,
        {"MEANING n"},
    ),
    "function": (UDF.format("upper"), UDF.format("lower"), {"MEANING s"}),
    "mode": (
        ORDERS + "o.write.mode('append').parquet('/lake/out')",
        ORDERS + "o.write.mode('overwrite').parquet('/lake/out')",
        {"WRITE_MODE "},
    ),
    "position": (
        ORDERS + "o.select('id', 'state').write.csv('/lake/out')",
        ORDERS + "o.select('state', 'id').write.csv('/lake/out')",
        {"POSITION "},
    ),
    "outputs": (
        ORDERS + "o.write.parquet('/lake/a')",
        ORDERS + "o.write.parquet('/lake/b')",
        {"OUTPUT_REMOVED ", "OUTPUT_ADDED "},
    ),
    "inputs": (
        ORDERS + "o.select('id')" + OUT,
        BOTH + "o.join(c, 'customer', 'left_semi').select('id')" + OUT,
        {"INPUT_ADDED ", "ROWS "},
    ),
    "values": (
        "spark.createDataFrame([(1, 'a')], 'n INT, s STRING')" + OUT,
        "spark.createDataFrame([(1, 'b')], 'n INT, s STRING')" + OUT,
        {"ROWS "},
    ),
    "setting": (
        ORDERS + "o.select('id')" + OUT,
        "spark.conf.set('spark.sql.ansi.enabled', 'false')\n"
        + ORDERS + "o.select('id')" + OUT + "spark.conf.unset('spark.sql.ansi.enabled')",
        {"ROWS "},
    ),
    "stream": (STREAM.format("1 hour"), STREAM.format("2 hours"),
        {"ROWS ", "MEANING window.start", "MEANING window.end"}),
    "foreachBatch": (BATCHES.format(1, "F.lit(1)"), BATCHES.format(2, "F.lit(1)"), {"MEANING a"}),
    "insert": (
        "spark.sql('INSERT INTO shop.customers SELECT customer, state, state, amount FROM shop.orders')",
        "spark.sql('INSERT INTO shop.customers SELECT customer, state, state, amount + 1 FROM shop.orders')",
        {"MEANING born"},
    ),
    "insertInto": (
        ORDERS + "o.select('customer', 'state', 'state', 'amount').write.insertInto('shop.customers')",
        ORDERS + "o.select('customer', 'state', 'day', 'amount').write.insertInto('shop.customers')",
        {"MEANING segment", "RETYPED segment NARROWER"},
    ),
    "insertInto, in another order": (
        ORDERS + "o.select('customer', F.lit('a').alias('a'), F.lit('b').alias('b'), 'id')" + INTO,
        ORDERS + "o.select('customer', F.lit('b').alias('b'), F.lit('a').alias('a'), 'id')" + INTO,
        {"MEANING country", "MEANING segment"},
    ),
    "insertInto, mode": (ORDERS + CUSTOMER + INTO, ORDERS + CUSTOMER + ".write.mode('overwrite')" + INTO[6:],
        {"WRITE_MODE "}),
    "insert overwrite": (INSERT.format("INTO", ""), INSERT.format("OVERWRITE", ""), {"WRITE_MODE "}),
    "insert after with": (WITH.format(1), WITH.format(2), {"ROWS "}),
    "insert into a folder": (FOLDER.format(1), FOLDER.format(2), {"ROWS "}),
    "insert into a partition": (PARTITION.format("d", "x"), PARTITION.format("d", "y"), {"WRITE_MODE "}),
    "writeTo": (
        ORDERS + "o.writeTo('lake.t').append()",
        ORDERS + "o.writeTo('lake.t').overwritePartitions()",
        {"WRITE_MODE "},
    ),
    "writeTo, what is overwritten": (OVERWRITE.format("A"), OVERWRITE.format("a"), {"WRITE_MODE "}),
    "writeTo, partitioning": (YEARS.format("years", "day"), YEARS.format("months", "day"), {"PARTITIONING "}),
    "writeTo, clustering": (
        ORDERS + "o.writeTo('lake.t').clusterBy('day').create()",
        ORDERS + "o.writeTo('lake.t').clusterBy('id').create()",
        {"PARTITIONING "},
    ),
    "saveAsTable, partitioning": (
        ORDERS + "o.write.partitionBy('day', 'state').saveAsTable('lake.t')",
        ORDERS + "o.write.partitionBy('state', 'day').saveAsTable('lake.t')",
        {"PARTITIONING "},
    ),
    "buckets": (BUCKETS.format(4, "id", "id"), BUCKETS.format(8, "id", "id"), {"PARTITIONING "}),
    "buckets, of a column": (BUCKETS.format(4, "id", "id"), BUCKETS.format(4, "amount", "id"), {"PARTITIONING "}),
    "buckets, sorted": (BUCKETS.format(4, "id", "id"), BUCKETS.format(4, "id", "at"), {"PARTITIONING "}),
    "create table as, partitioning": (CTAS.format("parquet", "day"), CTAS.format("parquet", "state"),
        {"PARTITIONING "}),
    "create table as, format": (CTAS.format("parquet", "day"), CTAS.format("orc", "day"), {"WRITE_MODE "}),
    "create table, partitioning": (CREATED.format("f STRING", "d"), CREATED.format("f STRING", "f"),
        {"PARTITIONING "}),
    "create table, a column": (CREATED.format("f STRING", "d"), CREATED.format("f STRING, g INT", "d"), {"ADDED g"}),
    "a stream's partitioning": (STREAMED.format("a"), STREAMED.format("b"), {"PARTITIONING "}),
    "options of a writer": (
        ORDERS + "o.write.csv('/lake/out', sep=',')",
        ORDERS + "o.write.csv('/lake/out', sep=';')",
        {"WRITE_MODE "},
    ),
    "options of a reader": (CSV.format("'true'"), CSV.format("'false'"), {"ROWS "}),
    "format of a reader": (CSV.format("'true'"), CSV.format("'true'").replace(".csv(", ".json("), {"ROWS "}),
    "foreach": (
        ORDERS + "def send(row):\n    print(row.id)\no.foreach(send)",
        ORDERS + "def send(row):\n    print(row.amount)\no.foreach(send)",
        {"WRITE_MODE "},
    ),
    "merge in foreachBatch": (MERGED.format(1, "DELETE"), MERGED.format(1, "UPDATE SET c.segment = v.b"),
        {"ROWS ", "MEANING segment"}),
    "merge in foreachBatch, its stream": (MERGED.format(1, "DELETE"), MERGED.format(2, "DELETE"), {"ROWS "}),
    "merge, ON": (MERGE.format("customer"), MERGE.format("id"), {"ROWS "}),
    "merge, a value": (UPSERT.format("", "", "o.state"), UPSERT.format("", "", "upper(o.state)"), {"MEANING segment"}),
    "merge, its condition": (
        UPSERT.format("", "", "o.state"), UPSERT.format("", " AND o.amount > 1", "o.state"), {"ROWS "},
    ),
    "merge, its source": (
        UPSERT.format("", "", "o.state"), UPSERT.format(" WHERE id > 1", "", "o.state"), {"ROWS "},
    ),
    "merge, its source's values": (
        UPSERT.format("", "", "o.state"), UPSERT.format("", "", "o.state").replace("max(amount)", "min(amount)"),
        {"MEANING born"},
    ),
    "merge, no insert any more": (
        UPSERT.format("", "", "o.state"), UPSERT.format("", "", "o.state").split("WHEN NOT")[0] + "')",
        {"ROWS ", "MEANING customer", "MEANING born"},
    ),
    "mergeInto, a value": (
        MERGE_INTO.format("", "", "F.col('o.state')"), MERGE_INTO.format("", "", "F.upper('o.state')"),
        {"MEANING segment"},
    ),
    "mergeInto, its condition": (
        MERGE_INTO.format("", "F.expr('o.amount > customers.born')", "F.col('o.state')"),
        MERGE_INTO.format("", "F.expr('o.amount >= customers.born')", "F.col('o.state')"),
        {"ROWS "},
    ),
    "mergeInto, its source": (
        MERGE_INTO.format("", "", "F.col('o.state')"), MERGE_INTO.format(".where('id > 1')", "", "F.col('o.state')"),
        {"ROWS "},
    ),
    "mergeInto, what goes": (
        MERGE_INTO.format("", "", "F.col('o.state')"),
        MERGE_INTO.format("", "", "F.col('o.state')").replace(".merge()", ".whenNotMatchedBySource().delete().merge()"),
        {"ROWS "},
    ),
    "DeltaTable, a value": (DELTA.format("", "", "'o.state'"), DELTA.format("", "", "F.upper('o.state')"),
        {"MEANING segment"}),
    "DeltaTable, its condition": (
        DELTA.format("", "'o.id > 1', ", "'o.state'"), DELTA.format("", "'o.id > 2', ", "'o.state'"), {"ROWS "},
    ),
    "DeltaTable in foreachBatch": (DELTA_STREAM.format(1, "'s.b'"), DELTA_STREAM.format(1, "F.lower('s.b')"),
        {"MEANING country"}),
    "DeltaTable in foreachBatch, its stream": (DELTA_STREAM.format(1, "'s.b'"), DELTA_STREAM.format(2, "'s.b'"),
        {"ROWS "}),
    "DeltaTable, at a path": (
        DELTA_PATH.format("delete('quantity < 1')"), DELTA_PATH.format("delete('quantity < 2')"), {"ROWS "},
    ),
    "DeltaTable, an update": (
        DELTA_PATH.format("update('quantity < 1', {'sku': F.lit('x')})"),
        DELTA_PATH.format("update('quantity < 1', {'sku': F.lit('y')})"),
        {"MEANING sku"},
    ),
    "update": (
        "spark.sql('UPDATE shop.customers SET born = born + 1 WHERE customer > 1')",
        "spark.sql('UPDATE shop.customers SET born = born + 2 WHERE customer > 1')",
        {"MEANING born"},
    ),
    "delete": (
        "spark.sql('DELETE FROM shop.customers WHERE customer IN (SELECT customer FROM shop.orders WHERE id > 1)')",
        "spark.sql('DELETE FROM shop.customers WHERE customer IN (SELECT customer FROM shop.orders WHERE id > 2)')",
        {"ROWS "},
    ),
    "a database that is used": (USED.format("seen"), USED.format("found"), {"OUTPUT_REMOVED ", "OUTPUT_ADDED "}),
    "a table of a catalog that isn't there": (ICEBERG.format("a", 1), ICEBERG.format("a", 2), {"ROWS "}),
    "a path in SQL": (
        "spark.sql('SELECT sku FROM delta.`/lake/items` WHERE quantity > 1')" + OUT,
        "spark.sql('SELECT sku FROM delta.`/lake/items` WHERE quantity > 2')" + OUT,
        {"ROWS "},
    ),
    "a view of the catalog": (VIEW.format(1), VIEW.format(2), {"MEANING amount"}),
}  # fmt: skip

EQUAL = {
    "what is overwritten, by an option and by a setting": (
        BY_DAY.format(DYNAMIC, "parquet"),
        "spark.conf.set('spark.sql.sources.partitionOverwriteMode', 'DYNAMIC')\n"
        + BY_DAY.format("", "parquet") + "\nspark.conf.unset('spark.sql.sources.partitionOverwriteMode')",
    ),
    # name: two scripts that are written differently, and do the same
    "filters": (
        ORDERS + "o.where('amount > 1').where(\"state = 'x'\").select('id')" + OUT,
        ORDERS + "o.select('id', 'state', 'amount').where((F.lit('x') == F.col('state')) & (1 < F.col('amount')))"
        ".select('id')" + OUT,
    ),
    "sql": (
        ORDERS + "o.groupBy('state').agg(F.sum('amount').alias('n'))" + OUT,
        "spark.sql('SELECT x.state, sum(x.amount) AS n FROM shop.orders x GROUP BY 1')" + OUT,
    ),
    "unused": (
        ORDERS + "o.select('id')" + OUT,
        ORDERS + "o.withColumn('z', F.col('amount') + 1).drop('z').select('id')" + OUT,
    ),
    "join sides": (
        BOTH + "o.join(c, 'customer').select('id', 'country')" + OUT,
        BOTH + "c.join(o, o.customer == c.customer).select('id', 'country')" + OUT,
    ),
    "order and files": (
        ORDERS + "o.select('id')" + OUT,
        ORDERS + "o.repartition(4).orderBy('id').coalesce(1).select('id')" + OUT,
    ),
    "order of groups": (
        ORDERS + "o.groupBy('state').agg(F.avg('amount').alias('n'))" + OUT,
        ORDERS + "o.groupBy('state').agg(F.avg('amount').alias('n')).orderBy('n').where('n > -1 or true')" + OUT,
    ),
    "order of distinct rows": (
        ORDERS + "o.distinct().select('id', 'state')" + OUT,
        ORDERS + "o.distinct().orderBy('day').select('id', 'state')" + OUT,
    ),
    "columns in another order": (
        ORDERS + "o.select('id', 'state')" + OUT,
        ORDERS + "o.select('state', 'id')" + OUT,
    ),
    "constants": (
        ORDERS + "o.select((F.col('amount') + 2).alias('n'))" + OUT,
        ORDERS + "o.select((F.lit(1) + F.lit(1) + F.col('amount')).alias('n'))" + OUT,
    ),
    "now": (
        ORDERS + "o.where(F.col('at') > F.current_timestamp())" + OUT,
        ORDERS + "now = F.current_timestamp()\no.where(now < o['at'])" + OUT,
    ),
    "function": (
        UDF.format("upper"),
        "def shout(text):\n    return text.upper()\ng = F.udf(lambda s: s.upper(), 'string')\n"
        + ORDERS + "o.select(g(F.col('state')).alias('s'))" + OUT,
    ),
    "stream": (STREAM.format("1 hour"), STREAM.format("60 minutes")),
    "what foreachBatch doesn't take": (BATCHES.format(1, "F.lit(1)"), BATCHES.format(1, "F.lit(2)")),
    "another catalog": (
        "spark.table('lake.shop.orders')" + OUT,
        "spark.sql('SELECT orders.id, lake.shop.orders.customer FROM lake.shop.orders')" + OUT,
    ),
    "names of what is inserted": (
        ORDERS + "o.select('customer', F.lit('a').alias('a'), F.lit('b').alias('b'), 'amount')" + INTO,
        ORDERS + "o.select('customer', F.lit('a').alias('x'), F.lit('b').alias('y'), 'amount')" + INTO,
    ),
    "partitioning": (
        ORDERS + "o.writeTo('lake.t').partitionedBy('day').create()",
        "spark.sql('CREATE TABLE lake.t PARTITIONED BY (DAY) AS SELECT * FROM shop.orders')",
    ),
    "options": (
        ORDERS + "o.write.option('compression', 'gzip').option('header', True).csv('/lake/out')",
        ORDERS + "o.write.options(header='true', maxRecordsPerFile=9).csv('/lake/out')",
    ),
    "merge by SQL and by methods": (
        BY_SQL,
        MERGE_INTO.format("", "", "F.col('o.state')"),
    ),
    "merge by mergeInto and by DeltaTable": (
        MERGE_INTO.format("", "", "F.col('o.state')"), DELTA.format("", "", "'o.state'"),
    ),
    "merge with a subquery and with a WITH": (
        UPSERT.format("", "", "o.state"),
        BY_WITH,
    ),
    "what a merge's source has besides": (
        MERGE_INTO.format("", "", "F.col('o.state')"),
        MERGE_INTO.format(".withColumn('more', F.lit(1))", "", "F.col('o.state')"),
    ),
    "what a merge sets, all columns or each": (
        ALL_OR_EACH.format(".whenMatched().updateAll()"),
        ALL_OR_EACH.format(
            ".whenMatched().update({c: F.col(f's.{c}') for c in ('amount', 'id', 'sku', 'quantity')})"
        ),
    ),
    "a database that is used": (
        USED.format("seen"), "spark.table('shop.items').write.mode('append').saveAsTable('shop.seen')",
    ),
    "upkeep": (
        ORDERS + "o" + OUT + "spark.sql('VACUUM shop.orders')\nspark.sql('CALL lake.system.expire_snapshots(x => 1)')",
        ORDERS + "o" + OUT + "spark.sql('VACUUM  shop.orders')\nspark.sql('CALL lake.system.expire_snapshots(x => 1)')",
    ),
    "where a broker is": (
        "spark.read.format('kafka').option('subscribe', 't').option('kafka.bootstrap.servers', 'a:1').load()" + OUT,
        "spark.read.format('kafka').option('subscribe', 't').option('kafka.bootstrap.servers', 'b:2').load()" + OUT,
    ),
    "many values of a list": (
        ORDERS + f"o.where(F.col('amount').isin({list(range(40))})).select('id')" + OUT,
        ORDERS + f"o.where(F.col('amount').isin({list(reversed(range(40)))})).select('id')" + OUT,
    ),
}  # fmt: skip


def has_methods(*scripts: str) -> None:
    """Skips what needs a method that another Spark than the locked one doesn't have."""
    from pyspark.sql import DataFrame

    with where_spark_can():
        if any("mergeInto" in script for script in scripts):
            getattr(DataFrame, "mergeInto")  # noqa: B009  typed for the locked one alone


def differences(dry_runs: DryRuns, old: str, new: str) -> set[str]:
    has_methods(old, new)
    found = review_job(None, dry_runs.version(old, "old.py"), dry_runs.version(new, "new.py"))
    assert found.problems == ()
    return {
        " ".join([each.difference.kind, each.difference.column, *([each.difference.retyping or ""])]).removesuffix(" ")
        for output in found.outputs
        for each in output.differences
    }


EACH_DIFFERENCE = {
    "added",
    "removed",
    "renamed",
    "wider",
    "insertInto",
    "nullability",
    "partitioning",
    "mode",
    "position",
    "outputs",
    "inputs",
    "merge in foreachBatch",
    "a filter and a hash in a topic's JSON",
}
"""Changes of the gate: they have every kind of difference."""


def test_the_gate_has_every_kind_of_difference() -> None:
    def kinds(names: Iterable[str]) -> set[str]:
        return {word for name in names for words in CHANGES[name][2] for word in words.split() if word.isupper()}

    assert kinds(EACH_DIFFERENCE) == kinds(CHANGES)


@pytest.mark.parametrize("name", named_in_gate(EACH_DIFFERENCE, CHANGES, str))
def test_a_change_is_found(dry_runs: DryRuns, name: str) -> None:
    old, new, expected = CHANGES[name]
    assert differences(dry_runs, old, new) == expected


@pytest.mark.parametrize(
    "name", named_in_gate({"sql", "constants", "stream", "merge by mergeInto and by DeltaTable"}, EQUAL, str)
)
def test_what_is_only_written_differently_is_no_change(dry_runs: DryRuns, name: str) -> None:
    old, new = EQUAL[name]
    assert differences(dry_runs, old, new) == set()


def test_the_same_script_has_no_differences(subtests: pytest.Subtests, dry_runs: DryRuns) -> None:
    names = ("function", "foreachBatch", "values", "stream", "merge, ON")
    for name in names[: 2 if in_gate() else None]:
        with subtests.test(name):
            old, _, _ = CHANGES[name]
            assert differences(dry_runs, old, old) == set()


WIDE = "w = spark.table('shop.orders').select(*[F.col('id').alias(f'c{{i}}') for i in range({})])\n"
SUMMED = "w.groupBy('c0').agg(*[{}(f'c{{i}}').alias(f'c{{i}}') for i in range(1, 300)])" + OUT
WIDER = {
    "a column": (300, "w.withColumn('c3', F.col('c3') + 1)" + OUT, "w.withColumn('c3', F.col('c3') + 2)" + OUT,
        {"MEANING c3"}),
    "an aggregate": (300, SUMMED.format("F.sum"), SUMMED.format("(F.avg if i == 7 else F.sum)"),
        {"MEANING c7", "RETYPED c7 NARROWER"}),
    "a filter": (300, "w.where('c1 > 1')" + OUT, "w.where('c1 > 2')" + OUT, {"ROWS "}),
    "a name": (300, "w" + OUT, "w.withColumnRenamed('c5', 'renamed')" + OUT, {"RENAMED c5"}),
    "nothing": (300, "w.where('c1 > 1').where('c2 > 1')" + OUT, "w.where('c2 > 1 and 1 < c1')" + OUT, set()),
    "a plan for each, then one for all": (99, "w" + OUT, "w.withColumns({'d0': F.lit(1), 'd1': F.lit(2)})" + OUT,
        {"ADDED d0", "ADDED d1"}),
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("name", named_in_gate({"an aggregate"}, WIDER, str))
def test_columns_of_which_there_are_many(dry_runs: DryRuns, name: str) -> None:
    columns, old, new, expected = WIDER[name]
    table = WIDE.format(columns)
    assert differences(dry_runs, table + old, table + new) == expected


def test_a_long_list_with_another_value_is_a_change(dry_runs: DryRuns) -> None:
    listed = ORDERS + "o.where(F.col('amount').isin({})).select('id')" + OUT
    assert differences(dry_runs, listed.format([*range(40)]), listed.format([*range(39), 50])) == {"ROWS "}


UNKNOWN = {
    # name: the script, what the problem says, what the fix says
    "an unknown table": ("spark.table('shop.nothing')" + OUT, "the schema of the table shop.nothing", "--tables"),
    "an unknown path": ("spark.read.parquet('/lake/nothing')" + OUT, "the path /lake/nothing", "--tables"),
    "an unknown path whose error is caught": (
        "try:\n    spark.read.parquet('/lake/nothing')\nexcept Exception:\n    pass\n" + ORDERS + "o" + OUT,
        "continues without a source that it reads: the schema of the path /lake/nothing",
        "--tables",
    ),
    "a column that isn't there": (ORDERS + "o.select('nothing')" + OUT, "nothing", "Correct the script"),
    "missing data": (ORDERS + "o.agg(F.max('id')).collect()[0][0] + 1\no" + OUT, "TypeError", "empty"),
    "no rows": (ORDERS + "first = o.collect()[0]\no" + OUT, "IndexError", "empty"),
    "a plan that isn't complete": (
        ORDERS + "o.select('id').rdd.map(lambda row: row).toDF('a BIGINT')" + OUT,
        "is only partly known",
        "by its schema",
    ),
    "RDDs that are saved": (
        "spark.sparkContext.parallelize([1]).saveAsTextFile('/lake/out')", "RDD.saveAsTextFile", "DataFrame",
    ),
    "RDDs that go to code": (ORDERS + "o.rdd.foreachPartition(list)\no" + OUT, "RDD.foreachPartition", "DataFrame"),
    "a merge with a column that isn't there": (
        MERGE_INTO.format("", "", "F.col('o.nothing')"), "nothing", "Correct the script",
    ),
    "a merge into an unknown table": (
        MERGE_INTO.format("", "", "F.col('o.state')").replace("shop.customers", "shop.nothing"), "shop.nothing",
        "--tables",
    ),
    "a Delta table's history": (
        DELTA_PATH.format("history().collect()"), "DeltaTable.history needs a Delta table", "Correct the script",
    ),
    "an insert with parameters": (
        ORDERS + "spark.sql('INSERT INTO shop.customers SELECT 1, :a, :a, 1', args={'a': 'x'})\no" + OUT,
        "with parameters",
        "by hand",
    ),
    "an insert into several tables": (
        ORDERS + "o" + OUT + "spark.sql('FROM shop.orders INSERT INTO shop.customers SELECT 1, state, state, 2 "
        "INSERT INTO shop.customers SELECT 2, state, state, 2')",
        "runs Union",
        "by hand",
    ),
    "too few columns": (ORDERS + "o.select('id')" + INTO, "has 4 columns, and the rows", "Correct"),
    "too few columns in SQL": ("spark.sql('INSERT INTO shop.customers SELECT 1, 2')", "has 4 columns", "Correct"),
    "an insert into an unknown table": (ORDERS + "o.write.insertInto('shop.nothing')", "shop.nothing", "--tables"),
    "what the catalog makes": (ORDERS + "spark.catalog.createTable('x', '/x')\no" + OUT, "createTable", "DataFrame"),
    "nothing": ("def main():\n    spark.table('shop.orders')" + OUT, "writes nothing", "arguments"),
    "a stream that Spark refuses": (
        STREAM.format("1 hour").replace("s.withWatermark('t', '1 hour')", "s"),
        "watermark",
        "Correct",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    named_in_gate(
        {"an unknown table", "no rows", "RDDs that are saved", "a merge with a column that isn't there"}, UNKNOWN, str
    ),
)
def test_what_cant_be_known_is_no_pass(dry_runs: DryRuns, name: str) -> None:
    script, text, fix = UNKNOWN[name]
    has_methods(script)
    found = review_job(None, dry_runs.version(script, "old.py"), dry_runs.version(script, "new.py"))
    assert found.verdict is JobVerdict.UNKNOWN
    assert [each.script for each in found.problems] == ["old.py", "new.py"]
    assert all(text in each.text for each in found.problems), found.problems
    assert all(any(word in each.fix for word in fix.split("|")) for each in found.problems), found.problems


def test_a_statement_that_changes_a_table_is_the_same_or_the_verdict_is_unknown(dry_runs: DryRuns) -> None:
    old = dry_runs.version("spark.sql('ALTER TABLE shop.items ADD COLUMN x INT')\n" + ORDERS + "o" + OUT, "old.py")
    new = replace(old, script="new.py", ddl=("ALTER TABLE shop.items ADD COLUMN y INT",))
    assert review_job(None, old, old).verdict is JobVerdict.NONE
    found = review_job(None, old, new)
    assert (found.verdict, [each.script for each in found.problems]) == (JobVerdict.UNKNOWN, ["old.py", "new.py"])


TRUNCATE = "spark.sql('TRUNCATE TABLE shop.items')\n"
WRITE = ORDERS + "o.write.mode('append').saveAsTable('shop.seen')\n"


MOVED: dict[str, tuple[str, str]] = {
    "one alone": (TRUNCATE + WRITE, WRITE),
    "of another table": (TRUNCATE + WRITE, TRUNCATE.replace("items", "customers") + WRITE),
    "after the write": (TRUNCATE + WRITE, WRITE + TRUNCATE),
}


@pytest.mark.nightly
def test_a_statement_that_isnt_run_is_the_same_at_the_same_place(subtests: pytest.Subtests, dry_runs: DryRuns) -> None:
    for case, (old, new) in MOVED.items():
        with subtests.test(case):
            before = dry_runs.version(old, "old.py")
            assert review_job(None, before, before).verdict is JobVerdict.NONE
            found = review_job(None, before, dry_runs.version(new, "new.py"))
            assert found.verdict is JobVerdict.UNKNOWN
            assert "TRUNCATE TABLE shop." in found.problems[0].text


def texts(dry_runs: DryRuns, old: str, new: str) -> list[str]:
    found = review_job(None, dry_runs.version(old, "old.py"), dry_runs.version(new, "new.py"))
    return [each.text for output in found.outputs for each in output.differences]


@pytest.mark.nightly
def test_how_a_merge_is_described(dry_runs: DryRuns) -> None:
    old, condition = UPSERT.format("", "", "o.state"), UPSERT.format("", " AND o.amount > 1", "o.state")
    assert texts(dry_runs, old, condition) == [
        "The job writes other rows: WHEN MATCHED THEN UPDATE → WHEN MATCHED AND (o.amount > 1) THEN UPDATE"
    ]
    assert texts(dry_runs, old, UPSERT.format("", "", "upper(o.state)")) == [
        "segment means something else: state of shop.orders → upper(state)"
    ]
    merge = MERGE.format("customer")
    assert texts(dry_runs, merge, MERGE.format("id")) == [
        "The job writes other rows: ON (c.customer = o.customer) → ON (c.customer = o.id)"
    ]


def test_how_rows_are_described(dry_runs: DryRuns) -> None:
    old, new, _ = CHANGES["join"]
    (text,) = texts(dry_runs, old, new)
    assert "INNER JOIN: " in text
    assert "LEFT OUTER JOIN: " in text
    old, new, _ = CHANGES["distinct"]
    assert texts(dry_runs, old, new) == ["The job writes other rows: none → GROUP_BY: id; DISTINCT"]
    old, new = (ORDERS + f"o.limit({most}).select('id')" + OUT for most in (5, 6))
    assert texts(dry_runs, old, new) == ["The job writes other rows: LIMIT 5 → LIMIT 6"]
    old, new, _ = CHANGES["function"]
    assert texts(dry_runs, old, new) == ["s is computed differently: <lambda>(state)"]
    long = " + ".join(f"'{number}'" for number in range(60))
    old, new = (
        ORDERS + f"o.select(F.concat(*[F.concat('state', F.lit(x)) for x in {[long, last]}]).alias('s'))" + OUT
        for last in "ab"
    )
    (text,) = texts(dry_runs, old, new)
    assert len(text) < 500
    assert "'a'" in text or " a)" in text


def test_parameters_of_a_query(dry_runs: DryRuns) -> None:
    query = "spark.sql('SELECT o.id FROM shop.orders o WHERE o.amount > :least', args={{'least': {}}})" + OUT
    assert differences(dry_runs, query.format(1), query.format(1)) == set()
    assert differences(dry_runs, query.format(1), query.format(2)) == {"ROWS "}
    framed = ORDERS + "spark.sql('SELECT id FROM {{x}} WHERE amount > {{n}}', x=o, n={})" + OUT
    assert differences(dry_runs, framed.format(1), framed.format(2)) == {"ROWS "}


def test_secrets_of_options_are_not_shown(dry_runs: DryRuns) -> None:
    script = ORDERS + "o.write.option('fs.key', 'abc').option('password', 'abc').option('header', 'x').csv('/o')"
    (output,) = dry_runs.version(script).outputs
    assert output.options == {"header": "header=x"}
