import type { NormalizedSchema } from "@smithy/core/schema";
import { membersOf } from "./members.ts";
import type { OperationModel } from "./operations.ts";
import { valueProblem } from "./value-problem.ts";

/** Differences of the parameters of a request from the model: unknown or missing ones, values of another type. */
export function parameterProblems(model: OperationModel, body: string): readonly string[] {
  const form = new Map(new URLSearchParams(body));
  const unread = new Set(form.keys());
  const problems: string[] = [];
  const report = (path: string, problem: string): void => void problems.push(`parameter ${path} ${problem}`);
  const isEc2 = model.protocol === "ec2Query";

  const given = new Set([...form.keys()].flatMap(prefixesOf));

  const checkValue = (path: string, schema: NormalizedSchema, values: ReadonlySet<string> | undefined): void => {
    if (schema.isStructSchema()) checkStructure(`${path}.`, schema);
    else if (schema.isListSchema()) checkList(isEc2 ? path : `${path}.member`, schema, values);
    else {
      const text = form.get(path);
      unread.delete(path);
      const problem = text === undefined ? "must be a value" : valueProblem(schema, values, text);
      if (problem !== undefined) report(path, problem);
    }
  };

  const checkList = (path: string, schema: NormalizedSchema, values: ReadonlySet<string> | undefined): void => {
    for (let index = 1; given.has(`${path}.${index}`); index++) {
      checkValue(`${path}.${index}`, schema.getValueSchema(), values);
    }
  };

  const checkStructure = (prefix: string, schema: NormalizedSchema): void => {
    for (const member of membersOf(schema, model.protocol)) {
      const path = prefix + member.parameter;
      if (given.has(path)) checkValue(path, member.schema, member.values);
      else if (member.isRequired) report(path, "is required");
    }
  };

  unread.delete("Action");
  unread.delete("Version");
  if (form.get("Version") !== model.version) report("Version", `must be ${model.version}, is ${form.get("Version")}`);
  checkStructure("", model.input);
  for (const path of unread) report(path, "is not in the model");
  return problems;
}

/** A path and its parents: `A`, `A.1`, `A.1.B`. */
const prefixesOf = (path: string): readonly string[] =>
  path.split(".").map((_, index, parts) => parts.slice(0, index + 1).join("."));
