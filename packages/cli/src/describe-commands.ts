import { type Command, Option } from "commander";
import type { DescribeFlags } from "./commands/describe.ts";
import { targetKubeconfigAllowOption, targetKubeconfigOption } from "./target/target-flags.ts";

/** Adds `millwright describe` and what it describes. */
export function addDescribeCommands(program: Command): void {
  const describe = program.command("describe").description("explain what an object is doing, why, and what comes next");

  describe
    .command("deployment <name>")
    .description(
      "show size, sets, machines by phase and conditions of a MachineDeployment; the conditions show what it waits for",
    )
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option("-n, --namespace <name>", "namespace of the deployment (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeDeploymentCommand } = await import("./commands/describe.ts");
      await describeDeploymentCommand(name, flags);
    });

  describe
    .command("set <name>")
    .description("show size, machines by phase and conditions of a MachineSet")
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option("-n, --namespace <name>", "namespace of the set (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeSetCommand } = await import("./commands/describe.ts");
      await describeSetCommand(name, flags);
    });

  describe
    .command("class <name>")
    .description(
      "show Secrets, machines by phase and failures of a MachineClass, and the VMs without machine that will be deleted",
    )
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option("-n, --namespace <name>", "namespace of the class (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeClassCommand } = await import("./commands/describe.ts");
      await describeClassCommand(name, flags);
    });

  describe
    .command("machine <name>")
    .description(
      "show phase, conditions, history and node of a machine, what the controllers do about it, and what you can do",
    )
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .addOption(targetKubeconfigOption())
    .addOption(targetKubeconfigAllowOption())
    .option("-n, --namespace <name>", "namespace of the machine (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeMachineCommand } = await import("./commands/describe.ts");
      await describeMachineCommand(name, flags);
    });
}
