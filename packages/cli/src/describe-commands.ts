import type { Command } from "commander";
import type { DescribeFlags } from "./commands/describe.ts";
import { addControlCluster, addNamespace, addOutput, addTargetCluster } from "./target/cluster-flags.ts";

/** Adds `millwright describe` and what it describes. */
export function addDescribeCommands(program: Command): void {
  const describe = program.command("describe").description("explain what an object is doing, why, and what comes next");

  addOutput(addNamespace(addControlCluster(describe.command("deployment <name>")), "the deployment"))
    .description(
      "show size, sets, machines by phase and conditions of a MachineDeployment; the conditions show what it waits for",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeDeploymentCommand } = await import("./commands/describe.ts");
      await describeDeploymentCommand(name, flags);
    });

  addOutput(addNamespace(addControlCluster(describe.command("set <name>")), "the set"))
    .description("show size, machines by phase and conditions of a MachineSet")
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeSetCommand } = await import("./commands/describe.ts");
      await describeSetCommand(name, flags);
    });

  addOutput(addNamespace(addControlCluster(describe.command("class <name>")), "the class"))
    .description(
      "show Secrets, machines by phase and failures of a MachineClass, and the VMs without machine that will be deleted",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeClassCommand } = await import("./commands/describe.ts");
      await describeClassCommand(name, flags);
    });

  addOutput(addNamespace(addTargetCluster(addControlCluster(describe.command("machine <name>"))), "the machine"))
    .description(
      "show phase, conditions, history and node of a machine, what the controllers do about it, and what you can do",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeMachineCommand } = await import("./commands/describe.ts");
      await describeMachineCommand(name, flags);
    });
}
