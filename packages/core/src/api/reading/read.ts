import type * as z from "zod";
import { isRecord } from "@millwright/base";
import { machineClassSchema, type MachineClass } from "../kinds/machine-class.ts";
import { machineDeploymentSchema, type MachineDeployment } from "../kinds/machine-deployment.ts";
import type { MachineKind } from "../kinds/machine-kinds.ts";
import { machineSetSchema, type MachineSet } from "../kinds/machine-set.ts";
import { machineSchema, type Machine } from "../kinds/machine.ts";
import { machineApiVersion } from "../kinds/resource-type.ts";
import { type FieldProblem, quoted } from "../problems/field-problem.ts";
import { problemsOf } from "../problems/schema-problems.ts";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { fillParts } from "./fill-parts.ts";
import { withoutNulls, type CleanOptions } from "./without-nulls.ts";

/** What reading an object gave: the object, or every problem of its shape. */
export type ReadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** More problems than a person reads at once. */
const maxProblems = 50;

/** Objects that a process reads before it compiles the schemas. To compile costs as much as about two hundred reads save, and a command reads a few. */
const readsBeforeCompiling = 200;

let reads = 0;

/**
 * Reads a Machine from unknown JSON: checks the types of all fields that the CustomResourceDefinition has, treats null as
 * absent, and fills in `spec` when it is missing. Unknown fields stay. The value is the given object itself when nothing had
 * to change, so reading a cached object once per version costs a walk over it and no memory. Never throws. Whether the
 * machine is valid is checked by validateMachine.
 */
export function readMachine(raw: unknown): ReadResult<Machine> {
  return read("Machine", machineSchema, raw);
}

/** Reads a MachineSet from unknown JSON, as {@link readMachine} does. Fills in `spec`, `spec.template` and its `spec`. */
export function readMachineSet(raw: unknown): ReadResult<MachineSet> {
  return read("MachineSet", machineSetSchema, raw);
}

/** Reads a MachineDeployment from unknown JSON, as {@link readMachine} does. `spec.template` is required. */
export function readMachineDeployment(raw: unknown): ReadResult<MachineDeployment> {
  return read("MachineDeployment", machineDeploymentSchema, raw);
}

/** Reads a MachineClass from unknown JSON, as {@link readMachine} does. `providerSpec` keeps its nulls: it is the driver's. */
export function readMachineClass(raw: unknown): ReadResult<MachineClass> {
  return read("MachineClass", machineClassSchema, raw, { keepNullsIn: ["providerSpec"] });
}

function read<Schema extends z.ZodObject>(
  kind: MachineKind,
  schema: Schema,
  raw: unknown,
  options?: CleanOptions,
): ReadResult<DeepReadonly<z.infer<Schema>>> {
  const problems: FieldProblem[] = [];
  const value = fillParts(schema, withoutNulls(raw, problems, options));
  if (problems.length === 0) problems.push(...typeMetaProblems(kind, value));
  if (problems.length === 0 && conforms(schema, value, problems)) return { ok: true, value };
  return { ok: false, problems: problems.slice(0, maxProblems) };
}

/** For a wrong kind only this problem is reported: those of its fields would confuse. */
function typeMetaProblems(kind: MachineKind, value: unknown): FieldProblem[] {
  if (!isRecord(value)) return [{ path: "", message: `must be an object of kind ${kind}`, kind: "invalid" }];
  const expected = { apiVersion: machineApiVersion, kind };
  return Object.entries(expected).flatMap(([path, wanted]) => {
    const found = Object.hasOwn(value, path) ? value[path] : wanted;
    if (found === wanted) return [];
    const written = typeof found === "string" ? quoted(found) : `a ${typeof found}`;
    return [{ path, message: `must be ${wanted}, is ${written}`, kind: "invalid" as const }];
  });
}

function conforms<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
  problems: FieldProblem[],
): value is DeepReadonly<z.infer<Schema>> {
  const result = schema.safeParse(value, { jitless: reads < readsBeforeCompiling });
  if (reads < readsBeforeCompiling) reads += 1;
  if (!result.success) problems.push(...problemsOf(result.error.issues, value));
  return result.success;
}
