import { machineDeploymentResource } from "@millwright/core/machine-api";
import { type ApiObject, leaseResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";

const namespace = "default";
const LONG = 90_000;

/** Two processes, each with the controllers of one program of MCM. */
describe("millwright run with a part of the controllers", () => {
  let fleet: ControlledFleet;
  const started: MillwrightProcess[] = [];
  beforeEach(async () => {
    fleet = await startControlledFleet();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
    await fleet.close();
  });

  /** Without a driver: sets and deployments need none. */
  const runOwners = (...flags: readonly string[]): MillwrightProcess => {
    const cluster = ["--control-kubeconfig", fleet.controllersKubeconfig];
    const process = startMillwright([
      "run",
      "--controllers=machine-controller-manager",
      ...cluster,
      ...shortLeases,
      ...flags,
    ]);
    started.push(process);
    return process;
  };
  const holderOf = async (name: string): Promise<string | undefined> =>
    (
      await fleet.api
        .get<ApiObject & { spec?: { holderIdentity?: string } }>(leaseResource, { namespace, name })
        .catch(() => undefined)
    )?.spec?.holderIdentity;

  it("creates, rolls and deletes machines with another process that has the others, each with its own lease", async () => {
    const owners = runOwners();
    await owners.waitFor(/"Leading"/);
    await fleet.deploy(3);
    await eventually(async () => expect(await fleet.machines()).toHaveLength(3), LONG);
    expect(fleet.cloud.calls).toEqual([]);
    expect([await holderOf("machine-controller-manager"), await holderOf("machine-controller")]).toEqual([
      expect.stringMatching(/./),
      undefined,
    ]);

    const machines = fleet.run("--controllers=*,-machinedeployment,-machineset");
    await fleet.untilRunning(3, LONG);
    expect(await holderOf("machine-controller")).not.toBe(await holderOf("machine-controller-manager"));
    expect(machines.output()).toContain('"leases":["machine-controller"]');

    // A rollout replaces all of them: the process of machines counts deletions by the other one as those of any client.
    const ref = { namespace, name: "fleet" };
    const template = { metadata: { labels: { revision: "two" } } };
    const names = (await fleet.machines()).map(({ metadata }) => metadata.name);
    await fleet.api.patch(machineDeploymentResource, ref, { spec: { template } }, { kind: "merge" });
    await eventually(async () => {
      const current = await fleet.machines();
      expect(current.filter(({ metadata }) => names.includes(metadata.name))).toEqual([]);
      expect(current).toHaveLength(3);
    }, LONG);
    await fleet.untilRunning(3, LONG);

    await fleet.api.delete(machineDeploymentResource, ref);
    await fleet.untilGone(LONG);
    expect(fleet.callsOf("create")).toBe(6);
  });
});
