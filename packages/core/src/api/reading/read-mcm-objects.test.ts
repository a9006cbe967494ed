import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readMachine, readMachineClass, readMachineDeployment, readMachineSet } from "./read.ts";

const readers = {
  Machine: readMachine,
  MachineClass: readMachineClass,
  MachineDeployment: readMachineDeployment,
  MachineSet: readMachineSet,
};

/** A value for each type in MCM's definitions. */
const samples: Readonly<Record<string, unknown>> = {
  "": "16Gi",
  boolean: true,
  "int-or-string": "25%",
  integer: 3,
  string: "text",
  "date-time": "2026-01-31T12:00:00Z",
};

it.each(Object.entries(readers))("reads a %s with every field of MCM's definition as it is", (kind, read) => {
  const object = fullObject(kind);
  expect(read(object)).toEqual({ ok: true, value: object });
  expect(JSON.stringify(object).length).toBeGreaterThan(300);
});

it.each(Object.entries(readers))("refuses a %s with a wrong type in any field of MCM's definition", (kind, read) => {
  for (const { path, type } of fieldsOf(kind).filter(({ path }) => path !== "metadata" && !path.includes("{*}"))) {
    const object = fullObject(kind);
    setAt(object, path, type === "string" ? 7 : "text");
    const result = read(object);
    const accepted = type === "int-or-string";
    expect({ path, ok: result.ok }).toEqual({ path, ok: accepted });
  }
});

function fieldsOf(kind: string): { path: string; type: string; format: string }[] {
  return readFileSync(new URL("../kinds/testdata/mcm-crd-fields.tsv", import.meta.url), "utf8")
    .split("\n")
    .map((line) => line.split("\t"))
    .filter(([of, path]) => of === kind && path !== undefined && !path.startsWith("("))
    .map(([, path = "", type = "", , remarks = ""]) => ({
      path,
      type,
      format: /format=(\S+)/.exec(remarks)?.[1] ?? "",
    }));
}

/** An object of a kind with a value in every leaf of MCM's definition. */
function fullObject(kind: string): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { path, type, format } of fieldsOf(kind)) {
    if (type !== "object" && type !== "array") setAt(object, path, samples[format === "date-time" ? format : type]);
  }
  setAt(object, "apiVersion", "machine.sapcloud.io/v1alpha1");
  setAt(object, "kind", kind);
  setAt(object, "metadata", { name: "object", namespace: "shoot", uid: "0" });
  if (kind === "MachineClass") setAt(object, "providerSpec", { any: [{ thing: null }] });
  return object;
}

/** Sets a value at a path in the notation of the reference file: `a.b[].c`, `a.b{*}`. */
function setAt(object: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.replaceAll("[]", ".0").replaceAll("{*}", ".key").split(".");
  let at: Record<string, unknown> | unknown[] = object;
  for (const [index, key] of keys.entries()) {
    const last = index === keys.length - 1;
    const slot: Record<string, unknown> = Array.isArray(at) ? Object(at) : at;
    const known = slot[key];
    const fresh: Record<string, unknown> | unknown[] = keys[index + 1] === "0" ? [] : {};
    const next = typeof known === "object" && known !== null ? known : fresh;
    slot[key] = last ? value : next;
    at = Object(next);
  }
}
