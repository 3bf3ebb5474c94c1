"""A frame's physical plan that runs again and again, on whatever its files have by then, without a Spark job.

Of the time that `collect` takes for a plan over fourteen rows, half goes into a job, its stage, its task and the
listeners of all three. Here the plan's operators run in the thread that asks, in the context of a task as the executor
makes one.
"""

from __future__ import annotations

import io
import itertools
from typing import TYPE_CHECKING, Any, Final, Literal

from pyspark.serializers import BatchedSerializer, CPickleSerializer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_ATTEMPTS: Final = itertools.count(1 << 40)
"""Ids of tasks, which Spark's own don't reach."""
_new_rows: Any = BatchedSerializer
_PICKLED: Final[Any] = CPickleSerializer()
_ROWS: Final = _new_rows(_PICKLED)


class Tasks:
    """Runs the partitions of an RDD in a session's driver, as the one task of a job would.

    Args:
        spark: only its application matters.
    """

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        environment = jvm.org.apache.spark.SparkEnv.get()
        self._memory = environment.memoryManager()
        self._attempt = next(_ATTEMPTS)
        # Who reads a broadcast value locks its block, and must be known for that.
        environment.blockManager().registerTask(self._attempt)
        self._new_memory: Any = jvm.org.apache.spark.memory.TaskMemoryManager
        self._new_context: Any = jvm.org.apache.spark.TaskContextImpl
        self._contexts: Any = getattr(getattr(jvm, "org.apache.spark.TaskContext$"), "MODULE$")
        self._metrics = jvm.org.apache.spark.executor.TaskMetrics.empty()
        self._no_properties = jvm.java.util.Properties()
        self._no_resources = jvm.PythonUtils.toScalaMap({})
        self._no_error = jvm.scala.Option.empty()
        self._write: Any = jvm.org.apache.spark.api.python.PythonRDD.writeIteratorToStream
        self._python = jvm.org.apache.spark.sql.execution.python.EvaluatePython
        self._python.registerPicklers()
        self._new_pickler: Any = jvm.net.razorvine.pickle.Pickler
        self._new_array: Any = jvm.org.apache.spark.sql.catalyst.util.GenericArrayData
        self._new_array_type: Any = jvm.org.apache.spark.sql.types.ArrayType
        self._bytes = jvm.java.io.ByteArrayOutputStream()
        self._stream = jvm.java.io.DataOutputStream(self._bytes)

    def pickled(self, rdd: Any, partition: Any, number: int) -> bytes:
        """The elements of a partition, each with its length in front; they are byte arrays."""
        memory = self._new_memory(self._memory, self._attempt)
        context = self._new_context(
            *(0, 0, number, self._attempt, 0, 1),
            memory,
            self._no_properties,
            None,
            self._metrics,
            1,
            self._no_resources,
        )
        self._bytes.reset()
        self._contexts.setTaskContext(context)
        try:
            self._write(rdd.iterator(partition, context), self._stream)
            return bytes(self._bytes.toByteArray())
        finally:
            # Closes files, and gives locks and memory back.
            context.markTaskCompleted(self._no_error)
            memory.cleanUpAllAllocatedMemory()
            self._contexts.unset()

    def array_of(self, row: Any) -> Any:
        """The type of an array of rows."""
        return self._new_array_type(row, False)

    def collected(self, plan: Any, rows: Any) -> list[Row]:
        """Rows of a physical plan, run by a job.

        Args:
            plan: of the JVM; it hasn't run yet.
            rows: the type of an array of its rows.
        """
        found = self._python.toJava(self._new_array(plan.executeCollect()), rows)
        return list(_PICKLED.loads(self._new_pickler().dumps(found)))


class PlanAgain:
    """A frame that is planned once and gives its rows again and again, as `collect` would.

    An exchange keeps the rows that it has exchanged for as long as it lives: of a plan with one, a copy is run, by a
    job. A subquery's value stays in the plan's expressions, copied or not: such a plan is made anew each time.
    """

    def __init__(self, frame: DataFrame, tasks: Tasks) -> None:
        self._frame = frame
        self._tasks = tasks
        jdf: Any = frame._jdf
        self._plan: Any = jdf.queryExecution().executedPlan()
        plan = self._plan.toString()
        self.way: Literal["partitions", "copy", "new plan"] = "partitions"
        if "Subquery" in plan or "ReusedExchange" in plan:
            # A copy of what reuses an exchange reuses the one that has run.
            self.way = "new plan"
        elif "Exchange" in plan:
            self.way = "copy"
            self._type = tasks.array_of(jdf.schema())
        else:
            self._rdd: Any = jdf.javaToPython().rdd()
            self._partitions = list(self._rdd.partitions())

    def rows(self) -> list[Row]:
        """The rows that its files' rows make now."""
        if self.way == "new plan":
            return self._frame.alias("again").collect()
        if self.way == "copy":
            return self._tasks.collected(self._plan.clone(), self._type)
        found: list[Row] = []
        for number, partition in enumerate(self._partitions):
            found += _ROWS.load_stream(io.BytesIO(self._tasks.pickled(self._rdd, partition, number)))
        return found
