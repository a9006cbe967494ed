import { isDeepStrictEqual } from "node:util";
import { isRecord, Secret } from "@millwright/base";
import { readProviderSpec } from "@millwright/core";
import { checkDriverSecret, type StandardSchemaIssue, type StandardSchemaResult } from "@millwright/core/driver-host";
import type { Session } from "../session/session.ts";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure } from "./check.ts";
import { type SpecPath, specPaths, withField, withoutField } from "./spec-paths.ts";

const specOf = ({ caller }: CheckContext): unknown => caller.target.machineClass.providerSpec;

/** What the schema itself returns, without the protection of the host. */
async function validate(
  { driver, scope }: Session,
  spec: unknown,
  what: string,
): Promise<StandardSchemaResult<unknown>> {
  try {
    return await scope.run(async () => driver.spec["~standard"].validate(spec));
  } catch (error) {
    expect(false, `The schema throws for ${what}: ${describeError(error)}`);
    throw error;
  }
}

const isRejected = async ({ session: { driver, scope } }: CheckContext, providerSpec: unknown) => {
  const read = await scope.run(() => readProviderSpec(driver, { providerSpec }));
  return read.ok ? undefined : read.problems;
};

/** The fields of the class that the driver requires. */
async function requiredFields(t: CheckContext): Promise<readonly SpecPath[]> {
  const found: SpecPath[] = [];
  for (const path of specPaths(specOf(t))) {
    if (typeof path.keys.at(-1) === "number") continue;
    if ((await isRejected(t, withoutField(specOf(t), path))) !== undefined) found.push(path);
  }
  return found;
}

/** Values of other types. Null is none: in Kubernetes it counts as absent, and Go reads it as an empty text. */
const wrongTypes = (value: unknown): readonly unknown[] =>
  typeof value === "object" && value !== null ? [17, "text"] : [{ wrong: 1 }, [[1]]];

const nested = (depth: number): unknown => {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) value = { deeper: value };
  return value;
};

const longText = "x".repeat(1_048_576);
const longestProblem = 65_536;

const lengthOf = (issues: readonly StandardSchemaIssue[] = []): number =>
  Math.max(0, ...issues.map(({ message }) => message.length));

