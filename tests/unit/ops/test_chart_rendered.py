"""Objects that Helm makes of the chart: valid by Kubernetes' schemas, closed, and with no secret in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from headwater.settings import OTHER_VARIABLES, environment_name, setting_names
from support.helm import CHART, helm, rendered

# Nightly: Helm comes as a Go module alone, whose build takes minutes and needs a newer Go than Debian has.
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(2_400)]

ROOT = Path(__file__).parents[3]
KUBERNETES = ("1.27", "1.37")  # the oldest that Chart.yaml allows, and the newest whose schemas are installed

LEAST: dict[str, Any] = {
    "settings": {"kafka": {"bootstrap_servers": "broker:9093"}, "neo4j": {"uri": "neo4j+s://graph:7687"}},
    "serve": {"settings": {"serve": {"allow_anonymous_reads": True}}},
}
ALL: dict[str, Any] = {
    "image": {"repository": "registry.example.org/headwater", "digest": f"sha256:{'0' * 64}"},
    "imagePullSecrets": ["registry"],
    "settings": {
        "kafka": {
            "bootstrap_servers": "broker-1:9093,broker-2:9093",
            "security_protocol": "SSL",
            "ssl_ca_location": "/etc/headwater/kafka/ca.crt",
            "cluster_names": {"broker-1:9093,broker-2:9093": "orders"},
        },
        "neo4j": {"uri": "neo4j+s://graph:7687"},
    },
    "env": {"SSL_CERT_FILE": "/etc/headwater/kafka/ca.crt", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"},
    "mounts": [{"secret": "kafka-ca", "path": "/etc/headwater/kafka"}],
    "materializer": {
        "existingSecret": "headwater-materializer",
        "mounts": [{"secret": "kafka-client", "path": "/etc/headwater/kafka-client"}],
        "settings": {"materializer": {"record_max_bytes": 33554432, "batch_target_seconds": 1.5}},
        "autoscaling": {"enabled": True},
    },
    "serve": {
        "existingSecret": "headwater-serve",
        "mounts": [
            {"secret": "headwater-tokens", "path": "/etc/headwater/tokens"},
            {"configMap": "policies", "path": "/etc/headwater/policies"},
        ],
        "settings": {"serve": {"tokens_file": "/etc/headwater/tokens/tokens.json", "check_every_seconds": 3600}},
        "hosts": ["lineage.example.org"],
        "tlsSecret": "headwater-tls",
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "annotations": {"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"},
            "tlsSecret": "lineage-tls",
        },
    },
    "forward": {"enabled": True, "existingSecret": "headwater-forward", "to": "https://marquez.example.org"},
    "doctor": {"outageBudget": "7d"},
    "run": ["graph", "verify"],
    "serviceMonitor": {
        "enabled": True,
        "labels": {"release": "prometheus"},
        "serveToken": {"name": "headwater-scraper", "key": "token"},
        "serveTls": {"serverName": "lineage.example.org"},
    },
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "podLabels": {"team": "lineage"},
    "podAnnotations": {"example.org/note": "x"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "lineage", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
}
OF_THE_OPERATOR = {"ServiceMonitor", "PrometheusRule"}


@pytest.fixture(scope="module", params=["least", "all"])
def objects(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return rendered(LEAST if request.param == "least" else ALL, tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return rendered(ALL, tmp_path_factory.mktemp("helm"))


def of_kind(objects: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [each for each in objects if each["kind"] in kinds]


def pods(objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kind and pod template of everything that makes pods."""
    for each in of_kind(objects, "Deployment", "Job", "CronJob"):
        spec = each["spec"]["jobTemplate"]["spec"] if each["kind"] == "CronJob" else each["spec"]
        yield each["kind"], spec["template"]


def part_of(template: dict[str, Any]) -> str:
    return str(template["metadata"]["labels"]["app.kubernetes.io/component"])


def environment(template: dict[str, Any]) -> dict[str, str]:
    [container] = template["spec"]["containers"]
    return {each["name"]: each.get("value", "") for each in container["env"]}


