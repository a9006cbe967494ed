import { machineDeploymentResource } from "@millwright/core/machine-api";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { ApiError, leaseResource } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { checkControllers } from "./check-controllers.ts";

const names = ["machine-controller-manager", "machine-controller"];

describe("the check of controllers", () => {
  let clock: VirtualClock;
  let api: FakeApi;
  beforeEach(() => {
    clock = createVirtualClock();
    api = createFakeApi({ clock });
  });

  const hold = (namespace: string, renewedMsAgo: number, holderIdentity = "pod-1"): void => {
    const time = (ms: number): string => new Date(clock.now().getTime() - ms).toISOString();
    const spec = { holderIdentity, leaseDurationSeconds: 15, acquireTime: time(60_000), renewTime: time(renewedMsAgo) };
    for (const name of names) api.seed(leaseResource, { metadata: { name, namespace }, spec });
  };
  const declare = (generation: number, observedGeneration: number): void => {
    const creationTimestamp = clock.now().toISOString();
    const metadata = { name: "pool", namespace: "ns", uid: "u", generation, creationTimestamp };
    api.seed(machineDeploymentResource, { metadata, spec: {}, status: { observedGeneration } } as never);
  };
  const check = () => checkControllers(api, "ns", clock, new AbortController().signal);

  it("is ok where both Leases are held, and names the holder", async () => {
    hold("ns", 2_000);
    expect(await check()).toMatchObject({
      status: "ok",
      message: expect.stringMatching(
        /^pod-1 holds Lease machine-controller-manager since 2025.*pod-1 holds Lease machine-controller since/,
      ),
    });
  });

  it.each([
    ["expired", "pod-1", 60_000, /has expired: pod-1 renewed it last at/],
    ["was given back", "", 1_000, /was given back, and no process has taken it/],
  ])("fails where a Lease %s, and names where leaders are", async (_, holder, ago, text) => {
    hold("ns", ago, holder);
    hold("other", 2_000);
    const outcome = await check();
    expect(outcome).toMatchObject({
      status: "failed",
      message: expect.stringMatching(text),
      remedy: expect.any(String),
    });
    expect(outcome?.message).toContain("Controllers lead namespace other.");
  });

  it("fails where no controller has seen a deployment for a minute", async () => {
    declare(2, 1);
    expect(await check()).toMatchObject({ status: "warning" });
    await clock.advance(61_000);
    hold("b", 1_000);
    expect(await check()).toMatchObject({
      status: "failed",
      message:
        "No controllers have led namespace ns, and none has seen MachineDeployment pool. Controllers lead namespace b.",
    });
  });

  it("is ok without leader election, and reports nothing of a namespace without objects", async () => {
    expect(await check()).toBeUndefined();
    declare(2, 2);
    expect(await check()).toMatchObject({ status: "ok", message: expect.stringContaining("without leader election") });
  });

  it("reports nothing where Leases may not be read, and fails with the connection", async () => {
    api.inject({ verb: "get", error: new ApiError({ status: 403, reason: "Forbidden", message: "no" }) });
    expect(await check()).toBeUndefined();
    api.inject({ verb: "get", error: new Error("broken") });
    await expect(check()).rejects.toThrow("broken");
  });
});
