import {
  type FieldProblem,
  type MachineKind,
  type ObjectMeta,
  type ReadResult,
  validateObjectMeta,
} from "@millwright/core/machine-api";
import { unknownFields } from "./unknown-fields.ts";

/** Why the API server would reject a manifest of a kind: fields that the kind does not have, and what its reader found. */
export function rejectionsOf(
  kind: MachineKind,
  manifest: object,
  result: ReadResult<{ readonly metadata: ObjectMeta }>,
): readonly FieldProblem[] {
  return [
    ...unknownFields(kind, manifest),
    ...(result.ok ? validateObjectMeta(result.value.metadata) : result.problems),
  ];
}
