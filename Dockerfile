# The materializer: `headwater consume` with what it needs and nothing else, so no Spark and no Java.

FROM python:3.12.12-slim-bookworm AS build

# The uv that made uv.lock. It comes as a wheel, so that the build asks one package index and no second image registry.
RUN pip install --no-cache-dir uv==0.13.8

ENV UV_CACHE_DIR=/var/cache/uv \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PROJECT_ENVIRONMENT=/opt/headwater \
    UV_PYTHON_DOWNLOADS=never

WORKDIR /src

# Dependencies first: this layer is built again only when the lock changes.
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/var/cache/uv \
    uv sync --locked --no-dev --no-install-project --extra materializer --extra api --extra tracing

COPY README.md LICENSE ./
COPY schemas/ schemas/
COPY openlineage/ openlineage/
COPY graph/ graph/
COPY analysis/ analysis/
COPY producers/ producers/
COPY consumers/ consumers/
COPY review/ review/
COPY audit/ audit/
COPY server/ server/
COPY cli/ cli/
COPY spark_jobs/ spark_jobs/
# Not editable: the environment alone goes into the next stage.
RUN --mount=type=cache,target=/var/cache/uv \
    uv sync --locked --no-dev --no-editable --extra materializer --extra api --extra tracing


FROM python:3.12.12-slim-bookworm

RUN groupadd --system --gid 10001 headwater \
 && useradd --system --uid 10001 --gid headwater --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin headwater

COPY --from=build /opt/headwater /opt/headwater

ENV PATH=/opt/headwater/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

# By number, so that a cluster that insists on a non-root user can tell.
USER 10001:10001
WORKDIR /

EXPOSE 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:9464/readyz', timeout=2)"]

ENTRYPOINT ["headwater"]
CMD ["consume"]
