"""Tables behind JDBC: the server is the namespace, the qualified table the name.

| platform            | namespace                    | name                         | when the table isn't qualified |
|---------------------|------------------------------|------------------------------|--------------------------------|
| Postgres, Redshift  | `postgres://{host}:{port}`   | `{database}.{schema}.{table}`| schema `public`                |
| MySQL, MariaDB      | `mysql://{host}:{port}`      | `{database}.{table}`         | the URL's database             |
| SQL Server          | `sqlserver://{host}:{port}`  | `{database}.{schema}.{table}`| schema `dbo`                   |
| Oracle              | `oracle://{host}:{port}`     | `{service}.{schema}.{table}` | schema left out                |
| Trino               | `trino://{host}:{port}`      | `{catalog}.{schema}.{table}` | the URL's catalog and schema   |
| Snowflake           | `snowflake://{account}`      | `{database}.{schema}.{table}`| schema `PUBLIC`                |
| any other           | `{scheme}://{authority}`     | as in the URL and the table   |                                |

Namespace and name contain no user, password or other parameter of the URL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headwater_schemas.events.common import DatasetRef

# One part of a qualified name: "quoted", `quoted`, [quoted] or bare.
_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([^.]+)')
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.%]+\])(?::\d+)?")
_INSTANCE = re.compile(r"(?P<host>[^\\]+)\\(?P<instance>\w+)(?P<port>(?::\d+)?)")


@dataclass(frozen=True, slots=True)
class JdbcPlatform:
    """Naming of one database product.

    Attributes:
        port: the product's default port; None if it has none.
        depth: number of parts of a full name, the database first.
        schema: schema of a table that is named without one; None: the name stays without a schema.
    """

    scheme: str
    port: int | None = None
    depth: int = 3
    schema: str | None = None


_PLATFORMS: dict[str, JdbcPlatform] = {
    # the URL's scheme: platform
    "postgresql": JdbcPlatform("postgres", 5432, schema="public"),
    "postgres": JdbcPlatform("postgres", 5432, schema="public"),
    "redshift": JdbcPlatform("redshift", 5439, schema="public"),
    "mysql": JdbcPlatform("mysql", 3306, depth=2),
    "mariadb": JdbcPlatform("mysql", 3306, depth=2),
    "sqlserver": JdbcPlatform("sqlserver", 1433, schema="dbo"),
    "oracle": JdbcPlatform("oracle", 1521),
    "db2": JdbcPlatform("db2", 50000),
    "trino": JdbcPlatform("trino", 8080),
    "teradata": JdbcPlatform("teradata", 1025, depth=2),
    "clickhouse": JdbcPlatform("clickhouse", 8123, depth=2),
    "snowflake": JdbcPlatform("snowflake", schema="PUBLIC"),
}


@dataclass(frozen=True, slots=True)
class JdbcUrl:
    """The parts of a JDBC URL that locate a table.

    Attributes:
        scheme: URL scheme of the product.
        hosts: `host[:port]` each; empty for a database without a server.
        instance: SQL Server's named instance.
        path: parts after the hosts, split at slashes; without hosts, the whole location as one part.
        parameters: parameters by lower-case name.
    """

    scheme: str
    hosts: tuple[str, ...] = ()
    instance: str | None = None
    path: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)


def jdbc(url: str, table: str) -> DatasetRef:
    """Return a table's identity.

    Args:
        url: `jdbc:…`, as Spark's option `url`.
        table: value of Spark's option `dbtable`, qualified or not, quoted or not.

    Raises:
        ValueError: `table` is a query, or `url` is no JDBC URL. The message repeats neither: both may hold secrets.
    """
    if "(" in table:
        raise ValueError("a query has no name: name the tables that it reads")
    parsed = _parse(url)
    platform = _PLATFORMS.get(parsed.scheme, JdbcPlatform(parsed.scheme))
    return DatasetRef(_namespace(platform, parsed), ".".join(_qualified(platform, parsed, _parts(table))))


def _parts(table: str) -> list[str]:
    parts = []
    for double, back, bracket, bare in _PART.findall(table.strip()):
        parts.append(double.replace('""', '"') or back.replace("``", "`") or bracket or bare.strip())
    return parts


def _qualified(platform: JdbcPlatform, url: JdbcUrl, parts: list[str]) -> list[str]:
    if len(parts) >= platform.depth or not url.hosts:
        return parts
    if platform.scheme == "trino":
        return [*url.path[: platform.depth - len(parts)], *parts]
    if len(parts) == 1 and platform.schema:
        schema = url.parameters.get("currentschema") or url.parameters.get("schema") or platform.schema
        parts = [schema, *parts]
    database = _database(url)
    return [database, *parts] if database else parts


def _database(url: JdbcUrl) -> str | None:
    for name in ("databasename", "database", "db"):
        if name in url.parameters:
            return url.parameters[name]
    return url.path[0] if url.path else None


def _namespace(platform: JdbcPlatform, url: JdbcUrl) -> str:
    if not url.hosts:
        return f"{platform.scheme}:{'/'.join(url.path)}"
    if platform.scheme == "snowflake":
        return f"snowflake://{url.hosts[0].partition('.snowflakecomputing.com')[0]}"
    # SQL Server's driver asks the server for the port of a named instance.
    port = None if url.instance else platform.port
    hosts = sorted(host if port is None or _has_port(host) else f"{host}:{port}" for host in url.hosts)
    return f"{platform.scheme}://{','.join(hosts)}" + (f"/{url.instance}" if url.instance else "")


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]  # an IPv6 address is in brackets


def _parse(url: str) -> JdbcUrl:
    scheme, colon, rest = re.sub(r"^jdbc:", "", url.strip(), flags=re.IGNORECASE).partition(":")
    if not colon:
        raise ValueError("not a JDBC URL: it has no scheme")
    scheme = scheme.lower()
    # Parameters are removed first: a password among them may contain an @.
    location, *parameters = re.split(r"[;?]", rest)
    pairs = (text.partition("=") for part in parameters for text in part.split("&"))
    values = {name.lower(): value for name, equals, value in pairs if equals}
    if scheme == "oracle":
        location = location.rpartition("@")[2].removeprefix("//")  # thin:user/password@//host
    elif "//" in location:
        location = location.partition("//")[2].rpartition("@")[2]  # //user:password@host, loadbalance://host
    else:
        return JdbcUrl(scheme, path=(location,), parameters=values)
    if scheme == "oracle" and (sid := re.fullmatch(r"([^/:]+:\d+):([^/:]+)", location)):
        location = f"{sid[1]}/{sid[2]}"
    authority, *path = location.split("/")
    instance = None
    if named := _INSTANCE.fullmatch(authority):
        authority, instance = named["host"] + named["port"], named["instance"]
    hosts = tuple(host for host in authority.lower().split(",") if _HOST.fullmatch(host))
    if not hosts:
        raise ValueError(f"not a JDBC URL of {scheme}: it names no host")
    return JdbcUrl(scheme, hosts, instance, tuple(part for part in path if part), values)
