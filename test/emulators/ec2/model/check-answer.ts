import { parseXML } from "@aws-sdk/xml-builder";
import type { NormalizedSchema } from "@smithy/core/schema";
import { membersOf } from "./members.ts";
import type { OperationModel } from "./operations.ts";
import { valueProblem } from "./value-problem.ts";

/** Parsed XML: a text, elements by name, or several of one name. */
type Parsed = string | readonly Parsed[] | { readonly [element: string]: Parsed };
type Element = Readonly<Record<string, Parsed>>;

const isElement = (value: Parsed | undefined): value is Element =>
  typeof value === "object" && !Array.isArray(value) && value !== null;
/** An element without content is parsed as an empty text. */
const elementOf = (value: Parsed | undefined): Element => (isElement(value) ? value : {});
const itemsOf = (value: Parsed | undefined): readonly Parsed[] => {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
};

/** Differences of a response from the model: unknown or missing elements, values of another type; for an error, from the format of errors. */
export function answerProblems(model: OperationModel, status: number, body: string): readonly string[] {
  const document: Element = parseXML(body);
  const isEc2 = model.protocol === "ec2Query";
  if (status >= 400) return refusalProblems(document, isEc2);
  const [root = "", ...others] = Object.keys(document);
  const { xmlns: _namespace, requestId, ResponseMetadata, ...members } = elementOf(document[root]);
  const problems: string[] = [];
  const report = (path: string, problem: string): void => void problems.push(`answer ${path} ${problem}`);

  const checkValue = (
    path: string,
    schema: NormalizedSchema,
    values: ReadonlySet<string> | undefined,
    value: Parsed,
  ): void => {
    if (schema.isStructSchema()) {
      if (typeof value === "string" && value.trim() !== "") report(path, "must have elements, not a text");
      else checkStructure(path, schema, elementOf(value));
    } else if (schema.isListSchema()) checkList(path, schema, values, value);
    else if (typeof value !== "string") report(path, "must be one text");
    else {
      const problem = valueProblem(schema, values, value);
      if (problem !== undefined) report(path, problem);
    }
  };

  const checkList = (
    path: string,
    schema: NormalizedSchema,
    values: ReadonlySet<string> | undefined,
    value: Parsed,
  ): void => {
    const item = schema.getValueSchema();
    const { xmlName = "member" } = item.getMergedTraits();
    for (const name of Object.keys(elementOf(value)))
      if (name !== xmlName) report(`${path}.${name}`, "is not in the model");
    itemsOf(elementOf(value)[xmlName]).forEach((each, index) => checkValue(`${path}[${index}]`, item, values, each));
  };

  const checkStructure = (path: string, schema: NormalizedSchema, element: Element): void => {
    const unknown = new Set(Object.keys(element));
    for (const member of membersOf(schema, model.protocol)) {
      const at = (): string => (path === "" ? member.element : `${path}.${member.element}`);
      const value = element[member.element];
      unknown.delete(member.element);
      if (value !== undefined) checkValue(at(), member.schema, member.values, value);
      else if (member.isRequired) report(at(), "is required");
    }
    for (const name of unknown) report(path === "" ? name : `${path}.${name}`, "is not in the model");
  };

  if (root !== `${model.name}Response` || others.length > 0) report(root, `must be ${model.name}Response`);
  const result = `${model.name}Result`;
  if (isEc2) checkStructure("", model.output, members);
  else checkStructure(result, model.output, elementOf(members[result]));
  if ((isEc2 ? requestId : elementOf(ResponseMetadata)["RequestId"]) === undefined) report("RequestId", "is required");
  return problems;
}

function refusalProblems(document: Element, isEc2: boolean): readonly string[] {
  const [root, required] = isEc2
    ? ["Response", ["Errors.Error.Code", "Errors.Error.Message", "RequestID"]]
    : ["ErrorResponse", ["Error.Type", "Error.Code", "Error.Message", "RequestId"]];
  const at = (path: string): Parsed | undefined =>
    path.split(".").reduce<Parsed | undefined>((value, name) => elementOf(value)[name], document[root]);
  return required.filter((path) => typeof at(path) !== "string").map((path) => `refusal ${root}.${path} is required`);
}
