import { ConfigError, nearestName } from "@millwright/base";

const mandatoryMethods = ["createMachine", "deleteMachine", "getMachineStatus"] as const;
const optionalMethods = [
  "matchNode",
  "getVolumeIds",
  "listMachines",
  "initializeMachine",
  "findDrift",
  "getNodeTemplate",
  "checkClass",
] as const;

/** Checks a definition that may come from untyped code; returns the name of the driver for messages. */
export function checkDefinition(definition: unknown): string {
  if (typeof definition !== "object" || definition === null) {
    throw new ConfigError(`a driver must be an object created by defineDriver, not ${describe(definition)}`);
  }
  const part = (name: string): unknown => Reflect.get(definition, name);
  const name = part("name");
  if (typeof name !== "string" || !/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i.test(name)) {
    throw new ConfigError(
      `the name of a driver must be 1 to 63 letters, digits, dots or dashes that a MachineClass can name in "provider", not ${describe(name)}`,
    );
  }
  const subject = `driver "${name}"`;
  checkSchemas(subject, part);
  checkTemplates(subject, part("providerIdTemplates"));
  const nameLike = misspeltNames(definition);
  for (const method of mandatoryMethods) checkMandatoryMethod(subject, method, part(method), nameLike);
  for (const method of optionalMethods) checkOptionalMethod(subject, method, part(method), nameLike);
  return subject;
}

function checkSchemas(subject: string, part: (name: string) => unknown): void {
  if (!isStandardSchema(part("spec"))) {
    const other = isJsonSchema(part("spec")) ? ", not a JSON Schema" : "";
    throw new ConfigError(
      `${subject}: "spec" must be a Standard Schema (such as a zod object) that reads providerSpec${other}`,
    );
  }
  for (const schema of ["vmSpec", "secret"]) {
    if (part(schema) !== undefined && !isStandardSchema(part(schema)))
      throw new ConfigError(`${subject}: "${schema}" must be a Standard Schema or left out`);
  }
}

/** Finds a function of a definition that is no method of the contract, but has a name like one. */
type NameLike = (method: string) => string | undefined;

function checkMandatoryMethod(subject: string, method: string, value: unknown, nameLike: NameLike): void {
  if (typeof value === "function") return;
  if (value !== undefined) throw new ConfigError(`${subject}: "${method}" must be a function, not ${describe(value)}`);
  const like = nameLike(method);
  const hint = like === undefined ? "" : `; the driver has "${like}"`;
  throw new ConfigError(`${subject}: method "${method}" is missing${hint}`);
}

function checkOptionalMethod(subject: string, method: string, value: unknown, nameLike: NameLike): void {
  if (typeof value === "function") return;
  if (value !== undefined)
    throw new ConfigError(`${subject}: "${method}" must be a function or left out, not ${describe(value)}`);
  const like = nameLike(method);
  if (like !== undefined)
    throw new ConfigError(`${subject}: the contract has no method "${like}"; did you mean "${method}"?`);
}

/** Names of functions that a definition has, and its class declares. */
function functionNames(definition: object): readonly string[] {
  const names = new Set<string>();
  for (let at: object | null = definition; at !== null && at !== Object.prototype;) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === "function") names.add(name);
    const next: unknown = Object.getPrototypeOf(at);
    at = typeof next === "object" ? next : null;
  }
  return [...names];
}

function misspeltNames(definition: object): NameLike {
  const methods: readonly string[] = [...mandatoryMethods, ...optionalMethods];
  const unknown = functionNames(definition).filter((name) => !methods.includes(name));
  return (method) => unknown.find((name) => nearestName(name, methods) === method);
}

/** Whether a value looks like a JSON Schema, which other systems ask for in this place. */
const isJsonSchema = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ("properties" in value || "$schema" in value);

function checkTemplates(subject: string, templates: unknown): void {
  if (templates === undefined) return;
  if (!Array.isArray(templates) || !templates.every((each) => typeof each === "string"))
    throw new ConfigError(`${subject}: "providerIdTemplates" must be a list of texts or left out`);
}

function isStandardSchema(value: unknown): boolean {
  // Some libraries make schemas that are callable.
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const props: unknown = Reflect.get(value, "~standard");
  return (
    typeof props === "object" &&
    props !== null &&
    Reflect.get(props, "version") === 1 &&
    typeof Reflect.get(props, "validate") === "function"
  );
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : value === null ? "null" : typeof value;
}
