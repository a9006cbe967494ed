import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Secret } from "@millwright/base";
import { checkDriverSecret, checkSecretWithoutUserData, readProviderSpec, readSpecOfVm } from "./read-provider-spec.ts";
import type { StandardSchemaV1 } from "./standard-schema.ts";

const spec = z.strictObject({
  machineType: z.string(),
  disks: z.array(z.strictObject({ sizeGb: z.int().positive() })).default([]),
  labels: z.record(z.string(), z.string()).optional(),
});
const driver = { name: "example", spec };

const schemaOf = <Output>(validate: StandardSchemaV1<unknown, Output>["~standard"]["validate"]) => ({
  name: "example",
  spec: { "~standard": { version: 1, vendor: "test", validate } } as const,
});

const problemsOf = async (providerSpec: unknown): Promise<readonly string[]> => {
  const result = await readProviderSpec(driver, { providerSpec });
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe("readProviderSpec", () => {
  it("gives the spec with its defaults", async () => {
    await expect(readProviderSpec(driver, { providerSpec: { machineType: "small" } })).resolves.toEqual({
      ok: true,
      spec: { machineType: "small", disks: [] },
    });
  });

  it("waits for a schema that answers later", async () => {
    const later = schemaOf(async () => ({ value: { later: true } }));
    await expect(readProviderSpec(later, { providerSpec: {} })).resolves.toEqual({ ok: true, spec: { later: true } });
  });

  it.each<[string, unknown, RegExp]>([
    ["no spec", undefined, /^providerSpec: is required by driver "example"$/],
    ["null", null, /^providerSpec: is required/],
    ["a text", "small", /^providerSpec: Invalid input/],
    ["a missing field", {}, /^providerSpec\.machineType: /],
    [
      "a field inside a list",
      { machineType: "a", disks: [{ sizeGb: 1 }, { sizeGb: -1 }] },
      /^providerSpec\.disks\[1\]\.sizeGb: /,
    ],
    ["a key that is no identifier", { machineType: "a", labels: { "a.b/c": 1 } }, /^providerSpec\.labels\[a\.b\/c\]: /],
    ["an unknown field", { machineType: "a", typo: 1 }, /typo/],
    [
      "a key that reaches a prototype",
      JSON.parse('{"machineType":"a","labels":{"__proto__":{"polluted":true}}}'),
      /^providerSpec\.labels\.__proto__: is not allowed/,
    ],
  ])("names the place of %s", async (_what, providerSpec, expected) => {
    const problems = await problemsOf(providerSpec);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it.each([
    ["9007199254740993", "the first integer that is rounded"],
    ["-9007199254740993", "a negative one"],
    ["123456789012345678901234567890", "one with many digits"],
  ])("rejects the integer %s instead of rounding it: %s", async (text) => {
    const anything = { name: "example", spec: z.unknown() };
    const providerSpec: unknown = JSON.parse(`{"network":[{"account":${text}}]}`);
    await expect(readProviderSpec(anything, { providerSpec })).resolves.toEqual({
      ok: false,
      problems: [
        {
          path: "providerSpec.network[0].account",
          message:
            "must not be an integer beyond 9007199254740991, which would be rounded; write it as a string, if the driver takes one",
          kind: "invalid",
        },
      ],
    });
    // The VM was created with the rounded number: it can be found and deleted.
    await expect(readSpecOfVm(anything, { providerSpec })).resolves.toEqual({ ok: true, spec: providerSpec });
  });

  it("accepts the largest exact integers, fractions, and large integers as strings", async () => {
    const anything = { name: "example", spec: z.unknown() };
    const providerSpec = { a: Number.MAX_SAFE_INTEGER, b: -Number.MAX_SAFE_INTEGER, c: 0.1, d: "9007199254740993" };
    await expect(readProviderSpec(anything, { providerSpec })).resolves.toEqual({ ok: true, spec: providerSpec });
  });

  it("refuses a spec that is nested too deep, before a schema could break on it", async () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const problems = await problemsOf({ machineType: "a", deep });
    expect(problems).toEqual([expect.stringMatching(/^providerSpec\.deep\[0\].*is nested more than 64 levels deep$/)]);
  });

  it("reports a schema that throws or rejects as a problem", async () => {
    const throwing = schemaOf(() => {
      throw new TypeError("cannot read x");
    });
    const rejecting = schemaOf(() => Promise.reject(new Error("no table")));
    for (const [broken, message] of [
      [throwing, "cannot read x"],
      [rejecting, "no table"],
    ] as const) {
      await expect(readProviderSpec(broken, { providerSpec: {} })).resolves.toEqual({
        ok: false,
        problems: [
          {
            path: "providerSpec",
            message: `cannot be validated: the driver's schema failed: ${message}`,
            kind: "invalid",
          },
        ],
      });
    }
  });

  it("keeps the number and the size of problems readable", async () => {
    const noisy = schemaOf(() => ({
      issues: Array.from({ length: 1000 }, () => ({ message: "x".repeat(10_000), path: [{ key: "a" }] })),
    }));
    const result = await readProviderSpec(noisy, { providerSpec: {} });
    const problems = result.ok ? [] : result.problems;
    expect(problems).toHaveLength(20);
    expect(problems[0]?.message.length).toBeLessThan(600);
    expect(problems[0]?.path).toBe("providerSpec.a");
  });
});

describe("checkDriverSecret", () => {
  it("accepts any secret when the driver has no schema for it", async () => {
    await expect(checkDriverSecret({ name: "example" }, {})).resolves.toEqual({ ok: true });
  });

  it("gives the schema plain strings", async () => {
    const secret = z.object({ token: z.string().min(8) });
    await expect(checkDriverSecret({ name: "e", secret }, { token: Secret.of("long enough") })).resolves.toEqual({
      ok: true,
    });
  });

  it("names the key and takes out a value that a message repeats", async () => {
    const secret = z.object({
      token: z.string().refine(() => false, { error: (issue) => `got ${String(issue.input)}, wanted more` }),
    });
    const result = await checkDriverSecret({ name: "e", secret }, { token: Secret.of("canary-7") });
    expect(result).toEqual({
      ok: false,
      problems: [{ path: "secret.token", message: "got [redacted], wanted more", kind: "invalid" }],
    });
  });
});

describe("messages about a secret", () => {
  const endpoint = z
    .string()
    .refine((text) => text.startsWith("http://"), "must be a URL, such as http://localhost:7070");
  const secret = z.object({ endpoint, token: z.string("is required") });

  it("keep an example that equals the value, and redact a value that they repeat", async () => {
    const echo = z.object({
      token: z.string().refine(() => false, { error: ({ input }) => `${String(input)} is not like localhost:7070` }),
    });
    const of = async (schema: typeof secret | typeof echo, data: object) => {
      const values = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Secret.of(String(value))]));
      const result = await checkDriverSecret({ name: "e", secret: schema }, values);
      return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
    };
    expect(await of(secret, { endpoint: "localhost:7070", token: "t" })).toEqual([
      "secret.endpoint: must be a URL, such as http://localhost:7070",
    ]);
    expect(await of(echo, { token: "localhost:7070" })).toEqual(["secret.token: [redacted] is not like [redacted]"]);
    expect(await of(secret, { endpoint: "http://a", tokn: "x" })).toEqual([
      'secret.token: is required; the Secret has key "tokn"',
    ]);
    expect(await of(secret, { endpoint: "http://a", other: "x" })).toEqual(["secret.token: is required"]);
  });
});

