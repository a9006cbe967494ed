import type { Difference } from "./differences.ts";

/** A known difference between the servers. */
export interface KnownDifference {
  readonly id: string;
  /** What each server does. */
  readonly what: string;
  readonly why: string;
  /** It depends on timing and may be missing in a run. */
  readonly isFlaky?: true;
  /** Whether it explains a difference. */
  readonly covers: (subject: string, step: string, difference: Difference) => boolean;
}

/** Matches these checks, each named `subject / check`. */
const inChecks = (...names: readonly string[]): KnownDifference["covers"] => {
  const set = new Set(names);
  return (subject, step) => set.has(`${subject} / ${step}`);
};
/** The same for parts of the responses only. */
const inParts =
  (parts: RegExp, ...names: readonly string[]): KnownDifference["covers"] =>
  (subject, step, difference) =>
    parts.test(difference.path) && inChecks(...names)(subject, step, difference);
const subjectOf = (subject: string, ...steps: readonly string[]): readonly string[] =>
  steps.map((step) => `${subject} / ${step}`);

/** All differences, each with the checks where it occurs. A difference that does not occur in a run any more has to be removed. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    id: "table-descriptions",
    what: "kube-apiserver describes each column with Go's documentation; ours describes name and age only",
    why: "no client shows these texts",
    covers: inParts(
      /columnDefinitions\[\d+\]\.(description|type|format|priority)$/,
      "watches / tables",
      ...subjectOf(
        "tables",
        "config maps",
        "one config map",
        "with whole objects",
        "without objects",
        "a page",
        "nothing",
        "secrets",
        "pods",
        "one node",
        "one node without a status",
        "leases",
        "budgets",
        "namespace",
        "definitions",
        "claims",
        "volumes",
        "attachments",
        "storage classes",
        "events",
      ),
    ),
  },
  {
    id: "table-events",
    what: "rows of event tables contain kube-controller-manager's own messages and names for budgets; a table without rows has null rows in one place",
    why: "events of the two servers have different names and times",
    covers: inParts(/^body\.rows/, "tables / events", "tables / definitions"),
  },
  {
    id: "default-service-account",
    what: "ours gives each namespace its default service account; the kube-apiserver of this test runs without the controller that does",
    why: "pods of a cluster rely on that account",
    covers: inParts(/^body\.rows\[0\]$/, "tables / service accounts"),
  },
  {
    id: "asynchronous-garbage-collector",
    what: "kube-controller-manager's garbage collector removes a finalizer some time after the deletion; ours removes it at once",
    why: "the object is deleted on both; the versions in between depend on timing",
    isFlaky: true,
    covers: inParts(/^body\.metadata\.resourceVersion$/, "delete / remove the finalizer of f"),
  },
  {
    id: "table-v1beta1",
    what: "kube-apiserver still writes tables of meta.k8s.io/v1beta1; ours answers 406",
    why: "that version is deprecated since 2019; kubectl asks for v1 first",
    covers: inChecks("tables / the old version of tables"),
  },
  {
    id: "causes-repeated",
    what: "kube-apiserver lists a cause once for each check that finds it, up to four times on an update; ours lists it once",
    why: "an artifact of Go's validation that is of no use to clients",
    covers: inParts(
      /^body\.details\.causes\[\d+\]$/,
      ...subjectOf("update", "replace with a deletion time", "replace with bad labels"),
      ...subjectOf("patch", "merge: with another uid", "merge: a bad label", "strategic: delete a taint"),
      ...subjectOf("patch", "strategic: replace all taints", "strategic: unknown directive"),
      ...subjectOf("patch", "strategic: a condition of another node", "strategic: another node"),
      "patch / strategic: an item without its key",
      "delete / add a finalizer while it goes",
      "dry-run / patch to something bad",
    ),
  },
  {
    id: "warnings-of-rejected-patches",
    what: "kube-apiserver warns about unknown fields of a patch that it then rejects; ours only rejects it",
    why: "the error contains the cause",
    covers: inParts(
      /^warnings/,
      ...subjectOf(
        "patch",
        "strategic: delete a taint",
        "strategic: replace all taints",
        "strategic: unknown directive",
      ),
      "custom-resources / another version",
    ),
  },
  {
    id: "decoder-texts",
    what: "messages about a body, a label selector or a continue token that cannot be parsed are those of the parser",
    why: "the parsers differ; code and reason are the same",
    covers: inParts(
      /^body\.message$/,
      "list / a token that is none",
      ...subjectOf("selectors", "label selector comma only", "label selector trailing comma"),
      ...subjectOf("selectors", "label selector bad value", "label selector bad greater"),
      ...subjectOf("selectors", "label selector open parenthesis", "label selector in without values"),
      "selectors / label selector two equals",
      "patch / merge: not JSON",
      ...subjectOf("apply", "broken yaml", "a text"),
      "delete / body that is not JSON",
      ...subjectOf("wire", "an empty body", "no body", "half a body", "a list", "a text", "a number", "two objects"),
      ...subjectOf("wire", "PUT with an empty body", "PUT of a list"),
    ),
  },
  {
    id: "null-as-a-body",
    what: "kube-apiserver reads the body null as an empty object (422: it has no name); ours rejects it (400)",
    why: "no client sends it",
    covers: inChecks("wire / null"),
  },
  {
    id: "rule-that-does-not-parse",
    what: "messages about a rule that cannot be parsed are those of the CEL library",
    why: "the libraries differ; code and reason are the same",
    covers: inChecks("definitions / with a rule that does not parse"),
  },
  {
    id: "replicas-of-the-scale-subresource",
    what: "kube-apiserver also validates the replicas that a scale subresource exposes; ours leaves them to the schema",
    why: "the schema of each kind with replicas rejects the same values",
    covers: inChecks(
      ...subjectOf("custom-resources", "a spec of another type", "a number below its minimum"),
      ...subjectOf("custom-resources", "a fraction for an integer", "a text for an integer", "a number beyond int32"),
      ...subjectOf("custom-resources", "several faults", "scale below zero"),
      ...subjectOf("machines", "rule: a set with a negative size", "a set with a text for replicas"),
    ),
  },
  {
    id: "patched-into-invalid-object",
    what: "when a patch results in an object that cannot be decoded, kube-apiserver's message contains the whole object; ours does not",
    why: "the object may be a Secret, and messages end up in logs",
    covers: inParts(
      /^body\.(message|details\.causes\[0\]\.message)$/,
      ...subjectOf("patch", "merge: another kind", "merge: a wrong type"),
      "custom-resources / merge an unknown field, strict",
      "field-validation / patch, strict",
    ),
  },
  {
    id: "pod-update-texts",
    what: "kube-apiserver shows what changed in a pod as a difference of Go structs; ours names the fields",
    why: "ours has no Go structs; code, reason and field are the same",
    covers: inParts(/^body\.(message|details\.causes\[0\]\.message)$/, "update / change what may not change"),
  },
  {
    id: "strategic-directive-in-string-maps",
    what: "kube-apiserver reads $patch: replace in a map of labels as a replacement with nothing, and drops the other keys; ours keeps them",
    why: "the other keys are what the author wants",
    covers: inChecks(...subjectOf("patch", "strategic: replace a map", "merge: no finalizers")),
  },
  {
    id: "owner-of-the-enclosing-map",
    what: "the owner of a map whose fields another manager set first, when an apply or a removal changes no content",
    why: "content and conflicts are the same; the owner of an empty map decides nothing",
    covers: inParts(
      /^body\.metadata\.managedFields/,
      "apply / then apply with the same value",
      "garbage / the dependent stays",
      "machines / apply a deployment",
    ),
  },
  {
    id: "labels-through-the-status",
    what: "kube-apiserver records the author of a status patch as manager of its labels, though it does not write them",
    why: "an artifact: the labels do not exist",
    covers: inParts(
      /^body\.metadata\.managedFields\[\d\]\.fieldsV1\["f:metadata"\]$/,
      ...subjectOf("custom-resources", "labels through the status", "read the status", "after scaling"),
    ),
  },
  {
    id: "multiple-of-zero",
    what: "for a zero with multipleOf, kube-apiserver also reports that the factor must be positive",
    why: "an artifact of its validator: the factor is positive, and zero is a multiple of it",
    covers: inChecks("custom-resources / exclusive minimum"),
  },
  {
    id: "old-watch-paths",
    what: "kube-apiserver also serves watches below /watch",
    why: "deprecated since Kubernetes 1.11, and no client uses it",
    covers: inChecks("watches / the old way"),
  },
  {
    id: "token-requests",
    what: "kube-apiserver lists the token subresource of service accounts",
    why: "ours issues no tokens",
    covers: inChecks("discovery / aggregated core"),
  },
  {
    id: "wire-oddities",
    what: "methods that HTTP does not know, doubled slashes in paths and answers in YAML",
    why: "Node's HTTP parser rejects the first; none of our clients uses the others",
    covers: inChecks(...subjectOf("wire", "an unknown method", "a doubled slash", "yaml answered")),
  },
  {
    id: "finalizers-of-namespaces",
    what: "both ignore finalizers in an update of a namespace, but kube-apiserver records their manager, which results in a new version",
    why: "an artifact: the finalizers were not written",
    covers: inParts(
      /^body\.metadata\.(managedFields\[0\]\.fieldsV1\["f:spec"\]|resourceVersion)$/,
      ...subjectOf("namespaces", "change the finalizers", "delete", "delete again"),
    ),
  },
  {
    id: "reviews",
    what: "kube-apiserver records the author of a review in managedFields",
    why: "reviews are not stored, and no client reads it",
    covers: inChecks(...subjectOf("access", "may list pods", "may not delete pods", "the review of another user")),
  },
];
