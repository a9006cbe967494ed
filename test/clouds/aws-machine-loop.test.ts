import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startEc2Loop, startOnEc2 } from "./ec2-cloud.ts";
import { describeMachineLoop } from "./machine-loop-scenario.ts";

describeMachineLoop("EC2", startEc2Loop);

it("disables the source check on every VM, and uses another zone when capacity is exhausted", async () => {
  const { ec2, installation, close } = await startOnEc2({}, { fallbacks: [{ subnetID: "subnet-b" }] });
  onTestFinished(close);
  ec2.world.capacity.set("m5.large/eu-west-1a", 2);
  installation.run();
  await installation.deploy(5);
  await installation.untilRunning(5);
  const zones = ec2.inventory().networkInterfaces.map(({ zone }) => zone);
  expect(zones.toSorted()).toEqual(["a", "a", "b", "b", "b"].map((zone) => `eu-west-1${zone}`));
  await eventually(async () => {
    expect(ec2.inventory().networkInterfaces.filter(({ sourceDestCheck }) => sourceDestCheck)).toEqual([]);
  });
});

it("deletes the VMs of a class whose tags changed after their creation", async () => {
  const { ec2, installation, close } = await startOnEc2();
  onTestFinished(close);
  installation.run();
  await installation.deploy(3);
  await installation.untilRunning(3);
  await installation.changeClass({ tags: { "kubernetes.io/role/node": null, "kubernetes.io/role/worker": "1" } });
  await installation.change({ replicas: 1 });
  await installation.untilRunning(1);
  await eventually(async () => expect(ec2.inventory().instances).toHaveLength(1));
  await installation.remove();
  await installation.untilGone();
  expect(Object.values(ec2.inventory()).flat()).toEqual([]);
});
