import { labelKeys, machineResource } from "@millwright/core/machine-api";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { ec2MachineId } from "./cloud-controller-manager/aws.ts";
import { type CloudInstallation, namespace } from "./cloud-installation.ts";
import { startEc2Loop, startOnEc2 } from "./ec2-cloud.ts";
import { describeNodes } from "./node-scenario.ts";

describeNodes("EC2", startEc2Loop);

const byResourceName = { "subnet-a": { zone: "eu-west-1a", hostnameType: "resource-name" } } as const;

/** The labels `node` of the machines, and the names of the Nodes, sorted. */
const namesIn = async ({ machines, nodes }: CloudInstallation) => [
  (await machines()).map(({ metadata }) => metadata.labels?.[labelKeys.node] ?? "").toSorted(),
  (await nodes()).map(({ metadata }) => metadata.name ?? "").toSorted(),
];

it("finds nodes that are named after the id of their instance", async () => {
  const { ec2, installation, close } = await startOnEc2({ subnets: byResourceName });
  onTestFinished(close);
  installation.run();
  await installation.deploy(2);
  await installation.untilRunning(2);
  const names = ec2.inventory().instances.map(({ id }) => `${id}.eu-west-1.compute.internal`);
  expect(await namesIn(installation)).toEqual([names.toSorted(), names.toSorted()]);
});

it("finds nodes whose names lack the domain, once the cloud controller manager has initialized them", async () => {
  const hostname = ({ nodeName }: { readonly nodeName: string }) => nodeName.slice(0, nodeName.indexOf("."));
  const { ec2, installation, close } = await startOnEc2({ subnets: byResourceName }, {}, { hostname });
  onTestFinished(close);
  installation.run();
  await installation.deploy(2);
  await installation.untilRunning(2);
  const names = ec2.inventory().instances.map(({ id }) => id);
  await eventually(async () => expect(await namesIn(installation)).toEqual([names.toSorted(), names.toSorted()]));
  await installation.remove();
  await installation.untilGone();
  await eventually(async () => expect(await installation.nodes()).toEqual([]));
});

it("finds nodes whose kubelets register with the machine's provider ID, and replaces a deleted machine", async () => {
  const { ec2, installation, close } = await startOnEc2({}, {}, { kubeletProviderId: ec2MachineId });
  onTestFinished(close);
  installation.run();
  await installation.deploy(2);
  await installation.untilRunning(2);
  const [machine] = await installation.machines();
  const nodes = await installation.nodes();
  expect(nodes.map(({ spec }) => spec?.providerID)).toContain(machine?.spec.providerID);
  const name = machine?.metadata.name ?? "";
  await installation.api.delete(machineResource, { namespace, name });
  await eventually(async () =>
    expect((await installation.machines()).map(({ metadata }) => metadata.name)).not.toContain(name),
  );
  await installation.untilRunning(2);
  expect(ec2.inventory().instances.filter(({ state }) => state === "running")).toHaveLength(2);
});
