import { nearestName, redactSecrets, type Secret, type SecretData } from "@millwright/base";
import { type FieldProblem, joinPath } from "../api/problems/field-problem.ts";
import { userDataKey } from "../wire/secrets.ts";
import type { Driver } from "./driver.ts";
import type { StandardSchemaIssue, StandardSchemaV1 } from "./standard-schema.ts";

/** What reading a provider spec gave. */
export type ReadProviderSpecResult<Spec> =
  | { readonly ok: true; readonly spec: Spec }
  | { readonly ok: false; readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

/** What checking a secret gave. */
export type CheckDriverSecretResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

/** More problems than anyone reads at once; they end up in a status. */
const maxProblems = 20;
const maxMessageLength = 500;
/** Deeper than any spec is meant to be, and shallow enough for schemas that recurse. */
const maxDepth = 64;

/**
 * Reads `providerSpec` of a class with the driver's schema: the typed spec with its defaults, or every problem with its path. Makes
 * no calls to the cloud and never throws: a schema that throws is a problem too. Specs that would reach a prototype (`__proto__`), are
 * nested more than 64 levels deep, or have integers that lost digits are rejected before the schema sees them.
 */
export function readProviderSpec<Spec>(
  driver: Pick<Driver<Spec>, "name" | "spec">,
  machineClass: { readonly providerSpec?: unknown },
): Promise<ReadProviderSpecResult<Spec>> {
  return readSpec(driver, machineClass, isRounded);
}

async function readSpec<Spec>(
  driver: Pick<Driver<Spec>, "name" | "spec">,
  { providerSpec }: { readonly providerSpec?: unknown },
  isForbidden: (value: unknown) => boolean,
): Promise<ReadProviderSpecResult<Spec>> {
  if (providerSpec === undefined || providerSpec === null) {
    return invalid([{ path: "providerSpec", message: `is required by driver "${driver.name}"`, kind: "required" }]);
  }
  const forbidden = findForbiddenField(providerSpec, isForbidden);
  if (forbidden !== undefined) return invalid([forbidden]);
  const result = await validate(driver.spec, providerSpec, "providerSpec");
  return result.ok ? { ok: true, spec: result.value } : result;
}

/**
 * Reads `providerSpec` for a call that finds or deletes an existing VM: a class that is changed, or was written for another driver, must not keep a VM from being deleted. A spec that
 * `spec` rejects is read by `vmSpec`, or without the fields that `spec` does not know. Fields that it knows are never left out: a VM that is looked for in the wrong place
 * would count as deleted. An integer that lost digits is read as the creation of the VM read it.
 */
export async function readSpecOfVm<Spec>(
  driver: Pick<Driver<Spec>, "name" | "spec" | "vmSpec">,
  machineClass: { readonly providerSpec?: unknown },
): Promise<ReadProviderSpecResult<Spec>> {
  const strict = await readSpec(driver, machineClass, isNone);
  const { providerSpec } = machineClass;
  if (strict.ok || providerSpec === undefined || providerSpec === null) return strict;
  if (findForbiddenField(providerSpec, isNone) !== undefined) return strict;
  if (driver.vmSpec !== undefined) {
    const lenient = await validate(driver.vmSpec, providerSpec, "providerSpec");
    return lenient.ok ? { ok: true, spec: lenient.value } : strict;
  }
  const known = await withoutUnknownFields(driver.spec, providerSpec);
  if (known === undefined) return strict;
  const reread = await validate(driver.spec, known, "providerSpec");
  return reread.ok ? { ok: true, spec: reread.value } : strict;
}

/** A copy of a spec without the fields that the schema reports as unknown; `undefined` when it reports none. */
async function withoutUnknownFields(schema: StandardSchemaV1, spec: unknown): Promise<unknown> {
  try {
    const { issues = [] } = await schema["~standard"].validate(spec);
    const unknown = issues.flatMap(unknownFieldsOf);
    if (unknown.length === 0) return undefined;
    const copy: unknown = structuredClone(spec);
    for (const path of unknown) removeField(copy, path);
    return copy;
  } catch {
    return undefined;
  }
}

/** Paths of the fields that an issue reports as unknown: Zod names them in `keys`, Valibot expects `never` at the path. */
function unknownFieldsOf(issue: StandardSchemaIssue): readonly (readonly PropertyKey[])[] {
  const path = (issue.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment));
  const keys: unknown = Reflect.get(issue, "keys");
  if (Array.isArray(keys)) return keys.filter((key) => typeof key === "string").map((key) => [...path, key]);
  return Reflect.get(issue, "expected") === "never" && path.length > 0 ? [path] : [];
}

function removeField(spec: unknown, path: readonly PropertyKey[]): void {
  const [key, ...rest] = path;
  if (typeof spec !== "object" || spec === null || key === undefined || !Object.hasOwn(spec, key)) return;
  if (rest.length === 0) Reflect.deleteProperty(spec, key);
  else removeField(Reflect.get(spec, key), rest);
}

/** A value that no one has: a message about it has nothing of a Secret. */
const decoy = "millwright-decoy";

