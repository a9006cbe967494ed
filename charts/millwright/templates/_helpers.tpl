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

{{/* Not empty if the page is served at an address that others reach. */}}
{{- define "millwright.dashboardIsShared" -}}
{{- if and .Values.dashboard.enabled (not (or (hasPrefix "127." .Values.dashboard.address) (eq "[::1]" .Values.dashboard.address))) -}}
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
