import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ConfigError, Secret } from "@millwright/base";
import { type DriverDefinition, MachineError, type StandardSchemaV1 } from "@millwright/core";
import { taintKeys } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aDriver, schema } from "../testing/fake-driver.ts";
import { machineClass, nodeTemplate, token } from "../testing/hosted-driver.ts";
import { checkClass, type CheckClassOptions } from "./check-class.ts";

const valid = { ...machineClass, credentialsSecretRef: { name: "cloud", namespace: "shoot" } };
const fine = async () => ({ checks: [{ name: "Image", status: "ok" as const, message: "it is there" }] });

/** The lines of a check of a class whose driver is changed. */
async function lines(
  change: Partial<DriverDefinition<unknown>> = {},
  options: Partial<CheckClassOptions> = {},
): Promise<readonly string[]> {
  const outcomes = await checkClass("small", {
    classNamed: async () => ({ machineClass: valid, secret: { token: Secret.of(token), userData: Secret.of("boot") } }),
    driverFor: async () => aDriver(change),
    clock: createVirtualClock(),
    log: () => {},
    signal: new AbortController().signal,
    ...options,
  });
  return outcomes.map(({ name, status, message }) => `${name} ${status}: ${message}`);
}

describe("the checks of a class", () => {
  it("are those of fields, secret, driver and node template, in this order", async () => {
    const found = await lines({ checkClass: fine, getNodeTemplate: async () => ({ nodeTemplate }) });
    expect(found).toEqual([
      'MachineClass ok: Driver "mock" accepts its fields.',
      "Secret ok: It has the keys that the driver needs.",
      "Image ok: it is there",
      "Node template ok: A node has cpu 1 and memory 1Gi.",
    ]);
  });

  it("are skipped where the driver has none", async () => {
    const found = await lines({ getNodeTemplate: async () => ({ nodeTemplate }) });
    expect(found[2]).toBe('Cloud skipped: driver "mock" has no checks of classes');
  });

  it("fail in one line where the driver cannot make any, without its secret", async () => {
    const refuse = () => Promise.reject(new MachineError("Unauthenticated", `unknown ${token}`));
    const found = await lines({ checkClass: refuse, getNodeTemplate: async () => ({ nodeTemplate }) });
    expect(found.slice(2)).toEqual([
      expect.stringMatching(/^Cloud failed: Unauthenticated: unknown /),
      "Node template skipped: Not checked until the checks of the cloud pass.",
    ]);
    expect(found.join("\n")).not.toContain(token);
  });

  it("name the user data that is missing, and the key that was meant", async () => {
    const secret = { token: Secret.of(token), userdata: Secret.of("boot") };
    const found = await lines({ checkClass: fine }, { classNamed: async () => ({ machineClass: valid, secret }) });
    expect(found).toContain(
      'Secret failed: key "userData" is missing in Secret "small", "cloud", which has key "userdata"; machines cannot boot without it',
    );
  });

  it("name every problem of fields and secret at once, and then ask no cloud", async () => {
    const refusing = schema(() => ({ issues: [{ message: "is wrong", path: ["size"] }] }));
    const found = await lines({ spec: refusing, secret: refusing, checkClass: fine });
    expect(found).toEqual([
      "MachineClass failed: providerSpec.size: is wrong",
      "Secret failed: secret.size: is wrong",
      expect.stringMatching(/^Cloud skipped: /),
    ]);
  });

  it("warn of keys that the driver ignores, with those that were meant", async () => {
    const input = () => ({ type: "object", properties: { machineType: {} } });
    const spec = {
      "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }), jsonSchema: { input } },
    };
    const withKeys = { ...valid, providerSpec: { machineTyp: "small" } };
    const classNamed = async () => ({ machineClass: withKeys, secret: { token: Secret.of(token) } });
    expect(await lines({ spec: spec as StandardSchemaV1, checkClass: fine }, { classNamed })).toContain(
      'Keys warning: Driver "mock" ignores keys that it does not know: providerSpec.machineTyp (did you mean "machineType"?).',
    );
  });

  it.each([
    ["warn of user data without it", "kubeadm join", ["pool", "web"], 1],
    ["are fine with it", `taints: [{ key: ${taintKeys.templatePending} }]`, ["pool"], 0],
    ["do not concern pools without autoscaler", "kubeadm join", [], 0],
  ])("of the startup taint of a pool with an autoscaler: %s", async (_, userData, autoscaled, count) => {
    const secret = { token: Secret.of(token), userData: Secret.of(userData) };
    const classNamed = async () => ({ machineClass: valid, secret });
    const found = await lines({ checkClass: fine }, { classNamed, autoscaled });
    const taints = found.filter((line) => line.startsWith("Startup taint"));
    expect(taints).toHaveLength(count);
    for (const line of taints)
      expect(line).toMatch(/^Startup taint warning: .* MachineDeployment pool and 1 more, and/);
  });

  const taint = `kubelet --register-with-taints=${taintKeys.templatePending}:NoSchedule\n`;
  const wrapped = (text: Uint8Array) => Buffer.from(text).toString("base64").replaceAll(/.{76}/g, "$&\r\n      ");
  /** With a number of bytes by which base64 has another end. */
  const withSize = (text: string, remainder: number): Uint8Array => {
    for (let filler = randomBytes(40).toString("hex"); ; filler += randomBytes(1).toString("hex")) {
      const gzip = gzipSync(`${text}${filler}`);
      if (gzip.length % 3 === remainder) return gzip;
    }
  };
  /** User data in a form that cloud-init unpacks, with a line in it. */
  const forms: readonly (readonly [string, (line: string) => Uint8Array | string])[] = [
    ["gzip", (line) => gzipSync(line)],
    ["base64", (line) => `${Buffer.from(line).toString("base64")}\n`],
    ["gzip in base64", (line) => gzipSync(line).toString("base64")],
    ["base64 in gzip", (line) => gzipSync(Buffer.from(line).toString("base64"))],
    [
      "a multipart message with a part in base64",
      (line) =>
        `Content-Type: multipart/mixed; boundary="a"\n\n--a\nContent-Transfer-Encoding: base64\n\n${wrapped(Buffer.from(`#!/bin/bash\n${line}`))}\n--a--\n`,
    ],
    ...[0, 1, 2].map((more): readonly [string, (line: string) => string] => [
      `a file of cloud-config in gzip and base64, which ends with ${more} more bytes`,
      (line) => {
        const gzip = withSize(`${"0123456789abcdef".repeat(30)}\n${line}`, more);
        return `#cloud-config\nwrite_files:\n  - encoding: gz+b64\n    content: |\n      ${wrapped(gzip)}\n    path: /etc/default/kubelet\n`;
      },
    ]),
    [
      "Ignition with a file in a URL",
      (line) => JSON.stringify({ storage: { files: [{ contents: { source: `data:,${encodeURIComponent(line)}` } }] } }),
    ],
  ];
  it.each(forms)("read user data for the startup taint: %s", async (_, form) => {
    const found = async (line: string): Promise<readonly string[]> => {
      const secret = { token: Secret.of(token), userData: Secret.of(form(line)) };
      const all = await lines(
        { checkClass: fine },
        { classNamed: async () => ({ machineClass: valid, secret }), autoscaled: ["pool"] },
      );
      return all.filter((each) => each.startsWith("Startup taint")).map((each) => each.split(":")[0] ?? "");
    };
    expect(await found(taint)).toEqual([]);
    expect(await found(`kubeadm join ${"x".repeat(80)}\n`)).toEqual(["Startup taint warning"]);
  });

  it.each([
    ["that is encrypted", Uint8Array.from([0xff, 0xfe, 0, 1, 2, 3, 0x80])],
    ["that is encrypted and in base64", Buffer.alloc(60, 0xff).toString("base64")],
    ["in gzip that is cut off", gzipSync(taint).subarray(0, 30)],
    ["in gzip that becomes too large", gzipSync(Buffer.alloc(20 * 1024 * 1024))],
  ])("do not warn of the startup taint for user data %s: it cannot be known", async (_, userData) => {
    const secret = { token: Secret.of(token), userData: Secret.of(userData) };
    const found = await lines(
      { checkClass: fine },
      { classNamed: async () => ({ machineClass: valid, secret }), autoscaled: ["pool"] },
    );
    expect(found.filter((line) => line.startsWith("Startup taint"))).toEqual([
      `Startup taint skipped: The user data is not readable, so it may have taint ${taintKeys.templatePending} or not.`,
    ]);
  });

  it("warn if neither class nor driver has the capacity of a node", async () => {
    expect((await lines({ checkClass: fine })).at(-1)).toMatch(
      /^Node template warning: The autoscaler cannot scale from zero/,
    );
  });

  it("fail where the cloud does not know it, and pass where the class has it", async () => {
    const unknown = () => Promise.reject(new MachineError("InvalidArgument", "no such size"));
    const change = { checkClass: fine, getNodeTemplate: unknown };
    expect((await lines(change)).at(-1)).toMatch(/^Node template failed: .*no such size/);
    const classNamed = async () => ({ machineClass: { ...valid, nodeTemplate }, secret: {} });
    expect((await lines(change, { classNamed })).at(-1)).toBe("Node template ok: The class has a nodeTemplate.");
  });

  it("end with what the API server refuses", async () => {
    const classNamed = () => Promise.reject(new ConfigError("it is forbidden"));
    await expect(lines({}, { classNamed })).rejects.toThrow("it is forbidden");
  });
});
