"""A REST catalog of Iceberg on loopback: HTTP in Python, and behind it Iceberg's own handlers in a session's JVM.

What the handlers take and give is Iceberg's, so a client meets the protocol as it is. Tables are kept in memory.
https://github.com/apache/iceberg/blob/main/open-api/rest-catalog-open-api.yaml
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError

from support.spark_versions import needs_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATUS = {"AlreadyExistsException": 409, "CommitFailedException": 409}
_REST = "org.apache.iceberg.rest"


class _Catalog:
    """Iceberg's handlers over a catalog in memory."""

    def __init__(self, spark: SparkSession, warehouse: str) -> None:
        self._gateway: Any = spark.sparkContext._gateway
        jvm: Any = spark._jvm
        self._jvm = jvm
        jackson = self._jvm.org.apache.iceberg.shaded.com.fasterxml.jackson
        self._mapper = jackson.databind.ObjectMapper()
        self._mapper.setVisibility(
            jackson.annotation.PropertyAccessor.FIELD, jackson.annotation.JsonAutoDetect.Visibility.ANY
        )
        self._mapper.setPropertyNamingStrategy(jackson.databind.PropertyNamingStrategies.KEBAB_CASE)
        self._iceberg = self._jvm.org.apache.iceberg
        self._iceberg.rest.RESTSerializers.registerAll(self._mapper)
        self._handlers = self._iceberg.rest.CatalogHandlers
        self._tables = self._iceberg.inmemory.InMemoryCatalog()
        self._tables.initialize("behind", {"warehouse": warehouse})

    def answer(self, method: str, path: list[str], body: str) -> Any:
        """Answer a request: an object of Iceberg's, or None."""
        match method, path:
            case "POST", ["namespaces"]:
                return self._handlers.createNamespace(self._tables, self._read(body, "CreateNamespaceRequest"))
            case "GET", ["namespaces", name]:
                return self._handlers.loadNamespace(self._tables, self._namespace(name))
            case "POST", ["namespaces", name, "tables"]:
                asked = self._read(body, "CreateTableRequest")
                return self._handlers.createTable(self._tables, self._namespace(name), asked)
            case "GET", ["namespaces", name, "tables", table]:
                return self._handlers.loadTable(self._tables, self._table(name, table))
            case "POST", ["namespaces", name, "tables", table]:
                asked = self._read(body, "UpdateTableRequest")
                return self._handlers.updateTable(self._tables, self._table(name, table), asked)
            case "DELETE", ["namespaces", name, "tables", table]:
                return self._handlers.dropTable(self._tables, self._table(name, table))
            case "POST", ["tables", "rename"]:
                return self._handlers.renameTable(self._tables, self._read(body, "RenameTableRequest"))
        raise LookupError(f"{method} {path}")

    def written(self, value: Any) -> str:
        return str(self._mapper.writeValueAsString(value))

    def _read(self, body: str, request: str) -> Any:
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        return self._mapper.readValue(body, loader.loadClass(f"{_REST}.requests.{request}"))

    def _namespace(self, name: str) -> Any:
        levels = self._gateway.new_array(self._jvm.java.lang.String, 1)
        levels[0] = name
        return self._iceberg.catalog.Namespace.of(levels)

    def _table(self, namespace: str, name: str) -> Any:
        return self._iceberg.catalog.TableIdentifier.of(self._namespace(namespace), name)


@contextmanager
def rest_catalog(spark: SparkSession, warehouse: str) -> Iterator[str]:
    """A REST catalog while the block runs.

    Yields:
        Its URI.
    """
    needs_jars("iceberg")
    catalog = _Catalog(spark, warehouse)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            path = [unquote(step) for step in urlsplit(self.path).path.strip("/").split("/")]
            status, text = 200, '{"defaults": {}, "overrides": {}}'
            try:
                if path != ["v1", "config"]:
                    found = catalog.answer(self.command, path[1:], body)
                    status, text = (204, "") if found is None else (200, catalog.written(found))
            except Py4JJavaError as error:
                kind = error.java_exception.getClass().getSimpleName()
                status = _STATUS.get(kind, 404 if kind.startswith("NoSuch") else 500)
                message = {"message": str(error.java_exception.getMessage()), "type": kind, "code": status}
                text = json.dumps({"error": message})
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the names of http.server

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name
            """Requests aren't logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
