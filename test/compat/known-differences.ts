import type { Difference } from "./differences.ts";

/** A difference between the servers that is there for now or for good. */
export interface KnownDifference {
  readonly id: string;
  /** What each server does. */
  readonly what: string;
  readonly why: string;
  /** A matter of timing: it may be missing from a run. */
  readonly comesAndGoes?: true;
  /** Whether a difference is of this kind. */
  readonly covers: (subject: string, step: string, difference: Difference) => boolean;
}

/** The checks where a difference is seen, as `subject / check`; every one is named. */
const inChecks = (...names: readonly string[]): KnownDifference["covers"] => {
  const set = new Set(names);
  return (subject, step) => set.has(`${subject} / ${step}`);
};
/** The same for some parts of the answers only. */
const inParts =
  (parts: RegExp, ...names: readonly string[]): KnownDifference["covers"] =>
  (subject, step, difference) =>
    parts.test(difference.path) && inChecks(...names)(subject, step, difference);
const subjectOf = (subject: string, ...steps: readonly string[]): readonly string[] =>
  steps.map((step) => `${subject} / ${step}`);

/** All that may differ, each with the checks where it does. Each has to be seen in a run: one that is not, is out of date. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    id: "table-descriptions",
    what: "kube-apiserver describes each column out of Go's documentation; ours describes name and age only",
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
    what: "the rows of tables of events hold what kube-controller-manager says about budgets in its own words and names; a table without rows has null for them at one place",
    why: "the events of the two have other names and times by nature",
    covers: inParts(/^body\.rows/, "tables / events", "tables / definitions"),
  },
  {
    id: "default-service-account",
    what: "ours gives each namespace its default service account; the kube-apiserver of this test runs without the controller that does",
    why: "pods of a cluster rely on that account",
    covers: inParts(/^body\.rows\[0\]$/, "tables / service accounts"),
  },
  {
    id: "collector-in-its-own-time",
    what: "kube-controller-manager's garbage collector takes a finalizer away some time after a deletion was asked for; ours does it at once",
    why: "the object is gone in both; which version a client meets in between is a matter of timing",
    comesAndGoes: true,
    covers: inParts(/^body\.metadata\.resourceVersion$/, "delete / nobody waits for dependents of f"),
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
    why: "an accident of Go's validation that no client can want",
    covers: inParts(
      /^body\.details\.causes\[\d+\]$/,
      ...subjectOf("update", "replace with a deletion time", "replace with bad labels"),
      ...subjectOf("patch", "merge: with another uid", "merge: a bad label", "strategic: delete a taint"),
      ...subjectOf("patch", "strategic: replace all taints", "strategic: unknown directive"),
      "patch / strategic: an item without its key",
      "delete / add a finalizer while it goes",
      "dry-run / patch to something bad",
    ),
  },
  {
    id: "warnings-of-refusals",
    what: "kube-apiserver warns of unknown fields of a patch that it then refuses; ours only refuses",
    why: "the refusal says what is wrong",
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
    what: "what is said of a body that does not parse, or of a continue token that is none, is in the words of the parser",
    why: "the parsers are not the same; code and reason are",
    covers: inParts(
      /^body\.message$/,
      "list / a token that is none",
      "patch / merge: not JSON",
      ...subjectOf("apply", "broken yaml", "a text"),
      "delete / body that is not JSON",
      ...subjectOf("wire", "an empty body", "no body", "half a body", "a list", "a text", "a number", "two objects"),
      ...subjectOf("wire", "PUT with an empty body", "PUT of a list"),
    ),
  },
  {
    id: "null-as-a-body",
    what: "kube-apiserver takes the body null for an empty object (422: it has no name); ours says that it is no object (400)",
    why: "nobody sends it",
    covers: inChecks("wire / null"),
  },
  {
    id: "rule-that-does-not-parse",
    what: "what is said of a rule that does not parse is in the words of the CEL library",
    why: "the libraries are not the same; code, reason and field are",
    covers: inChecks("definitions / with a rule that does not parse"),
  },
  {
    id: "patched-into-nonsense",
    what: "where a patch leads to an object that cannot be read, kube-apiserver repeats the whole object in its message; ours leaves it out",
    why: "the object may be a secret, and messages end up in logs",
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
    why: "Go's structs are not there; code, reason and field are the same",
    covers: inParts(/^body\.(message|details\.causes\[0\]\.message)$/, "update / change what may not change"),
  },
  {
    id: "strategic-directive-in-string-maps",
    what: "kube-apiserver takes $patch: replace in a map of labels for an instruction to replace it with nothing, and drops what stands beside it; ours keeps that",
    why: "what stands beside it is what the author wants to have",
    covers: inChecks(...subjectOf("patch", "strategic: replace a map", "merge: no finalizers")),
  },
  {
    id: "owner-of-the-enclosing-map",
    what: "who owns a map around fields that somebody else filled first, where an apply or a removal changes no content",
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
    what: "kube-apiserver notes the labels in a patch of the status as written by its author, though it does not write them",
    why: "an accident: what is noted is not there",
    covers: inParts(
      /^body\.metadata\.managedFields\[\d\]\.fieldsV1\["f:metadata"\]$/,
      ...subjectOf("custom-resources", "labels through the status", "read the status", "after scaling"),
    ),
  },
  {
    id: "multiple-of-zero",
    what: "of a zero where multipleOf is declared, kube-apiserver says besides that the declared factor must be positive",
    why: "an accident of its validator: the factor is positive, and zero is a multiple of it",
    covers: inChecks("custom-resources / exclusive minimum"),
  },
  {
    id: "old-watch-paths",
    what: "kube-apiserver serves watches below /watch as well",
    why: "deprecated since Kubernetes 1.11, and no client uses it",
    covers: inChecks("watches / the old way"),
  },
  {
    id: "watch-of-the-future",
    what: "a watch from a version that lies far ahead waits in kube-apiserver; ours answers 504 as for a list",
    why: "such a version is from before a loss of data, and an error lets the client list again at once",
    covers: inChecks("watches / a version far ahead"),
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
    why: "Node's HTTP parser refuses the first; no client of ours sends or asks for the others",
    covers: inChecks(...subjectOf("wire", "an unknown method", "a doubled slash", "yaml answered")),
  },
  {
    id: "finalizers-of-namespaces",
    what: "neither lets an ordinary update change the finalizers of a namespace, but kube-apiserver notes its author as their owner, which makes another version",
    why: "an accident: what is noted was not written",
    covers: inParts(
      /^body\.metadata\.(managedFields\[0\]\.fieldsV1\["f:spec"\]|resourceVersion)$/,
      ...subjectOf("namespaces", "change the finalizers", "delete", "delete again"),
    ),
  },
  {
    id: "reviews",
    what: "kube-apiserver notes in managedFields who asked for a review, and writes an aggregated role without rules as null",
    why: "reviews are not stored, and no client reads either",
    covers: inChecks(
      ...subjectOf("access", "may list pods", "may not delete pods", "the review of somebody else"),
      "access / an aggregated cluster role",
    ),
  },
];
