import { ConfigError } from "@millwright/base";

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
  if (!isStandardSchema(part("spec"))) {
    throw new ConfigError(
      `${subject}: "spec" must be a Standard Schema (such as a zod object) that reads providerSpec`,
    );
  }
  for (const schema of ["vmSpec", "secret"]) {
    if (part(schema) !== undefined && !isStandardSchema(part(schema)))
      throw new ConfigError(`${subject}: "${schema}" must be a Standard Schema or left out`);
  }
  checkTemplates(subject, part("providerIdTemplates"));
  for (const method of mandatoryMethods) {
    if (typeof part(method) !== "function") throw new ConfigError(`${subject}: method "${method}" is missing`);
  }
  for (const method of optionalMethods) {
    if (part(method) !== undefined && typeof part(method) !== "function") {
      throw new ConfigError(`${subject}: "${method}" must be a function or left out, not ${describe(part(method))}`);
    }
  }
  return subject;
}

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
