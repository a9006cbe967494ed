import { machineApiVersion, machineResource } from "@millwright/core/machine-api";
import { createFastClock } from "@millwright/core/testing";
import { refuse } from "@millwright/emulators/server";
import { createAzureDriver } from "@millwright/provider-azure";
import { createManager } from "@millwright/runtime";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startOnArm } from "./arm-cloud.ts";
import { namespace, patienceMs } from "./cloud-installation.ts";

const create = "VirtualMachines_CreateOrUpdate";
const minute = 60_000;

/** Attempts of a direct answer in a minute: at 0, 10 and 30 s. Each is work in Azure, so a failed operation may not cost more. */
const attempts = 3;

// A busy computer makes fewer attempts in a minute of the fast clock, never more.
it.each([
  ["at the end of an operation", "VMMarketplaceInvalidInput", "InvalidArgument"],
  ["at the end of an operation", "KeyVaultAccessForbidden", "FailedPrecondition"],
  ["at the end of an operation", "BadRequest", "InvalidArgument"],
  ["at the end of an operation", "ACodeOfTomorrow", "InvalidArgument"],
  ["at once", "VMMarketplaceInvalidInput", "InvalidArgument"],
] as const)("%s, %s costs at most three creations of a VM in a minute", async (when, code, expected) => {
  const { arm, url, installation, close } = await startOnArm({ vmMs: 20, deleteMs: 20, partMs: 5, latencyMs: 1 });
  onTestFinished(close);
  if (when === "at once") arm.faults.add({ operation: create, times: Infinity, end: refuse(code) });
  else {
    arm.world.vmFailures.set("m", { code, message: "because" });
    // Every attempt fails, not only the next.
    arm.world.vmFailures.delete = () => false;
  }

  const { api } = installation;
  const clock = createFastClock(10);
  const driver = createAzureDriver({ endpoint: url, ca: arm.ca, pollMs: 50, clock });
  const manager = createManager({ control: api, target: api, namespace, drivers: [driver], clock });
  const stop = new AbortController();
  const ended = manager.start(stop.signal);
  onTestFinished(async () => {
    stop.abort(new Error("the test ends"));
    await ended;
  });
  await api.create(machineResource, {
    apiVersion: machineApiVersion,
    kind: "Machine",
    metadata: { name: "m", namespace },
    spec: { class: { kind: "MachineClass", name: "pool" } },
  });
  await eventually(async () => expect(arm.log.count(create)).toBeGreaterThan(0), patienceMs);
  await clock.sleep(minute);
  const creations = arm.log.count(create);
  const deletions = arm.log.count("VirtualMachines_Delete");
  const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
  expect(codes).toEqual([expected]);
  expect(creations).toBeLessThanOrEqual(attempts);
  expect(deletions).toBeLessThanOrEqual(when === "at once" ? 0 : attempts);
});
