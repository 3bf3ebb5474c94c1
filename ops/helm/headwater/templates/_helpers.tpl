{{/* First part of every object's name: the release's, with the chart's where it isn't in there. */}}
{{- define "headwater.name" -}}
{{- ternary .Release.Name (printf "%s-headwater" .Release.Name) (contains "headwater" .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Labels by which the pods of a part are selected. Takes (list root part). */}}
{{- define "headwater.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: headwater
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* All labels of an object of a part. Takes (list root part). */}}
{{- define "headwater.labels" -}}
{{- $root := index . 0 -}}
{{ include "headwater.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{/* Name, labels and namespace of an object of a part. Takes (list root part). */}}
{{- define "headwater.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "headwater.name" $root }}-{{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "headwater.labels" . | nindent 2 }}
{{- end }}

{{- define "headwater.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Settings of a part as JSON: those of all parts, its own, and those of the chart. Takes (dict root values fixed). */}}
{{- define "headwater.settings" -}}
{{- $settings := mergeOverwrite (deepCopy .root.Values.settings) (deepCopy .values.settings) (.fixed | default dict) -}}
{{- $_ := required "settings.kafka.bootstrap_servers is required: broker-1:9093,broker-2:9093" $settings.kafka.bootstrap_servers -}}
{{- $_ := required "settings.neo4j.uri is required: neo4j+s://graph.example.org:7687" $settings.neo4j.uri -}}
{{- toJson $settings -}}
{{- end }}

{{/*
A pod of a part, to be restarted or not by its controller. Takes a dict:
  root, part, values (existingSecret, mounts, settings, resources), args;
  fixed: settings that the chart makes; port, scheme: of probes and metrics, none for a Job; tlsSecret; grace: seconds;
  preStop: seconds that a stopping pod still serves, until nothing is sent to it.
*/}}
{{- define "headwater.pod" -}}
{{- $root := .root -}}
{{- $mounts := concat $root.Values.mounts .values.mounts -}}
metadata:
  labels:
    {{- include "headwater.labels" (list $root .part) | nindent 4 }}
    {{- with $root.Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with $root.Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  # A Service called headwater-serve would become HEADWATER_SERVE_PORT=tcp://…, which Headwater takes for a setting.
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: {type: RuntimeDefault}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- if .port }}
  terminationGracePeriodSeconds: {{ .grace }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "headwater.selector" (list $root .part) | nindent 10 }}
  {{- else }}
  restartPolicy: Never
  {{- end }}
  {{- with $root.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .part }}
      image: {{ include "headwater.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{- toYaml .args | nindent 8 }}
      env:
        - name: POD_IP
          valueFrom: {fieldRef: {fieldPath: status.podIP}}
        {{- if .values.existingSecret }}
        - name: HEADWATER_CONFIG
          value: /etc/headwater/secret/headwater.toml
        {{- end }}
        {{- range $section, $keys := include "headwater.settings" . | fromJson }}
        {{- range $key, $value := $keys }}
        {{- if and (ne (toString $value) "") (not (kindIs "invalid" $value)) }}
        - name: {{ printf "HEADWATER_%s_%s" $section $key | upper }}
          {{- /* As JSON: a large number would be printed as 1.6777216e+07 else. */}}
          value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- range $name, $value := $root.Values.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      {{- if .port }}
      ports:
        - name: http
          containerPort: {{ .port }}
      startupProbe:
        httpGet: {path: /livez, port: http, scheme: {{ .scheme }}}
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /livez, port: http, scheme: {{ .scheme }}}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http, scheme: {{ .scheme }}}
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 3
      {{- end }}
      {{- if .preStop }}
      lifecycle:
        preStop: {exec: {command: [sleep, {{ .preStop | quote }}]}}
      {{- end }}
      resources: {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if .values.existingSecret }}
        - {name: secret, mountPath: /etc/headwater/secret, readOnly: true}
        {{- end }}
        {{- if .tlsSecret }}
        - {name: tls, mountPath: /etc/headwater/tls, readOnly: true}
        {{- end }}
        {{- range $index, $mount := $mounts }}
        - {name: mount-{{ $index }}, mountPath: {{ $mount.path | quote }}, readOnly: true}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {sizeLimit: 256Mi}
    {{- with .values.existingSecret }}
    - name: secret
      secret: {secretName: {{ . | quote }}, defaultMode: 0440, items: [{key: headwater.toml, path: headwater.toml}]}
    {{- end }}
    {{- with .tlsSecret }}
    - name: tls
      secret: {secretName: {{ . | quote }}, defaultMode: 0440}
    {{- end }}
    {{- range $index, $mount := $mounts }}
    - name: mount-{{ $index }}
      {{- if $mount.secret }}
      secret: {secretName: {{ $mount.secret | quote }}, defaultMode: 0440}
      {{- else }}
      configMap: {name: {{ $mount.configMap | quote }}}
      {{- end }}
    {{- end }}
{{- end }}

{{/* One pod at a time may be evicted, and one that isn't ready always: nobody waits for a Neo4j that is away. */}}
{{- define "headwater.disruptions" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "headwater.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "headwater.selector" . | nindent 6 }}
{{- end }}

{{/* Service without an address of its own, for scrapers. Takes (list root part port). */}}
{{- define "headwater.metricsService" -}}
apiVersion: v1
kind: Service
metadata: {{- include "headwater.metadata" . | nindent 2 }}
spec:
  clusterIP: None
  selector: {{- include "headwater.selector" . | nindent 4 }}
  ports:
    - {name: http, port: {{ index . 2 }}, targetPort: http}
{{- end }}
