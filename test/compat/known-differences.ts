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
    id: "crd-served-at-once",
    what: "kube-apiserver accepts the names of a CRD in a controller, a moment later, and marks one that is deleted; ours says Established in its first answer and holds it by a finalizer from the start",
    why: "resources are served from the moment their definition is stored, which is what clients wait for",
    covers: (subject, step, { path }) =>
      ["custom-resources", "machines", "definitions"].includes(subject) &&
      /^(the definition|it is established|define |\w+ are established|drop |delete the definition|a small one|a cluster-wide one)/.test(
        step,
      ) &&
      /^body\.(status|metadata\.(finalizers|managedFields|generation|resourceVersion|deletionGracePeriodSeconds))/.test(
        path,
      ),
  },
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
];
