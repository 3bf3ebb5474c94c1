"""More cases of the DataFrame API: columns renamed, frames joined with themselves, fields of structs, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.avro.functions import from_avro, to_avro
from pyspark.sql.window import Window

from spark.plan.frames import case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@case("withColumnsRenamed, and columns that change places")
def _(s: SparkSession) -> DataFrame:
    renamed = s.table("people").withColumnsRenamed({"name": "n", "city": "c"})
    return renamed.withColumns({"n": F.col("c"), "c": F.col("n")}).select("n", "c")


@case("toDF, transform")
def _(s: SparkSession) -> DataFrame:
    return s.table("cities").toDF("a", "b").transform(lambda frame: frame.select(F.upper("b").alias("u"), "a"))


@case("union of a frame with itself")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select("name").union(s.table("people").select("city"))


@case("self-joins by alias, and of a derived frame")
def _(s: SparkSession) -> DataFrame:
    a, b = s.table("people").alias("a"), s.table("people").alias("b")
    joined = a.join(b, F.col("a.id") == F.col("b.age")).select("a.name", F.col("b.name").alias("other"), "a.id")
    return joined.join(joined.select("id", F.upper("other").alias("shout")), "id")


@case("a frame used twice after it was cached")
def _(s: SparkSession) -> DataFrame:
    cached = s.table("people").where("age > 3").select(F.upper("name").alias("n"), "id").cache()
    return cached.join(cached.select(F.col("id").alias("other")), F.col("id") == F.col("other")).select("n", "other")


@case("unionByName of structs with missing fields")
def _(s: SparkSession) -> DataFrame:
    more = s.sql("SELECT named_struct('street', city, 'zip', age) AS address FROM people")
    return s.table("trips").select("address").unionByName(more, allowMissingColumns=True)


@case("pivot by the values there are")
def _(s: SparkSession) -> DataFrame:
    rows = s.createDataFrame([(1, "a", 2.0)], "id INT, k STRING, v DOUBLE")
    rows.createOrReplaceTempView("to_pivot")
    return s.table("to_pivot").groupBy("id").pivot("k").sum("v")


@case("exceptAll, intersectAll")
def _(s: SparkSession) -> DataFrame:
    items, cities = s.table("orders").select("item"), s.table("cities").select("city")
    return s.table("people").select("name").exceptAll(items).intersectAll(cities)


@case("fillna, replace, dropna")
def _(s: SparkSession) -> DataFrame:
    filled = s.table("people").select("name", "age").fillna("x", ["name"])
    return filled.replace({"a": "b"}, subset=["name"]).dropna()


@case("describe")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").describe("age")


@case("sampleBy has the same text in every run")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").sampleBy("age", {1: 0.5}).select("name")


@case("scalar and exists, and a lateral join")
def _(s: SparkSession) -> DataFrame:
    bought = s.table("orders").where(F.col("person_id") == F.col("age").outer())
    most = bought.select(F.max("amount")).scalar().alias("most")
    people = s.table("people").where(bought.exists()).lateralJoin(bought.select("item"))
    return people.select("name", "item", most)


@case("table-valued functions")
def _(s: SparkSession) -> DataFrame:
    return s.table("trips").lateralJoin(s.tvf.explode(F.col("tags").outer())).select("id", "col")


@case("withField within an array")
def _(s: SparkSession) -> DataFrame:
    shouted = F.transform("legs", lambda leg: leg.withField("origin", F.upper(leg["origin"])))
    return s.table("trips").select(shouted.alias("legs"))


@case("withField over a coalesce")
def _(s: SparkSession) -> DataFrame:
    return s.table("trips").select(F.coalesce("address", F.lit(None)).withField("zip", F.col("id")).alias("a"))


@case("withField of structs that may be null, and of one that never is")
def _(s: SparkSession) -> DataFrame:
    pair = F.struct(F.col("id").alias("x"), F.col("payload").alias("y"))
    given = s.table("trips").select(
        "address", pair.alias("never"), F.when(F.col("id") > 1, pair).alias("sometimes"), F.array(pair).alias("l")
    )
    put = {name: F.col(name).withField("z", F.lit(1))["z"] for name in ("address", "never", "sometimes")}
    put["twice"] = F.col("sometimes").withField("z", F.lit(1)).withField("x", F.lit(2))["x"]
    put["cast"] = F.col("sometimes").cast("struct<a: string, b: string>").withField("a", F.lit("a"))["a"]
    put["element"] = F.col("l")[0].withField("z", F.lit(1))["z"]
    return given.select(*(value.alias(name) for name, value in put.items()))


@case("structs collected, and a field of each")
def _(s: SparkSession) -> DataFrame:
    lists = s.table("people").groupBy("city").agg(F.collect_list(F.struct("name", "age")).alias("l"))
    return lists.select(F.transform("l", lambda one: one["name"]).alias("names"))


@case("a stream joined with a table")
def _(s: SparkSession) -> DataFrame:
    numbers = s.readStream.format("rate").load()
    return numbers.join(s.table("people"), F.col("value") == F.col("id")).select("name", "timestamp")


@case("a stream's time window with a watermark")
def _(s: SparkSession) -> DataFrame:
    numbers = s.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    return numbers.groupBy(F.window("timestamp", "5 minutes")).agg(F.max("value").alias("most"))


TRIP = '{"type": "record", "name": "trip", "fields": [{"name": "id", "type": "int"}, {"name": "s", "type": "string"}]}'


@case("to_avro and from_avro")
def _(s: SparkSession) -> DataFrame:
    encoded = to_avro(F.struct("id", F.col("address.street").alias("s")))
    written = s.table("trips").select(encoded.alias("bytes"))
    return written.select("bytes", from_avro("bytes", TRIP).alias("back")).select("bytes", "back.s", "back")


@case("from_avro of a column that is no payload")
def _(s: SparkSession) -> DataFrame:
    return s.table("trips").select(from_avro(F.col("payload").cast("binary"), TRIP).alias("r")).select("r.id")


@case("from_avro of a topic")
def _(s: SparkSession) -> DataFrame:
    topic = (
        s.readStream.format("kafka").option("kafka.bootstrap.servers", "localhost:1").option("subscribe", "trips.v1")
    )
    return topic.load().select(from_avro("value", TRIP).alias("trip")).select("trip.s")


@case("a frame after localCheckpoint")
def _(s: SparkSession) -> DataFrame:
    return (
        s.table("people").select(F.upper("name").alias("n")).localCheckpoint().groupBy("n").agg(F.max("n").alias("m"))
    )


@case("a struct with two fields of one name")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select(F.struct("id", F.col("age").alias("id")).alias("s"), F.col("name").alias("s"))


@case("a query with parameters, by name and by position")
def _(s: SparkSession) -> DataFrame:
    named = s.sql("SELECT name, age + :more AS age FROM people WHERE city = :city", {"more": 3, "city": "Oslo"})
    return named.union(s.sql("SELECT item, ? FROM orders WHERE amount > ?", [1, 2.0]))


@case("a query of frames that are its arguments")
def _(s: SparkSession) -> DataFrame:
    adults = s.table("people").where("age > 18").select("name", "city")
    return s.sql("SELECT a.name, c.country FROM {adults} a JOIN {c} c USING (city)", adults=adults, c=s.table("cities"))


@case("summary")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").summary("count", "mean", "75%")


@case("freqItems")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").freqItems(["city", "age"], 0.4)


@case("crosstab")
def _(s: SparkSession) -> DataFrame:
    s.createDataFrame([("Oslo", 1)], "city STRING, age INT").createOrReplaceTempView("to_cross")
    return s.table("to_cross").crosstab("city", "age")


@case("transpose")
def _(s: SparkSession) -> DataFrame:
    s.createDataFrame([("Oslo", 1)], "city STRING, age INT").createOrReplaceTempView("to_transpose")
    return s.table("to_transpose").transpose()


@case("a transposed frame, and on")
def _(s: SparkSession) -> DataFrame:
    s.createDataFrame([("Oslo", 1)], "city STRING, age INT").createOrReplaceTempView("to_transpose")
    return s.table("to_transpose").transpose().select(F.upper("key").alias("k"))


@case("two frames under one name of a view")
def _(s: SparkSession) -> DataFrame:
    s.createDataFrame([(1, "a")], "id INT, label STRING").createOrReplaceTempView("named_twice")
    labels = s.table("named_twice")
    s.createDataFrame([(1, 2.0)], "id INT, price DOUBLE").createOrReplaceTempView("named_twice")
    return labels.join(s.table("named_twice"), "id").select("label", "price")


@case("a lookup in a map of constants, and of columns")
def _(s: SparkSession) -> DataFrame:
    names = F.create_map(F.lit("no"), F.lit("Norway"), F.lit("dk"), F.lit("Denmark"))
    fields = F.create_map(F.lit("n"), F.col("name"), F.lit("c"), F.col("city"))
    people = s.table("people").withColumn("fields", fields)
    return people.select(names["no"].alias("a"), names[F.col("city")].alias("b"), F.col("fields")["c"].alias("c"))


@case("the newest row of each key")
def _(s: SparkSession) -> DataFrame:
    newest = Window.partitionBy("person_id").orderBy(F.col("at").desc())
    rows = s.table("orders").withColumn("n", F.row_number().over(newest))
    return rows.where("n = 1").drop("n", "at")


@case("what a script in SQL ends with")
def _(s: SparkSession) -> DataFrame:
    session = s.newSession()
    session.conf.set("spark.sql.scripting.enabled", "true")
    return session.sql("BEGIN DECLARE least INT DEFAULT 3; SELECT name FROM people WHERE age > least; END")


@case("all but a field of a struct, and some columns")
def _(s: SparkSession) -> DataFrame:
    return s.sql("SELECT * EXCEPT (address.geo, marks, tags, legs, payload) FROM trips")
