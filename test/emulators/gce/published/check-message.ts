import { isRecord } from "@millwright/base";
import type { ApiField, ApiMessage } from "./api-model.ts";
import { formatOf, type FormatContext, keyProblem } from "./formats.ts";

/** Reports a difference at a path. */
export type Report = (path: string, difference: string) => void;

/** The context of a comparison. */
export interface MessageContext extends FormatContext {
  readonly report: Report;
}

const bounds: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

/** Compares a value with a message, and everything in it. */
export function checkMessage(message: ApiMessage, value: unknown, path: string, context: MessageContext): void {
  const { report } = context;
  if (!isRecord(value)) return report(path, `must be an object of type ${message.name}`);
  for (const [name, content] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const field = message.fields.get(name);
    if (field === undefined) report(at, `is not a field of ${message.name}`);
    else checkField(message, name, field, content, at, context);
  }
  for (const [name, field] of message.fields) {
    if (field.isRequired && !Object.hasOwn(value, name)) report(path === "" ? name : `${path}.${name}`, "is required");
  }
}

function checkField(
  message: ApiMessage,
  name: string,
  field: ApiField,
  value: unknown,
  path: string,
  context: MessageContext,
): void {
  const one = (content: unknown, at: string): void => checkOne(message, name, field, content, at, context);
  if (field.isMap) {
    if (!isRecord(value)) return context.report(path, "must be an object, which is a map");
    for (const [key, content] of Object.entries(value)) {
      const problem = keyProblem(name, key);
      if (problem !== undefined) context.report(`${path}.${key}`, problem);
      one(content, `${path}.${key}`);
    }
  } else if (field.isRepeated) {
    if (!Array.isArray(value)) return context.report(path, "must be a list");
    for (const [index, content] of value.entries()) one(content, `${path}[${index}]`);
  } else {
    one(value, path);
  }
}

function checkOne(
  message: ApiMessage,
  name: string,
  field: ApiField,
  value: unknown,
  path: string,
  context: MessageContext,
): void {
  const { report, isRequest } = context;
  const bound = bounds[field.type];
  if (bound !== undefined) {
    const isText = typeof value === "string" && /^-?\d+$/.test(value);
    const isNumber = typeof value === "number" && Number.isSafeInteger(value);
    // Google writes 64-bit numbers as texts, and reads numbers, too.
    const isLong = field.type.endsWith("64");
    if (!(isLong ? isText || (isRequest && isNumber) : isNumber)) {
      return report(path, `must be ${isLong ? "a text of digits" : "a number"} (${field.type})`);
    }
    const number = BigInt(isText || isNumber ? value : 0);
    if (number < bound[0] || number > bound[1]) report(path, `is out of the range of ${field.type}`);
  } else if (field.type === "bool") {
    if (typeof value !== "boolean") report(path, "must be true or false");
  } else if (field.type === "float" || field.type === "double") {
    if (typeof value !== "number") report(path, "must be a number");
  } else if (field.values !== undefined) {
    if (typeof value !== "string" || !field.values.has(value)) {
      report(path, `must be one of ${[...field.values].join(", ")}, not ${JSON.stringify(value)}`);
    }
  } else if (field.type === "string") {
    if (typeof value !== "string") return report(path, "must be a text");
    const problem = formatOf(message.name, name, context)?.(value);
    if (problem !== undefined) report(path, problem);
  } else {
    const type = message.typeOf(field);
    if (type === undefined) report(path, `has the type ${field.type}, which the model does not describe`);
    else checkMessage(type, value, path, context);
  }
}
