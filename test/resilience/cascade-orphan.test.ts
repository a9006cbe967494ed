import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterEach, expect, it, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const namespace = "default";
let installation: Installation;

afterEach(async () => {
  await installation.close();
});

const running = async (): Promise<readonly string[]> =>
  (await installation.machines())
    .filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.currentStatus?.phase === "Running",
    )
    .map(({ metadata }) => metadata.name)
    .toSorted();

async function startFleetOfThree(): Promise<readonly string[]> {
  installation = await startInstallation();
  await installation.api.create(machineClassResource, machineClass("small"));
  await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
  installation.runAlone();
  await eventually(async () => expect(await running()).toHaveLength(3), 90_000);
  return running();
}
const names = async (type: typeof machineSetResource | typeof machineDeploymentResource) =>
  (await installation.api.list(type, { namespace })).items.map(({ metadata }) => metadata.name);

it("kubectl delete machinedeployment, then machineset, with --cascade=orphan keeps machines and VMs", async () => {
  const before = await startFleetOfThree();
  const vms = installation.cloud.vms().map(({ id }) => id);
  await installation.api.delete(machineDeploymentResource, { namespace, name: "fleet" }, { propagation: "Orphan" });
  await eventually(async () => expect(await names(machineDeploymentResource)).toEqual([]));
  const [set = ""] = await names(machineSetResource);
  expect(set).not.toBe("");
  await installation.api.delete(machineSetResource, { namespace, name: set }, { propagation: "Orphan" });
  await eventually(async () => expect(await names(machineSetResource)).toEqual([]));
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await running()).toEqual(before);
  expect(installation.cloud.vms().map(({ id }) => id)).toEqual(vms);
  expect((await installation.machines()).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
});

test("a machine that another client released while its set is deleted is kept", async () => {
  const before = await startFleetOfThree();
  await installation.api.delete(machineDeploymentResource, { namespace, name: "fleet" }, { propagation: "Orphan" });
  await eventually(async () => expect(await names(machineDeploymentResource)).toEqual([]));
  const [kept = ""] = before;
  await installation.api.patch(
    machineResource,
    { namespace, name: kept },
    { metadata: { ownerReferences: null, labels: { name: "mine" } } },
    { kind: "merge" },
  );
  const [set = ""] = await names(machineSetResource);
  await installation.api.delete(machineSetResource, { namespace, name: set });
  await eventually(async () => expect(await names(machineSetResource)).toEqual([]), 90_000);
  expect(await running()).toEqual([kept]);
});