def selects(selector: dict[str, str], template: dict[str, Any]) -> bool:
    labels: dict[str, str] = template["metadata"]["labels"]
    return selector.items() <= labels.items()


@pytest.mark.parametrize("values", [LEAST, ALL], ids=["least", "all"])
def test_helm_lints_it(values: dict[str, Any], tmp_path: Path) -> None:
    # Without `run`, which no installation has: lint doesn't know the name that the cluster generates.
    (tmp_path / "values.yaml").write_text(yaml.safe_dump({**values, "run": []}), encoding="utf-8")
    done = helm("lint", CHART, "--strict", "--values", tmp_path / "values.yaml", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"\[(?:INFO|WARNING|ERROR)\].*", done.stdout)
    assert [each for each in found if "icon is recommended" not in each] == []


def test_the_objects_are_valid_by_kubernetes_schemas(objects: list[dict[str, Any]]) -> None:
    for each in objects:
        if each["kind"] not in OF_THE_OPERATOR:
            for version in KUBERNETES:
                kubernetes_validate.validate(each, version, strict=True)


def test_each_part_is_there(everything: list[dict[str, Any]]) -> None:
    found = {(each["kind"], each["metadata"]["labels"]["app.kubernetes.io/component"]) for each in everything}
    assert found == {
        *(("Deployment", part) for part in ("materializer", "serve", "forward")),
        *(("Service", part) for part in ("materializer", "serve", "forward")),
        *(("ServiceMonitor", part) for part in ("materializer", "serve", "forward")),
        *(("NetworkPolicy", part) for part in ("materializer", "serve", "forward", "doctor", "run")),
        *(("PodDisruptionBudget", part) for part in ("materializer", "serve")),
        ("HorizontalPodAutoscaler", "materializer"),
        ("Ingress", "serve"),
        ("CronJob", "doctor"),
        ("Job", "run"),
        ("PrometheusRule", "rules"),
    }


