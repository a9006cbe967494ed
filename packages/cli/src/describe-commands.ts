import type { Command } from "commander";
import type { DescribeFlags } from "./commands/describe.ts";
import {
  addControlCluster,
  addNamespace,
  addOutput,
  addTargetCluster,
  rejectAllNamespaces,
} from "./target/cluster-flags.ts";

/** Why one description has one namespace; kubectl refuses it, too. */
const oneObject = "a name is unique in its namespace only; use --namespace";

/** Adds `millwright describe` and what it describes. */
export function addDescribeCommands(program: Command): void {
  const describe = program.command("describe").description("explain what an object is doing, why, and what comes next");

  addOutput(
    rejectAllNamespaces(
      addNamespace(addControlCluster(describe.command("deployment <name>")), "the deployment"),
      oneObject,
    ),
  )
    .description(
      "show size, sets, machines by phase and conditions of a MachineDeployment; the conditions show what it waits for",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeDeploymentCommand } = await import("./commands/describe.ts");
      await describeDeploymentCommand(name, flags);
    });

  addOutput(rejectAllNamespaces(addNamespace(addControlCluster(describe.command("set <name>")), "the set"), oneObject))
    .description("show size, machines by phase and conditions of a MachineSet")
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeSetCommand } = await import("./commands/describe.ts");
      await describeSetCommand(name, flags);
    });

  addOutput(
    rejectAllNamespaces(addNamespace(addControlCluster(describe.command("class <name>")), "the class"), oneObject),
  )
    .description(
      "show Secrets, machines by phase and failures of a MachineClass, and the VMs without machine that will be deleted",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeClassCommand } = await import("./commands/describe.ts");
      await describeClassCommand(name, flags);
    });

  addOutput(
    rejectAllNamespaces(
      addNamespace(addTargetCluster(addControlCluster(describe.command("machine <name>"))), "the machine"),
      oneObject,
    ),
  )
    .description(
      "show phase, conditions, history and node of a machine, what the controllers do about it, and what you can do",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeMachineCommand } = await import("./commands/describe.ts");
      await describeMachineCommand(name, flags);
    });
}
