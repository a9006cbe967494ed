import { nodeTemplateSpecSchema, type NodeTemplateSpec } from "../kinds/node-template.ts";
import type { FieldProblem } from "../problems/field-problem.ts";
import { withoutNulls } from "./without-nulls.ts";

/**
 * Reads a node template from unknown JSON, such as the one that was applied to a node last: in whatever order its fields are, null being absent, for Go
 * writes `"creationTimestamp":null`. `undefined` for what is none.
 */
export function readNodeTemplateSpec(raw: unknown): NodeTemplateSpec | undefined {
  const problems: FieldProblem[] = [];
  const result = nodeTemplateSpecSchema.safeParse(withoutNulls(raw, problems));
  return result.success && problems.length === 0 ? result.data : undefined;
}
