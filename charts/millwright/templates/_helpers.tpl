{{- define "millwright.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* A Service has up to 11 more characters, of 63. */}}
{{- define "millwright.fullname" -}}
{{- $name := include "millwright.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Where releases of several namespaces meet: objects of the cluster, and of namespaces of machines */}}
{{- define "millwright.uniqueName" -}}
{{ .Release.Namespace }}-{{ include "millwright.fullname" . }}
{{- end -}}

{{/* Name of an object in a namespace of machines: list $ NAMESPACE */}}
{{- define "millwright.nameIn" -}}
{{- $root := first . -}}
{{- include (ternary "millwright.fullname" "millwright.uniqueName" (eq (last .) $root.Release.Namespace)) $root -}}
{{- end -}}

{{- define "millwright.selectorLabels" -}}
app.kubernetes.io/name: {{ include "millwright.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels: dict "root" $ "labels" LABELS. Each key once, the first that has it: those of the selector, of the object, of all objects, of the chart. */}}
{{- define "millwright.labels" -}}
{{- $chart := dict "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63) -}}
{{- merge (include "millwright.selectorLabels" .root | fromYaml) (default dict .labels) (default dict .root.Values.commonLabels) $chart | toYaml -}}
{{- end -}}

{{/* Fields of `metadata`: dict "root" $ "name" NAME "namespace" NAMESPACE "labels" LABELS "annotations" ANNOTATIONS. Default: the full name, in the cluster. */}}
{{- define "millwright.metadata" -}}
name: {{ default (include "millwright.fullname" .root) .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "millwright.labels" . | nindent 2 }}
{{- with merge dict (default dict .annotations) (default dict .root.Values.commonAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "millwright.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if or .tag (not .digest) }}:{{ default $.Chart.AppVersion .tag }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{/* By `dig`: a release that keeps the values of an older chart has no such value, which is not an empty one. */}}
{{- define "millwright.podSecurityContext" -}}
{{- $user := 65532 -}}
{{- dig "podSecurityContext" (dict "runAsNonRoot" true "runAsUser" $user "runAsGroup" $user "fsGroup" $user "seccompProfile" (dict "type" "RuntimeDefault")) .Values.AsMap | toYaml -}}
{{- end -}}

{{- define "millwright.securityContext" -}}
{{- dig "securityContext" (dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL"))) .Values.AsMap | toYaml -}}
{{- end -}}

{{/* Where a driver container listens, in a volume of its own: other drivers do not see what the controllers send to it. */}}
{{- define "millwright.driverSocket" -}}
/run/millwright/{{ .name }}/driver.sock
{{- end -}}

{{/* File of the certificates of `caBundle`; empty if there are none */}}
{{- define "millwright.caFile" -}}
{{- with .Values.caBundle -}}
{{- if or .configMap .secret -}}
/etc/millwright/ca/{{ .key }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "millwright.caMount" -}}
{{- with include "millwright.caFile" . -}}
- name: ca
  mountPath: {{ dir . }}
  readOnly: true
{{- end -}}
{{- end -}}

{{/* Environment of a container: list $ ENV OWN. Variables of ENV replace those of the chart. */}}
{{- define "millwright.env" -}}
{{- $env := default list (index . 1) -}}
{{- $own := last . -}}
{{- with $file := include "millwright.caFile" (first .) -}}
{{- /* For Go and others, and for the clients of clouds in Node. */ -}}
{{- $own = concat $own (list (dict "name" "SSL_CERT_FILE" "value" $file) (dict "name" "NODE_EXTRA_CA_CERTS" "value" $file)) -}}
{{- end -}}
{{- $names := list -}}
{{- range $env }}{{ $names = append $names .name }}{{ end -}}
{{- range $own }}{{ if not (has .name $names) }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{- with $env }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- define "millwright.serviceAccountName" -}}
{{- default (ternary (include "millwright.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "millwright.machinesNamespace" -}}
{{- default .Release.Namespace .Values.machinesNamespace -}}
{{- end -}}

{{/* All namespaces of machines, separated by commas */}}
{{- define "millwright.machinesNamespaces" -}}
{{- prepend .Values.moreMachinesNamespaces (include "millwright.machinesNamespace" .) | uniq | join "," -}}
{{- end -}}

{{- define "millwright.priorityClassName" -}}
{{- if .Values.priorityClass.create -}}
{{ default (include "millwright.uniqueName" .) .Values.priorityClass.name }}
{{- else -}}
{{ .Values.priorityClass.name }}
{{- end -}}
{{- end -}}

{{/* Address and port of values; an IPv6 address may be in brackets. */}}
{{- define "millwright.hostPort" -}}
{{- if contains ":" .address -}}
[{{ .address | trimPrefix "[" | trimSuffix "]" }}]:{{ .port }}
{{- else -}}
{{ .address }}:{{ .port }}
{{- end -}}
{{- end -}}

{{/* Not empty if the page is served at an address that others reach. */}}
{{- define "millwright.dashboardIsShared" -}}
{{- if and .Values.dashboard.enabled (not (or (hasPrefix "127." .Values.dashboard.address) (has .Values.dashboard.address (list "::1" "[::1]")))) -}}
true
{{- end -}}
{{- end -}}

{{/* Not empty if the API server reviews tokens for the process. */}}
{{- define "millwright.reviewsTokens" -}}
{{- if or .Values.metrics.authorization (include "millwright.dashboardIsShared" .) -}}
true
{{- end -}}
{{- end -}}

{{/* A role and its binding: dict "root" $ "kind" Role|ClusterRole "name" NAME "namespace" NAMESPACE "rules" RULES */}}
{{- define "millwright.role" -}}
{{- $metadata := include "millwright.metadata" (pick . "root" "name" "namespace") -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  {{- $metadata | nindent 2 }}
rules:
  {{- .rules | toYaml | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  {{- $metadata | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "millwright.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{ end -}}

{{/* The share of the deletion budget in percent, as the controllers have it; 0: there is none. */}}
{{- define "millwright.maxDeletionShare" -}}
{{- $flag := get .Values.flags "machine-safety-max-deletion-share" | toString | trimSuffix "%" -}}
{{- default (ternary "50" "0" (empty .Values.targetCluster.kubeconfigSecret)) $flag -}}
{{- end -}}

{{/* A policy of files/, with its binding: dict "root" $ "policy" NAME. That of the deletion budget is for the namespaces of the controllers, and has their share. */}}
{{- define "millwright.admissionPolicy" -}}
{{- $root := .root -}}
{{- $isBudget := eq .policy "deletion-budget" -}}
{{- if semverCompare ">=1.30.0-0" $root.Capabilities.KubeVersion.Version -}}
{{- $name := printf "%s-%s" (include "millwright.uniqueName" $root) .policy -}}
{{- $metadata := include "millwright.metadata" (dict "root" $root "name" $name) | fromYaml -}}
{{- range ($root.Files.Get (printf "files/%s-policy.yaml" .policy) | fromYaml).items }}
---
{{- $spec := .spec -}}
{{- if hasKey $spec "policyName" -}}
{{- $spec = merge (dict "policyName" $name) $spec -}}
{{- if $isBudget -}}
{{- $in := dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" (splitList "," (include "millwright.machinesNamespaces" $root)) -}}
{{- $spec = merge (dict "matchResources" (dict "namespaceSelector" (dict "matchExpressions" (list $in)))) $spec -}}
{{- end -}}
{{- else if $isBudget -}}
{{- $share := dict "name" "share" "expression" (include "millwright.maxDeletionShare" $root) -}}
{{- $spec = merge (dict "variables" (prepend (rest $spec.variables) $share)) $spec -}}
{{- end }}
{{ merge (dict "metadata" $metadata "spec" $spec) . | toYaml }}
{{- end }}
{{- end }}
{{- end }}