/** Checks of the class schema. */
export const specChecks = {
  "spec.required-fields": async (t) => {
    const required = await requiredFields(t);
    for (const path of required) {
      const problems = (await isRejected(t, withoutField(specOf(t), path))) ?? [];
      const name = String(path.keys.at(-1));
      const names = problems.some(
        ({ path: at, message }) =>
          (at !== "providerSpec" && path.text.startsWith(at)) || at === path.text || `${at} ${message}`.includes(name),
      );
      const [first] = problems;
      expect(
        names,
        `Without ${path.text}, the problem is "${first?.path}: ${first?.message}", which names another field.`,
      );
    }
    if (required.length > 0) expect((await isRejected(t, {})) !== undefined, "An empty class is accepted.");
  },

  "spec.hostile-values": async (t) => {
    const spec = specOf(t);
    const required = new Set((await requiredFields(t)).map(({ text }) => text));
    for (const path of specPaths(spec)) {
      for (const value of [...wrongTypes(path.value), null, -1, Number.MAX_VALUE, "", longText, nested(60), []]) {
        const result = await validate(t.session, withField(spec, path, value), `a hostile value of ${path.text}`);
        expect(lengthOf(result.issues) <= longestProblem, `A problem of ${path.text} repeats a text of 1 MiB.`);
      }
      if (!required.has(path.text)) continue;
      for (const value of wrongTypes(path.value)) {
        const found = await isRejected(t, withField(spec, path, value));
        expect(found !== undefined, `${path.text} is required, and ${JSON.stringify(value)} is accepted.`);
      }
    }
    const deep = await isRejected(t, { ...(isRecord(spec) ? spec : {}), mwcDeep: nested(10_000) });
    expect(deep !== undefined, "A class of 10,000 levels is accepted.");
  },

  "spec.prototype-keys": async (t) => {
    const spec = specOf(t);
    const places: readonly SpecPath["keys"][] = [
      [],
      ...specPaths(spec)
        .filter(({ value }) => isRecord(value))
        .map(({ keys }) => keys),
    ];
    for (const place of places) {
      for (const key of ["__proto__", "constructor", "prototype"]) {
        const hostile = withField(
          spec,
          { keys: [...place, key] },
          JSON.parse('{"polluted":true,"prototype":{"polluted":true}}'),
        );
        const result = await validate(t.session, hostile, `the key ${key}`);
        const isPolluted = Reflect.get({}, "polluted") !== undefined || Object.keys(Object.prototype).length > 0;
        Reflect.deleteProperty(Object.prototype, "polluted");
        expect(!isPolluted, `The key ${key} changes the prototype of all objects.`);
        const value: unknown = result.issues === undefined ? result.value : undefined;
        expect(
          !isRecord(value) || value["polluted"] === undefined,
          `The key ${key} changes the prototype of the spec.`,
        );
      }
    }
  },

  "spec.pure": async (t) => {
    const spec = structuredClone(specOf(t));
    const before = structuredClone(spec);
    const connections = t.session.connections.length;
    const first = await validate(t.session, spec, "the class");
    const second = await validate(t.session, spec, "the class");
    expect(isDeepStrictEqual(first, second), "Two validations of the same class differ.");
    expect(isDeepStrictEqual(spec, before), "The validation changes its input.");
    expect(t.session.connections.length === connections, "The validation opens a connection.");
  },

  "spec.unknown-fields": async (t) => {
    const spec = specOf(t);
    const plain = await validate(t.session, structuredClone(spec), "the class");
    const more = withField(spec, { keys: ["mwcUnknownField"] }, 1);
    const result = await validate(t.session, more, "an unknown field");
    if (result.issues === undefined) {
      const same = plain.issues === undefined && isDeepStrictEqual(withoutUnknown(result.value), plain.value);
      expect(same, "An unknown field changes the spec.");
      return;
    }
    const text = result.issues.map(({ message, path = [] }) => `${path.map(String).join(".")} ${message}`).join("\n");
    expect(text.includes("mwcUnknownField"), `An unknown field is rejected without its name: ${text.slice(0, 200)}`);
  },
} as const satisfies CheckTable;

/** A spec that passes unknown fields on. */
function withoutUnknown(value: unknown): unknown {
  if (!isRecord(value) || !Object.hasOwn(value, "mwcUnknownField")) return value;
  const { mwcUnknownField: _, ...rest } = value;
  return rest;
}

/** Checks of the class secret. */
export const secretChecks = {
  "secret.extra-keys": async ({ session: { driver, scope }, caller: { target } }) => {
    const more = { ...target.secret, userData: Secret.of("#!/bin/sh"), mwcOther: Secret.of("other") };
    const checked = await scope.run(() => checkDriverSecret(driver, more));
    expect(
      checked.ok,
      `The driver rejects other keys: ${checked.ok ? "" : checked.problems.map(({ message }) => message).join("; ")}`,
    );
  },

  "secret.invalid": async (t) => {
    const { driver, scope } = t.session;
    const { secret } = t.caller.target;
    const keys = Object.keys(secret).filter(
      (key) => key !== "userData" && t.fixture.publicSecretKeys?.includes(key) !== true,
    );
    for (const key of keys) {
      const garbage = t.session.protect({ [key]: `mwc-malformed-${t.session.random.hex(12)}` });
      for (const changed of [
        { ...secret, [key]: Secret.of("") },
        { ...secret, ...garbage },
      ]) {
        const checked = await scope.run(() => checkDriverSecret(driver, changed));
        if (!checked.ok) {
          const leaked = t.session.findSecrets(checked.problems);
          expect(leaked.length === 0, `A problem of the secret repeats the value of "${leaked.join('", "')}".`);
          continue;
        }
        const call = t.caller.with({ secret: changed, driver: await t.newDriver() }).status(t.machine());
        await expectFailure(
          `A call with an invalid ${key}`,
          call,
          "InvalidArgument",
          "Unauthenticated",
          "PermissionDenied",
        );
      }
    }
  },
} as const satisfies CheckTable;
