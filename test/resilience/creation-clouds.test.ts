import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("millwright run on a cloud that is", () => {
  let installation: Installation;

  afterEach(async () => {
    await installation.close();
  });

  const inPhase = async (phase: string): Promise<number> =>
    (await installation.machines()).filter(({ status }) => status?.currentStatus?.phase === phase).length;
  const declare = async (name: string, className: string, replicas: number): Promise<void> => {
    await installation.api.create(machineDeploymentResource, machineDeployment(name, className, replicas));
  };
  const allRun = (count: number): Promise<void> =>
    eventually(
      async () => expect([await inPhase("Running"), (await installation.machines()).length]).toEqual([count, count]),
      90_000,
    );
  const creations = (): number => installation.cloud.calls.filter(({ operation }) => operation === "create").length;

  it("slow: no machine waits for the calls of another", async () => {
    installation = await startInstallation({ latencyMs: 1_500 });
    await installation.api.create(machineClassResource, machineClass("small"));
    await declare("fleet", "small", 10);
    installation.runAlone();
    await allRun(10);
    expect([installation.cloud.vms().length, creations()]).toEqual([10, 10]);
  });

  it("flaky: each machine gets one VM although every call may fail before or after its effect", async () => {
    installation = await startInstallation();
    await installation.api.create(machineClassResource, machineClass("small"));
    for (const afterAcceptance of [false, true])
      await installation.cloud.addFault({
        operation: "*",
        code: "Unavailable",
        probability: 0.15,
        times: 60,
        afterAcceptance,
      });
    await declare("fleet", "small", 8);
    installation.runAlone();
    await allRun(8);
    expect(installation.cloud.vms()).toHaveLength(8);
  });

  it("out of quota: one machine of the class retries, the others wait and report it, and all run once there is quota", async () => {
    installation = await startInstallation({ latencyMs: 100 });
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineClassResource, machineClass("other"));
    await installation.cloud.addFault({
      operation: "create",
      code: "ResourceExhausted",
      message: "quota of 0 VMs is used up",
      times: 1_000,
      match: "fleet",
    });
    await declare("fleet", "small", 30);
    const atOnce = 4;
    installation.runAlone(`--concurrent-machine-creations-per-class=${atOnce}`, "--resource-exhausted-retry=1s");
    await eventually(async () => expect(await inPhase("CrashLoopBackOff")).toBe(30));
    const codes = new Set((await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode));
    expect(codes).toEqual(new Set(["ResourceExhausted"]));
    // Another class is not affected.
    await declare("others", "other", 2);
    await eventually(async () => expect(await inPhase("Running")).toBe(2));

    const since = new Date();
    const before = creations();
    await pause(5_000);
    await eventually(async () => expect(creations() - before).toBeGreaterThanOrEqual(2));
    const attempts = creations() - before;
    const elapsedMs = Date.now() - since.getTime();
    const writes = installation.server.requests.filter(
      ({ verb, resource, name, time }) =>
        verb === "patch" && resource === "machines" && name.startsWith("fleet") && time >= since,
    );
    const written = (subresource: string): readonly string[] =>
      writes.filter((write) => write.subresource === subresource).map(({ name }) => name);
    // The backoff is a second less a fifth, and each attempt has two calls of 100 ms.
    expect(attempts).toBeLessThanOrEqual(Math.floor(elapsedMs / 1_000) + 1);
    // Waiting machines are not written. An attempt in flight at the beginning ends like the others: with its error, and a second later with the token of
    // the next one, since that of a rejected creation is spent. The same holds for attempts that started together before the first error.
    const text = JSON.stringify(writes.map(({ name, subresource }) => `${name}/${subresource}`));
    expect(written("status").length, text).toBeLessThanOrEqual(attempts + 1);
    expect(written("").length, text).toBeGreaterThanOrEqual(attempts - 2);
    expect(written("").length, text).toBeLessThanOrEqual(attempts + atOnce);
    expect(new Set(written("status")).size, text).toBe(written("status").length);

    await installation.cloud.clearFaults();
    await allRun(32);
    expect(installation.cloud.vms()).toHaveLength(32);
  });

  it("rejecting a class: one machine retries, another class is created, and a fixed class is created at once", async () => {
    installation = await startInstallation({ latencyMs: 50 });
    await installation.api.create(machineClassResource, machineClass("broken"));
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.cloud.addFault({ operation: "create", code: "Unauthenticated", times: 1_000, match: "fleet" });
    await declare("fleet", "broken", 40);
    await declare("good", "small", 3);
    installation.runAlone("--concurrent-machine-creations-per-class=5");
    await eventually(async () => expect(await inPhase("Running")).toBe(3), 30_000);
    await eventually(async () => expect(await inPhase("CrashLoopBackOff")).toBe(40), 30_000);
    expect(creations()).toBeLessThanOrEqual(3 + 12);
    await installation.cloud.clearFaults();
    const ref = { namespace: "default", name: "broken" };
    await installation.api.patch(
      machineClassResource,
      ref,
      { providerSpec: { machineType: "large" } },
      { kind: "merge" },
    );
    await allRun(43);
  });
});
