import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
  readOperation,
} from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { installMcmCrd } from "../harness/mcm-crds.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
const namespace = "default";

/** A real kube-apiserver prunes `status.lastOperation.details`, which MCM's CRD does not have. */
describe("Machines of MCM's own CRD on a real kube-apiserver", () => {
  let fleet: RealFleet;

  beforeAll(async () => {
    fleet = await startRealFleet();
    await installMcmCrd(fleet.api, "Machine");
    await fleet.api.create(machineClassResource, machineClass("small"));
  }, REAL_FLEET_MS);
  afterAll(() => fleet.close(), 60_000);

  const patchMachine = (name: string, patch: object, subresource?: "status"): Promise<unknown> =>
    fleet.api.patch(machineResource, { namespace, name }, patch, {
      kind: "merge",
      ...(subresource === undefined ? {} : { subresource }),
    });
  const protect = (name: string, value: "true" | null): Promise<unknown> =>
    patchMachine(name, { metadata: { annotations: { [annotationKeys.deletionProtection]: value } } });
  /** A machine, by default the first; `undefined` when there is none. Its details are pruned in any case. */
  const machineOf = async (name?: string) => {
    const machines = await fleet.machines();
    const machine = machines.find(({ metadata }) => name === undefined || metadata.name === name);
    expect(machine?.status?.lastOperation?.details).toBeUndefined();
    return machine;
  };

  it("have no details, and another process continues from the text: kept ones are kept, and a begun deletion ends", async () => {
    const first = fleet.runAlone();
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    await eventually(async () => expect(phaseOf((await machineOf()) ?? {})).toBe("Running"), LONG);
    const { name } = (await machineOf())?.metadata ?? { name: "" };
    await patchMachine(name, { status: { lastOperation: { details: { reason: "DeletionHeld" } } } }, "status");
    await machineOf(name);

    await protect(name, "true");
    await fleet.api.delete(machineResource, { namespace, name });
    const untilReported = (pattern: RegExp): Promise<void> =>
      eventually(
        async () => expect((await machineOf(name))?.status?.lastOperation?.description).toMatch(pattern),
        LONG,
      );
    await untilReported(/^Deletion paused/);
    await first.stop("SIGKILL");
    const second = fleet.runAlone();
    await second.waitFor(/"Ready"/);
    expect(fleet.cloud.vms().map(({ name: vm }) => vm)).toContain(name);

    await fleet.cloud.addFault({ operation: "delete", code: "Unavailable", times: 1_000 });
    await protect(name, null);
    await untilReported(/Unavailable.*attempt 2 failed.*Initiate VM deletion/s);
    await second.stop("SIGKILL");
    fleet.runAlone();
    const { lastUpdateTime } = (await machineOf(name))?.status?.lastOperation ?? {};
    await eventually(async () => {
      const { status } = (await machineOf(name)) ?? {};
      // The Node was drained before.
      expect(readOperation(status).stage).toBe("DeleteVm");
      expect(status?.lastOperation?.lastUpdateTime).not.toBe(lastUpdateTime);
    }, LONG);
    await fleet.cloud.clearFaults();
    await eventually(async () => expect(await machineOf(name)).toBeUndefined(), LONG);
    await eventually(async () => expect(phaseOf((await machineOf()) ?? {})).toBe("Running"), LONG);
    expect(fleet.cloud.vms()).toHaveLength(1);
  });
});
