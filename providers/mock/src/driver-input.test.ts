import { Secret, readProviderSpec, systemClock } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { createCloudClient } from "./cloud-client.ts";
import { createCloudServer } from "./cloud-server.ts";
import { createMockDriver } from "./driver.ts";
import { createSimulatedCloud } from "./simulated-cloud.ts";
import { mockSpecSchema } from "./spec.ts";

const machine = { name: "a", namespace: "machines", uid: "uid-of-a" };
const machineClass = { name: "example", spec: mockSpecSchema.parse({ machineType: "small" }) };
const context = { signal: new AbortController().signal, clock: systemClock, log: () => undefined };

describe("mock driver", () => {
  it("lists and initializes machines, and knows volumes", () => {
    expect(createMockDriver().capabilities).toMatchObject({
      listMachines: true,
      initializeMachine: true,
      volumeIds: true,
    });
  });

  it("translates its own volumes in order and leaves others alone", async () => {
    const volumes = [
      { csi: { driver: "mock.csi.millwright.dev", volumeHandle: "vol-1" } },
      { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-2" } },
      { hostPath: { path: "/" } },
      { csi: { driver: "mock.csi.millwright.dev" } },
      { csi: { driver: "mock.csi.millwright.dev", volumeHandle: "vol-3" } },
    ];
    await expect(createMockDriver().getVolumeIds({ volumes }, context)).resolves.toEqual({
      volumeIds: ["vol-1", undefined, undefined, undefined, "vol-3"],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["no machine type", {}, /^providerSpec\.machineType: .*"small"/],
    ["an unknown machine type", { machineType: "huge" }, /^providerSpec\.machineType: .*"small"\|"medium"\|"large"/],
    ["an unknown field", { machineType: "small", machinetype: "x" }, /machinetype/],
    [
      "a boot delay without a unit",
      { machineType: "small", bootDelay: "5" },
      /^providerSpec\.bootDelay: must be a duration/,
    ],
    [
      "a negative boot delay",
      { machineType: "small", bootDelay: "-5s" },
      /^providerSpec\.bootDelay: must be a duration/,
    ],
    ["a label that is no text", { machineType: "small", labels: { tier: 1 } }, /^providerSpec\.labels\.tier: /],
    ["a huge text", { machineType: "small", image: "x".repeat(2 ** 20) }, /^providerSpec\.image: /],
    ["an empty region", { machineType: "small", region: "" }, /^providerSpec\.region: /],
  ])("names the field of a spec with %s", async (_what, providerSpec, expected) => {
    const result = await readProviderSpec(createMockDriver(), { providerSpec });
    const problems = result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
    expect(problems).toEqual([expect.stringMatching(expected)]);
  });

  it("fills in the defaults of a spec, once and for all", async () => {
    const read = await readProviderSpec(createMockDriver(), {
      providerSpec: { machineType: "small", bootDelay: "1m30s" },
    });
    expect(read).toEqual({
      ok: true,
      spec: {
        machineType: "small",
        region: "local",
        zone: "local-a",
        image: "simulated",
        cluster: "default",
        labels: {},
        bootDelayMs: 90_000,
      },
    });
  });

  it.each<[string, Record<string, string>, string]>([
    ["no endpoint", {}, "Unauthenticated"],
    ["an endpoint elsewhere", { endpoint: "http://169.254.169.254/" }, "InvalidArgument"],
    ["an endpoint with another scheme", { endpoint: "file:///etc/passwd" }, "InvalidArgument"],
    ["an endpoint with a password", { endpoint: "http://user:hunter2@127.0.0.1:1/" }, "InvalidArgument"],
    ["an endpoint without a server", { endpoint: "http://127.0.0.1:1" }, "Unavailable"],
  ])("refuses a secret with %s without showing it", async (_what, data, code) => {
    const secret = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Secret.of(value)]));
    const request = { machine, machineClass, secret };
    const call = createMockDriver().getMachineStatus(request, context);
    await expect(call).rejects.toMatchObject({ code });
    await expect(call).rejects.not.toThrow(/hunter2|169\.254/);
  });

  it("answers Unauthenticated when the server wants another token", async () => {
    const cloud = createSimulatedCloud({ clock: systemClock });
    const server = createCloudServer(cloud, { token: Secret.of("right") });
    const { url } = await server.listen();
    const client = createCloudClient({ endpoint: url, token: Secret.of("wrong") });
    const driver = createMockDriver({ cloud: client });
    await expect(driver.getMachineStatus({ machine, machineClass, secret: {} }, context)).rejects.toMatchObject({
      code: "Unauthenticated",
    });
    await server.close();
    cloud.close();
  });
});
