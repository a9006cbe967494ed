import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const namespace = "default";
let installation: Installation;

afterEach(async () => {
  await installation.close();
});

/** Removes the label of the selector from every machine that has it, as a webhook or a script does. Ends when the signal aborts. */
async function stripLabels(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { metadata } of await installation.machines()) {
      if (metadata.labels?.["name"] === undefined) continue;
      const ref = { namespace, name: metadata.name };
      await installation.api.patch(machineResource, ref, { metadata: { labels: { name: null } } }, { kind: "merge" });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it("a set whose machines lose their labels stops creating VMs, reports why, and goes on once the machines have their labels", async () => {
  installation = await startInstallation();
  await installation.api.create(machineClassResource, machineClass("small"));
  const stop = new AbortController();
  const stripping = stripLabels(stop.signal);
  await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
  installation.runAlone();
  const frozen = async () => {
    const [set] = (await installation.api.list(machineSetResource, { namespace })).items;
    return { label: set?.metadata.labels?.["freeze"], text: JSON.stringify(set?.["status"]) };
  };
  await eventually(async () => {
    const { label, text } = await frozen();
    expect([label, text]).toEqual(["True", expect.stringContaining("MachinesReleased")]);
  });
  // What the set still created before the first release is its surge and margin at most.
  const names = async () => (await installation.machines()).map(({ metadata }) => metadata.name).toSorted();
  const before = await names();
  expect(before.length).toBeLessThanOrEqual(6);
  stop.abort();
  await stripping;
  await installation.api.patch(
    machineDeploymentResource,
    { namespace, name: "fleet" },
    { metadata: { annotations: { touched: "1" } } },
    { kind: "merge" },
  );
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await names()).toEqual(before);
  expect(installation.cloud.vms().length).toBeLessThanOrEqual(before.length);

  for (const name of before)
    await installation.api.patch(
      machineResource,
      { namespace, name },
      { metadata: { labels: { name: "fleet" } } },
      { kind: "merge" },
    );
  await eventually(async () => {
    expect((await frozen()).label).toBeUndefined();
    const running = (await installation.machines()).filter(({ status }) => status?.currentStatus?.phase === "Running");
    expect(running).toHaveLength(3);
  });
});
