import type { ObjectMeta } from "../kinds/object-meta.ts";
import { type FieldProblem, quoted } from "../problems/field-problem.ts";
import { nameProblem } from "../values/label-syntax.ts";
import { metadataProblems } from "./validate-fields.ts";

/**
 * Problems of name, labels, annotations and finalizers for which the API server rejects an object of any kind of the Machine API; empty for what it would
 * store. Objects that come from an API server have none: this is for manifests.
 */
export function validateObjectMeta(metadata: ObjectMeta): readonly FieldProblem[] {
  const problem = nameProblem(metadata.name);
  const message = `is ${quoted(metadata.name)}: ${problem}`;
  return [
    ...(problem === undefined ? [] : [{ path: "metadata.name", message, kind: "invalid" as const }]),
    ...metadataProblems(metadata, "metadata"),
  ];
}
