import type { Difference } from "./differences.ts";

/** A difference between the servers that is there for now or for good. */
export interface KnownDifference {
  readonly id: string;
  /** What each server does. */
  readonly what: string;
  readonly why: string;
  /** Whether a difference is of this kind. */
  readonly covers: (subject: string, step: string, difference: Difference) => boolean;
}

const isOneOf = (...names: readonly string[]) => {
  const set = new Set(names);
  return (subject: string, step: string): boolean => set.has(`${subject} / ${step}`);
};
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** All that may differ. Each has to be seen in a run: one that is not, is out of date. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    id: "crd-definition-checks",
    what: "kube-apiserver refuses definitions with schemas that are not structural, bad defaults, columns and scale paths; ours checks names, versions and roots only",
    why: "not done; a definition that only ours accepts fails on the first real cluster",
    covers: (subject) => subject === "definitions",
  },
  {
    id: "unknown-fields-of-built-in-kinds",
    what: "kube-apiserver drops unknown and duplicate fields of built-in kinds with a warning or refuses them; ours keeps them",
    why: "our schemas of built-in kinds are partial, so an unknown field may well be a good one",
    covers: (subject, step, { path, real }) =>
      subject === "field-validation" ||
      isOneOf(
        "apply / an unknown field",
        "apply / an unknown field, strict",
        "custom-resources / a duplicate key, strict",
      )(subject, step) ||
      (path.startsWith("warnings") && text(real).includes("$patch")) ||
      path.includes(".unknown") ||
      path.includes('["f:unknown"]'),
  },
  {
    id: "table-columns-of-built-in-kinds",
    what: "kube-apiserver describes each column out of Go's documentation; ours describes name and age only",
    why: "the texts are shown by nobody",
    covers: (_, __, { path }) => /columnDefinitions\[\d+\]\.(description|type|format|priority)$/.test(path),
  },
  {
    id: "causes-repeated",
    what: "kube-apiserver lists a cause once for each check that finds it, up to four times on an update; ours lists it once",
    why: "an accident of Go's validation that no client can want",
    covers: (_, __, { path, ours }) => /^body\.details\.causes\[\d+\]$/.test(path) && ours === undefined,
  },
  {
    id: "decoder-texts",
    what: "what is said of a body that does not parse is in the words of the parser",
    why: "the parsers are not the same; code and reason are",
    covers: (_, __, { path, ours }) =>
      path === "body.message" &&
      /is not valid (JSON|YAML)|must be an object|must be a JSON object|was not made by this server|cannot be kept exactly/.test(
        text(ours),
      ),
  },
  {
    id: "pod-updates",
    what: "kube-apiserver lets few fields of a pod change; ours lets all",
    why: "not done: simulated kubelets and schedulers write pods by patches",
    covers: isOneOf(
      "update / change what may not change",
      "patch / strategic: remove a container",
      "patch / merge: replaces the list of containers",
    ),
  },
  {
    id: "patched-into-nonsense",
    what: "a patch whose result does not decode is refused with 422 and the whole object in the message by kube-apiserver, with 400 as a body would be by ours",
    why: "the message of the original repeats the object, secrets included",
    covers: isOneOf(
      "patch / merge: another kind",
      "patch / merge: a wrong type",
      "custom-resources / merge an unknown field, strict",
    ),
  },
  {
    id: "strategic-directive-in-string-maps",
    what: "kube-apiserver takes $patch in a map of labels for an instruction to replace with nothing; ours keeps what stands beside it",
    why: "not done",
    covers: isOneOf("patch / strategic: replace a map", "patch / merge: no finalizers"),
  },
  {
    id: "apply-without-change-of-content",
    what: "an apply or removal that leaves the content as it was can get another version or another owner of an enclosing map",
    why: "not done",
    covers: isOneOf(
      "apply / force on another patch",
      "garbage / the dependent stays",
      "apply / dry run",
      "apply / the end of the config map",
      "apply / then apply with the same value",
      "delete / nobody waits for dependents of f",
      "subresources / replace the status",
      "machines / apply a deployment",
      "custom-resources / apply the status",
      "custom-resources / delete all",
    ),
  },
  {
    id: "typed-patches",
    what: "kube-apiserver checks what is applied against the schema first and answers 500; ours validates the result",
    why: "400 and 422 are what clients can act on",
    covers: isOneOf(
      "apply / two items with one key",
      "custom-resources / apply an unknown field",
      "custom-resources / apply an unknown field, strict",
      "custom-resources / apply a wrong type",
    ),
  },
  {
    id: "scale-accessor",
    what: "kube-apiserver checks the paths of the scale subresource besides the schema, and the schema in another order",
    why: "the fault is named once; that the status has an own prefix is an accident",
    covers: isOneOf(
      "custom-resources / a spec of another type",
      "custom-resources / a number below its minimum",
      "custom-resources / a fraction for an integer",
      "custom-resources / a text for an integer",
      "custom-resources / a number beyond int32",
      "custom-resources / exclusive minimum",
      "custom-resources / several faults",
      "custom-resources / a bad status",
      "custom-resources / scale below zero",
      "custom-resources / after scaling",
      "machines / a condition with a bad time",
      "machines / a set with a text for replicas",
      "machines / a deployment with a bad strategy",
    ),
  },
  {
    id: "custom-resource-metadata",
    what: "kube-apiserver prunes unknown metadata and lets the status endpoint of custom resources change labels",
    why: "not done",
    covers: isOneOf(
      "custom-resources / unknown metadata, strict",
      "custom-resources / unknown metadata",
      "custom-resources / another version",
      "custom-resources / a number as a label",
      "custom-resources / strategic patch",
      "custom-resources / labels through the status",
      "custom-resources / read the status",
    ),
  },
  {
    id: "watch-odds",
    what: "the paths below /watch, versions of watches that are no numbers or lie ahead",
    why: "the first is deprecated, for the others ours answers what a list answers",
    covers: isOneOf("watches / the old way", "watches / a bad version", "watches / a version far ahead"),
  },
  {
    id: "table-odds",
    what: "columns of kinds that machine management hardly shows, rows without objects",
    why: "not done",
    covers: isOneOf(
      "tables / without objects",
      "tables / with an unknown kind of objects",
      "tables / service accounts",
      "tables / definitions",
      "tables / events",
      "tables / the old version of tables",
    ),
  },
  {
    id: "reviews",
    what: "kube-apiserver notes in managedFields who asked for a review, and writes an aggregated role without rules as null",
    why: "reviews are not stored, and no client reads either",
    covers: isOneOf(
      "access / may list pods",
      "access / may not delete pods",
      "access / the review of somebody else",
      "access / an aggregated cluster role",
    ),
  },
  {
    id: "discovery-odds",
    what: "storage version hashes and the token subresource of service accounts",
    why: "ours stores one version of each kind and issues no tokens",
    covers: isOneOf(
      "discovery / core resources",
      "discovery / policy resources",
      "discovery / coordination resources",
      "discovery / extensions resources",
      "discovery / storage resources",
      "discovery / events resources",
      "discovery / aggregated core",
    ),
  },
  {
    id: "wire-odds",
    what: "methods that HTTP does not know, doubled slashes, YAML answers, the size of a config map, the names of Go structs in messages",
    why: "no client of ours sends or asks for these",
    covers: isOneOf(
      "wire / an unknown method",
      "wire / null",
      "wire / yaml answered",
      "wire / a body that is too large",
      "wire / a float where an integer belongs",
      "wire / a text where an integer belongs",
      "wire / an object where a list belongs",
      "wire / a text where a boolean belongs",
      "wire / a doubled slash",
    ),
  },
  {
    id: "namespace-odds",
    what: "words about names, the phase and the marks of a namespace that is deleted",
    why: "not done",
    covers: isOneOf(
      "namespaces / a name with a dot",
      "namespaces / a name that is too long",
      "namespaces / change the finalizers",
      "namespaces / change the phase",
      "namespaces / delete",
      "namespaces / delete again",
      "namespaces / forbidden to delete",
    ),
  },
];
