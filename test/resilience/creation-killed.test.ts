import { seededRandom } from "@millwright/base";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";

const FLEET = 6;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("millwright run, killed while it creates machines", () => {
  let installation: Installation;
  let current: MillwrightProcess;

  const phases = async (): Promise<readonly (string | undefined)[]> =>
    (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
  /** All VMs that the cloud accepted, by the name of their machine. */
  const seen = new Map<string, Set<string>>();
  let unfollow: () => void;

  beforeEach(async () => {
    installation = await startInstallation({ latencyMs: 40, bootDelayMs: 3_000 });
    seen.clear();
    unfollow = installation.cloud.subscribe((vm) => {
      seen.set(vm.name, (seen.get(vm.name) ?? new Set()).add(vm.id));
    });
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET));
    current = installation.runAlone();
  });
  afterEach(async () => {
    await current.stop("SIGKILL");
    unfollow();
    await installation.close();
  });

  /** Like `eventually`, but polls without pause: the moment is short. */
  const soon = async (reached: () => Promise<unknown>): Promise<void> => {
    for (let look = 0; look < 4_000; look++) {
      const isReached = await reached().then(
        () => true,
        () => false,
      );
      if (isReached) return;
      await pause(5);
    }
    throw new Error("the condition was never met");
  };

  const oneEach = { withoutVm: [], withSeveral: [], alive: FLEET };
  /** Waits until every machine runs; resolves with all VMs that the cloud accepted, by machine. */
  const outcome = async (): Promise<object> => {
    await eventually(
      async () => expect(await phases()).toEqual(Array.from({ length: FLEET }, () => "Running")),
      60_000,
    );
    const names = (await installation.machines()).map(({ metadata }) => metadata.name);
    return {
      withoutVm: names.filter((name) => !seen.has(name)),
      withSeveral: [...seen].filter(([name, ids]) => ids.size !== 1 || !names.includes(name)),
      alive: installation.cloud.vms().length,
    };
  };

  // The moments at which only one side knows of the VM.
  it.each([
    [
      "a VM was accepted and its id is not stored",
      async () => expect(installation.cloud.vms().length).toBeGreaterThan(0),
    ],
    [
      "an id was stored and the VM is not initialized",
      async () => expect((await installation.machines()).some(({ spec }) => (spec.providerID ?? "") !== "")).toBe(true),
    ],
    ["the first machine is Pending", async () => expect(await phases()).toContain("Pending")],
    ["the first machine runs", async () => expect(await phases()).toContain("Running")],
  ])("makes one VM for each machine when it dies as soon as %s", async (_, reached) => {
    await soon(reached);
    await current.stop("SIGKILL");
    current = installation.runAlone();
    expect(await outcome()).toEqual(oneEach);
  });

  it("creates one VM per machine when it is killed repeatedly, at any moment", async () => {
    const random = seededRandom(20_261_121);
    for (let death = 0; death < 5; death++) {
      await current.waitFor(/"Starting"/);
      await pause(100 + random.next() * 900);
      await current.stop("SIGKILL");
      current = installation.runAlone();
    }
    expect(await outcome()).toEqual(oneEach);
  });
});