/**
 * Checks the secret of a class with the driver's schema, where it has one. The schema gets an object of plain strings; wherever a message
 * repeats a value, the value is taken out, unless the message is the same for any value: an example in it stays. Never throws.
 */
export async function checkDriverSecret(
  driver: Pick<Driver, "name" | "secret">,
  secret: SecretData,
): Promise<CheckDriverSecretResult> {
  const schema = driver.secret;
  if (schema === undefined) return { ok: true };
  const keys = Object.keys(secret);
  const check = (valueOf: (value: Secret) => string) =>
    validate(schema, Object.fromEntries(Object.entries(secret).map(([key, value]) => [key, valueOf(value)])), "secret");
  const result = await check((value) => value.reveal());
  if (result.ok) return { ok: true };
  const textsOf = (problems: readonly FieldProblem[]) => problems.map(({ path, message }) => `${path} ${message}`);
  const isRedacted = result.problems.some(({ message }) => redactSecrets(message, secret) !== message);
  const ofDecoys = isRedacted ? await check(() => decoy) : undefined;
  const fixed = new Set(ofDecoys?.ok === false ? textsOf(ofDecoys.problems) : []);
  const [first, ...rest] = result.problems.map((problem): FieldProblem => {
    const isFixed = fixed.has(`${problem.path} ${problem.message}`);
    const message = redactSecrets(problem.message, isFixed ? {} : secret);
    return { ...problem, message: `${message}${misspelt(problem.path, keys)}` };
  });
  return first === undefined ? { ok: true } : { ok: false, problems: [first, ...rest] };
}

/** The key that was probably written in place of a missing one, for the end of a message. */
function misspelt(path: string, keys: readonly string[]): string {
  const [, missing] = /^secret\.([^.[\]]+)$/.exec(path) ?? [];
  if (missing === undefined || keys.includes(missing)) return "";
  const near = nearestName(missing, keys);
  return near === undefined ? "" : `; the Secret has key "${near}"`;
}

/**
 * The same for a call that creates no VM, such as a deletion or a list: it needs no user data, so what is wrong with that key does not stop it.
 */
export async function checkSecretWithoutUserData(
  driver: Pick<Driver, "name" | "secret">,
  secret: SecretData,
): Promise<CheckDriverSecretResult> {
  const checked = await checkDriverSecret(driver, secret);
  if (checked.ok) return checked;
  const userData = joinPath("secret", userDataKey);
  const [first, ...rest] = checked.problems.filter(({ path }) => path !== userData);
  return first === undefined ? { ok: true } : { ok: false, problems: [first, ...rest] };
}

async function validate<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
  root: string,
): Promise<
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly problems: readonly [FieldProblem, ...FieldProblem[]] }
> {
  try {
    const result = await schema["~standard"].validate(value);
    if (result.issues === undefined) return { ok: true, value: result.value };
    return invalid(result.issues.slice(0, maxProblems).map((issue) => toProblem(issue, root)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return invalid([
      { path: root, message: `cannot be validated: the driver's schema failed: ${shorten(message)}`, kind: "invalid" },
    ]);
  }
}

function invalid(problems: readonly FieldProblem[]): {
  readonly ok: false;
  readonly problems: readonly [FieldProblem, ...FieldProblem[]];
} {
  const [first = { path: "providerSpec", message: "is not valid", kind: "invalid" }, ...rest] = problems;
  return { ok: false, problems: [first, ...rest] };
}

function toProblem(issue: StandardSchemaIssue, root: string): FieldProblem {
  const segments = (issue.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment));
  return { path: segments.reduce(joinPath, root), message: shorten(issue.message), kind: "invalid" };
}

function shorten(text: string): string {
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text;
}

/** Whether a number is no longer the one that the user wrote: JSON has integers of any size, and JavaScript rounds those beyond 2^53. */
const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

/** An existing VM was created with the rounded number. */
const isNone = (): boolean => false;

const roundedMessage = `must not be an integer beyond ${Number.MAX_SAFE_INTEGER}, which would be rounded; write it as a string, if the driver takes one`;

/**
 * The first field that is not passed to a schema. Uses its own stack, so that depth cannot overflow it.
 *
 * @param isForbidden whether a number is not passed either
 */
function findForbiddenField(spec: unknown, isForbidden: (value: unknown) => boolean): FieldProblem | undefined {
  const places: { readonly value: unknown; readonly path: string; readonly depth: number }[] = [
    { value: spec, path: "providerSpec", depth: 0 },
  ];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const { value, path, depth } = place;
    if (isForbidden(value)) return { path, message: roundedMessage, kind: "invalid" };
    if (typeof value !== "object" || value === null) continue;
    if (depth > maxDepth) return { path, message: `is nested more than ${maxDepth} levels deep`, kind: "invalid" };
    for (const [key, child] of Object.entries(value)) {
      const childPath = joinPath(path, Array.isArray(value) ? Number(key) : key);
      if (key === "__proto__") return { path: childPath, message: "is not allowed", kind: "forbidden" };
      places.push({ value: child, path: childPath, depth: depth + 1 });
    }
  }
  return undefined;
}