describe("checkSecretWithoutUserData", () => {
  const secret = z.object({ userData: z.string().min(1), token: z.string().min(8) });
  const token = Secret.of("long enough");

  it.each([
    ["missing", { token }],
    ["empty", { token, userData: Secret.of("") }],
    ["valid", { token, userData: Secret.of("#!/bin/sh") }],
  ])("accepts a secret whose user data is %s", async (_, data) => {
    await expect(checkSecretWithoutUserData({ name: "e", secret }, data)).resolves.toEqual({ ok: true });
  });

  it("reports every other key", async () => {
    const result = await checkSecretWithoutUserData({ name: "e", secret }, {});
    expect(result).toMatchObject({ ok: false, problems: [{ path: "secret.token" }] });
  });
});

describe("readSpecOfVm", () => {
  const read = async (providerSpec: unknown, change: Partial<Parameters<typeof readSpecOfVm>[0]> = {}) => {
    const result = await readSpecOfVm({ ...driver, ...change }, { providerSpec });
    return result.ok ? result.spec : result.problems.map(({ path }) => path);
  };

  it("reads a valid spec as any call does", async () => {
    expect(await read({ machineType: "small" })).toEqual({ machineType: "small", disks: [] });
  });

  it("leaves out the fields that the schema does not know, at any depth", async () => {
    const disks = [{ sizeGb: 10, iops: 5 }];
    expect(await read({ machineType: "small", color: "red", disks })).toEqual({
      machineType: "small",
      disks: [{ sizeGb: 10 }],
    });
    const unknown = { message: "no", expected: "never", path: [{ key: "color" }] };
    const valibot = schemaOf((value) =>
      Object.keys(Object(value)).includes("color") ? { issues: [unknown] } : { value },
    );
    expect(await read({ machineType: "small", color: "red" }, valibot)).toEqual({ machineType: "small" });
  });

  it("never leaves out or replaces a field that the schema knows: the VM would be looked for elsewhere", async () => {
    expect(await read({ machineType: 1 })).toEqual(["providerSpec.machineType"]);
    expect(await read({ machineType: 1, color: "red" })).toEqual(["providerSpec.machineType", "providerSpec"]);
    expect(await read({ machineType: "small", ["__proto__"]: {} })).toEqual(expect.any(Array));
    expect(await read(undefined)).toEqual(["providerSpec"]);
  });

  it("uses the schema that the driver has for it", async () => {
    const vmSpec = z.object({ region: z.string() });
    expect(await read({ region: "a", machineType: 1 }, { vmSpec })).toEqual({ region: "a" });
    expect(await read({ region: 1, machineType: 1 }, { vmSpec })).toContain("providerSpec.machineType");
  });

  it("bears a schema that fails", async () => {
    const failing = schemaOf(() => {
      throw new Error("no luck");
    });
    expect(await read({ machineType: "small" }, failing)).toEqual(["providerSpec"]);
  });
});
