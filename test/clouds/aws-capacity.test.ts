import { type Machine, machineDeploymentResource } from "@millwright/core/machine-api";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { machineDeployment } from "../harness/installation.ts";
import { ec2Spec, startOnEc2 } from "./ec2-cloud.ts";

const classOf = ({ spec }: Machine): string => spec.class?.name ?? "";

// The timeout only catches hangs.
it(
  "EC2 without capacity for a type holds back its machines, and not those of another type in the same zone",
  { timeout: 300_000 },
  async () => {
    const { ec2, installation, close } = await startOnEc2();
    onTestFinished(close);
    ec2.world.capacity.set("m5.large", 0);
    await installation.declareClass("larger", { ...ec2Spec, machineType: "m5.xlarge" });
    installation.run();
    await installation.deploy(3);
    const codes = async (name: string) =>
      (await installation.machines())
        .filter((machine) => classOf(machine) === name)
        .map(({ status }) => status?.lastOperation?.errorCode);
    await eventually(async () => expect(await codes("pool")).toEqual(Array(3).fill("ResourceExhausted")), 120_000);

    await installation.api.create(machineDeploymentResource, machineDeployment("larger", "larger", 3));
    await eventually(async () => {
      const larger = (await installation.machines()).filter((machine) => classOf(machine) === "larger");
      expect(larger.map(({ status }) => status?.currentStatus?.phase)).toEqual(Array(3).fill("Running"));
    }, 120_000);
    expect(await codes("pool")).toEqual(Array(3).fill("ResourceExhausted"));
    expect(ec2.inventory().instances.map(({ instanceType }) => instanceType)).toEqual(Array(3).fill("m5.xlarge"));

    // They follow by themselves once there is capacity.
    ec2.world.capacity.delete("m5.large");
    await installation.untilRunning(6, 180_000);
  },
);
