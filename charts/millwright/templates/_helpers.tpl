{{- define "millwright.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 53 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "millwright.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millwright.labels" -}}
{{ include "millwright.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
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
{{ default (include "millwright.fullname" .) .Values.priorityClass.name }}
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
{{- $labels := include "millwright.labels" .root -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- $labels | nindent 4 }}
rules:
  {{- .rules | toYaml | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- $labels | nindent 4 }}
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
{{- $name := printf "%s-%s-%s" $root.Release.Namespace (include "millwright.fullname" $root) .policy -}}
{{- $metadata := dict "name" $name "labels" (include "millwright.labels" $root | fromYaml) -}}
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
