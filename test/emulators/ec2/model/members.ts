import type { NormalizedSchema } from "@smithy/core/schema";
import { enumOf } from "./enums.ts";
import type { OperationModel } from "./operations.ts";

/** A member of a structure. */
export interface Member {
  /** Name of its parameter in a request. */
  readonly parameter: string;
  /** Name of its element in a response. */
  readonly element: string;
  readonly schema: NormalizedSchema;
  readonly isRequired: boolean;
  /** The values of it or its items; undefined without an enum. */
  readonly values: ReadonlySet<string> | undefined;
}

type Protocol = OperationModel["protocol"];

const known = {
  ec2Query: new WeakMap<object, readonly Member[]>(),
  awsQuery: new WeakMap<object, readonly Member[]>(),
};

/** The members of a structure, in their order. */
export function membersOf(structure: NormalizedSchema, protocol: Protocol): readonly Member[] {
  const schema: unknown = structure.getSchema();
  if (typeof schema !== "object" || schema === null) return [];
  const found = known[protocol].get(schema) ?? readMembers(structure, protocol);
  known[protocol].set(schema, found);
  return found;
}

function readMembers(structure: NormalizedSchema, protocol: Protocol): readonly Member[] {
  const schema: unknown = structure.getSchema();
  // Required ones come first, and their number last.
  const required: unknown = Array.isArray(schema) ? schema[6] : 0;
  return [...structure.structIterator()].map(([name, member], index) => ({
    parameter: parameterName(name, member, protocol),
    element: member.getMemberTraits().xmlName ?? name,
    schema: member,
    isRequired: typeof required === "number" && index < required,
    values: protocol === "ec2Query" ? enumOf(structure.getName() ?? "", name) : undefined,
  }));
}

function parameterName(name: string, member: NormalizedSchema, protocol: Protocol): string {
  const { ec2QueryName, xmlName = name } = member.getMergedTraits();
  if (protocol === "awsQuery") return xmlName;
  return typeof ec2QueryName === "string" ? ec2QueryName : xmlName.charAt(0).toUpperCase() + xmlName.slice(1);
}