def test_a_pod_is_closed(objects: list[dict[str, Any]]) -> None:
    """Pod security standard `restricted`, a read-only root, and no token of a service account."""
    for _, template in pods(objects):
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False
        # Else the Service headwater-serve makes the variable HEADWATER_SERVE_PORT of every pod: tcp://…
        assert spec["enableServiceLinks"] is False
        assert {name: spec["securityContext"][name] for name in ("runAsNonRoot", "runAsUser", "runAsGroup")} == {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
        }
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(spec)
        [container] = spec["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        volumes = {each["name"]: each for each in spec["volumes"]}
        assert {kind for each in volumes.values() for kind in each} <= {"name", "emptyDir", "secret", "configMap"}
        for mount in container["volumeMounts"]:
            assert mount.get("readOnly") or "emptyDir" in volumes[mount["name"]]
        assert {each["name"] for each in container["volumeMounts"]} == set(volumes)
        assert {"requests", "limits"} == set(container["resources"])
        assert "memory" in container["resources"]["limits"]


def test_services_are_probed_and_jobs_end(objects: list[dict[str, Any]]) -> None:
    for kind, template in pods(objects):
        [container] = template["spec"]["containers"]
        probes = {name: each for name, each in container.items() if name.endswith("Probe")}
        if kind == "Deployment":
            assert set(probes) == {"startupProbe", "livenessProbe", "readinessProbe"}
            paths = {name: each["httpGet"]["path"] for name, each in probes.items()}
            assert paths == {"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
            assert {each["httpGet"]["port"] for each in probes.values()} == {container["ports"][0]["name"]}
            tls = "HEADWATER_SERVE_TLS_CERTIFICATE" in environment(template)
            assert {each["httpGet"]["scheme"] for each in probes.values()} == {"HTTPS" if tls else "HTTP"}
        else:
            assert probes == {}
            assert template["spec"]["restartPolicy"] == "Never"
    for job in of_kind(objects, "Job", "CronJob"):
        spec = job["spec"]["jobTemplate"]["spec"] if job["kind"] == "CronJob" else job["spec"]
        assert spec["backoffLimit"] == 0


def test_settings_are_ones_that_exist_and_secrets_are_named_and_not_there(everything: list[dict[str, Any]]) -> None:
    """A program refuses a HEADWATER_… that it doesn't know."""
    assert of_kind(everything, "Secret", "ConfigMap") == []
    known = {environment_name(setting) for setting in setting_names()} | set(OTHER_VARIABLES)
    secrets: dict[str, set[str]] = {}
    for _, template in pods(everything):
        given = environment(template)
        assert {name for name in given if name.startswith("HEADWATER_")} <= known
        assert set(given) - known <= {"POD_IP", *ALL["env"]}
        assert ALL["env"].items() <= given.items()
        named = {each["secret"]["secretName"] for each in template["spec"]["volumes"] if "secret" in each}
        secrets[part_of(template)] = named
        assert given["HEADWATER_CONFIG"] == "/etc/headwater/secret/headwater.toml"
    assert secrets == {
        "materializer": {"headwater-materializer", "kafka-ca", "kafka-client"},
        "serve": {"headwater-serve", "kafka-ca", "headwater-tokens", "headwater-tls"},
        "forward": {"headwater-forward", "kafka-ca"},
        "doctor": {"headwater-materializer", "kafka-ca", "kafka-client"},
        "run": {"headwater-materializer", "kafka-ca", "kafka-client"},
    }


def test_settings_are_written_as_headwater_reads_them(everything: list[dict[str, Any]]) -> None:
    by_part = {part_of(template): environment(template) for _, template in pods(everything)}
    consumer, server = by_part["materializer"], by_part["serve"]
    assert consumer["HEADWATER_MATERIALIZER_RECORD_MAX_BYTES"] == "33554432"
    assert consumer["HEADWATER_MATERIALIZER_BATCH_TARGET_SECONDS"] == "1.5"
    assert consumer["HEADWATER_KAFKA_CLUSTER_NAMES"] == '{"broker-1:9093,broker-2:9093":"orders"}'
    assert (consumer["HEADWATER_MATERIALIZER_HTTP_HOST"], consumer["HEADWATER_MATERIALIZER_HTTP_PORT"]) == (
        "0.0.0.0",
        "9464",
    )
    # By the pod's address kubelet and Prometheus call it.
    service = "lineage-headwater-serve"
    names = ["lineage.example.org", service, f"{service}.lineage", f"{service}.lineage.svc", "$(POD_IP)"]
    assert server["HEADWATER_SERVE_ALLOWED_HOSTS"].split(",") == names
    assert next(iter(server)) == "POD_IP", "a variable is known to those behind it alone"
    assert "HEADWATER_MATERIALIZER_RECORD_MAX_BYTES" not in server
    assert by_part["doctor"].items() >= {"HEADWATER_MATERIALIZER_RECORD_MAX_BYTES": "33554432"}.items()


def test_every_pod_has_a_network_policy_and_every_way_in_a_reason(objects: list[dict[str, Any]]) -> None:
    policies = of_kind(objects, "NetworkPolicy")
    services = {each["metadata"]["labels"]["app.kubernetes.io/component"]: each for each in of_kind(objects, "Service")}
    for kind, template in pods(objects):
        [policy] = [each for each in policies if selects(each["spec"]["podSelector"]["matchLabels"], template)]
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
        assert all(rule["ports"] for rule in policy["spec"]["egress"])
        if kind == "Deployment":
            [container] = template["spec"]["containers"]
            [rule] = policy["spec"]["ingress"]
            assert rule["from"]
            assert rule["ports"] == [{"port": container["ports"][0]["containerPort"]}]
            assert selects(services[part_of(template)]["spec"]["selector"], template)
        else:
            assert policy["spec"]["ingress"] == []


def test_selectors_find_the_pods_of_their_part_alone(everything: list[dict[str, Any]]) -> None:
    templates = {part_of(template): template for _, template in pods(everything)}
    for each in of_kind(everything, "PodDisruptionBudget", "Deployment"):
        part = each["metadata"]["labels"]["app.kubernetes.io/component"]
        found = {name for name, one in templates.items() if selects(each["spec"]["selector"]["matchLabels"], one)}
        assert found == {part}
    [scaler] = of_kind(everything, "HorizontalPodAutoscaler")
    scaled = scaler["spec"]["scaleTargetRef"]
    assert scaled["name"] in {each["metadata"]["name"] for each in of_kind(everything, "Deployment")}
    [deployment] = [
        each for each in everything if each["metadata"].get("name") == scaled["name"] and "Dep" in each["kind"]
    ]
    assert "replicas" not in deployment["spec"], "an upgrade would undo what the autoscaler has decided"


def test_the_rules_and_jobs_are_those_of_prometheus(everything: list[dict[str, Any]], tmp_path: Path) -> None:
    files = sorted((ROOT / "ops" / "prometheus" / "rules").glob("*.yml"))
    groups = [group for path in files for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]]
    [rules] = of_kind(everything, "PrometheusRule")
    assert rules["spec"]["groups"] == groups
    assert rules["metadata"]["labels"]["release"] == "prometheus"
    jobs = {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each["spec"]["endpoints"][0]
        for each in of_kind(everything, "ServiceMonitor")
    }
    scraped = yaml.safe_load((ROOT / "ops" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    names = {each["job_name"] for each in scraped["scrape_configs"]}
    assert {endpoint["relabelings"][0]["replacement"] for endpoint in jobs.values()} <= names
    assert jobs["serve"]["scheme"] == "https"
    assert jobs["serve"]["authorization"] == {"credentials": {"name": "headwater-scraper", "key": "token"}}

    without = rendered(LEAST | {"serve": {"enabled": False}, "prometheusRule": {"enabled": True}}, tmp_path)
    [rules] = of_kind(without, "PrometheusRule")
    assert "HeadwaterServeDown" not in str(rules)
    assert "HeadwaterMaterializerDown" in str(rules)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "settings.kafka.bootstrap_servers is required"),
        ({"settings": {"kafka": {"bootstrap_servers": "b:9092"}}}, "settings.neo4j.uri is required"),
        (LEAST | {"serve": {}}, "serve has no way to log in: set tokens_file"),
        (LEAST | {"serve": {"settings": {"serve": {"tls_client_ca": "/ca.pem"}}}}, "lets no probe in"),
        (LEAST | {"forward": {"enabled": True}}, "forward.to is required"),
        (
            LEAST | {"serve": {**LEAST["serve"], "ingress": {"enabled": True}}},
            "serve.ingress needs names: set serve.hosts",
        ),
        (
            LEAST
            | {
                "serve": {"settings": {"serve": {"tokens_file": "/tokens.json"}}},
                "serviceMonitor": {"enabled": True},
            },
            "set serviceMonitor.serveToken to the Secret",
        ),
        (LEAST | {"materialiser": {}}, "additional properties 'materialiser' not allowed"),
        (LEAST | {"materializer": {"settings": {"neo4j": {"password": "x"}}}}, "'password' not allowed"),
        (LEAST | {"materializer": {"replicas": "two"}}, "got string, want integer"),
    ],
    ids=["kafka", "neo4j", "log-in", "probes", "collector", "hosts", "scraper", "unknown", "secret", "type"],
)
def test_wrong_values_are_refused_with_what_to_do(values: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    done = helm("template", "lineage", CHART, "--values", tmp_path / "values.yaml", home=tmp_path)
    assert done.returncode != 0
    assert message in done.stderr


def test_it_is_packaged_with_the_rules(tmp_path: Path) -> None:
    done = helm("package", CHART, "--destination", tmp_path, home=tmp_path)
    assert done.returncode == 0, done.stderr
    [package] = tmp_path.glob("*.tgz")
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(ALL), encoding="utf-8")
    done = helm("template", "lineage", package, "--values", tmp_path / "values.yaml", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "HeadwaterMaterializerDown" in done.stdout
