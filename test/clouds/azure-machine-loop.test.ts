import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startArmLoop, startOnArm } from "./arm-cloud.ts";
import { describeMachineLoop } from "./machine-loop-scenario.ts";

describeMachineLoop("Azure", startArmLoop);

it("leaves no resources of machines when capacity is exhausted", async () => {
  const { arm, installation, close } = await startOnArm();
  onTestFinished(close);
  arm.world.capacity.set("Standard_D2s_v5/1", 2);
  installation.run();
  await installation.deploy(4);
  await eventually(async () => {
    const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
    expect(codes.filter((code) => code === "ResourceExhausted")).toHaveLength(2);
    const { vms, nics, disks } = arm.inventory();
    expect([vms.length, nics.length, disks.length]).toEqual([2, 2, 6]);
  }, 60_000);
});
