import type { Command } from "commander";
import type { DescribeFlags } from "./commands/describe.ts";
import type { TopFlags } from "./commands/top.ts";
import type { WhyFlags } from "./commands/why.ts";
import {
  addAllNamespaces,
  addControlCluster,
  addNamespace,
  addOutput,
  addTargetCluster,
  rejectAllNamespaces,
} from "./target/cluster-flags.ts";

/** Why one description has one namespace; kubectl refuses it, too. */
const oneObject = "a name is unique in its namespace only; use --namespace";

/** Formats of reports. */
const formats = ["text", "json", "yaml"];

/** Gives a command the flags that select where objects are read: clusters, or a file. */
const addObjects = (command: Command, of?: string): Command =>
  addOutput(
    rejectAllNamespaces(addNamespace(addTargetCluster(addControlCluster(command)), of), oneObject),
    formats,
  ).option(
    "--state <path>",
    "read objects from a snapshot, or other manifests in a file or folder, instead of the clusters",
  );

const addWatch = (command: Command, description = "print it again whenever it changes, until Ctrl-C"): Command =>
  command.option("-w, --watch", description);

/** Adds `millwright describe` and what it describes, `millwright why`, and `millwright top`. */
export function addDescribeCommands(program: Command, setStatus: (status: number) => void): void {
  const describe = program.command("describe").description("explain what an object is doing, why, and what comes next");

  addWatch(addObjects(describe.command("deployment <name>"), "the deployment"))
    .aliases(["machinedeployment", "machinedeployments", "mcd", "md"])
    .description(
      "show size, conditions, and the sets, machines and nodes of a MachineDeployment as a tree, with what each waits for",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeDeploymentCommand } = await import("./commands/describe.ts");
      await describeDeploymentCommand(name, flags);
    });

  addWatch(addObjects(describe.command("set <name>"), "the set"))
    .aliases(["machineset", "machinesets", "mcs"])
    .description("show size, machines by phase and conditions of a MachineSet")
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeSetCommand } = await import("./commands/describe.ts");
      await describeSetCommand(name, flags);
    });

  addWatch(addObjects(describe.command("class <name>"), "the class"))
    .aliases(["machineclass", "machineclasses", "mcc"])
    .description(
      "show Secrets, machines by phase and failures of a MachineClass, and the VMs without machine that will be deleted",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeClassCommand } = await import("./commands/describe.ts");
      await describeClassCommand(name, flags);
    });

  addWatch(addObjects(describe.command("machine <name>"), "the machine"))
    .aliases(["machines", "mc"])
    .description(
      "show phase, conditions, history and node of a machine, what the controllers do about it, and what you can do",
    )
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeMachineCommand } = await import("./commands/describe.ts");
      await describeMachineCommand(name, flags);
    });

  addWatch(
    addObjects(program.command("why [object]"), "the object"),
    "print it again whenever it changes, until it is as desired or Ctrl-C",
  )
    .description(
      "show why machine/NAME, mcd/NAME, machineset/NAME, machineclass/NAME, node/NAME or NAME is not as desired, since when, what was attempted, and what helps; without an object, all of the namespace: status 0 when it is as desired, 3 when not",
    )
    .action(async (object: string | undefined, flags: WhyFlags) => {
      const { whyCommand } = await import("./commands/why.ts");
      setStatus(await whyCommand(object, flags));
    });

  addAllNamespaces(addNamespace(addTargetCluster(addControlCluster(program.command("top")))))
    .description(
      "show machines, where they are in their lives, and what fails, on the whole terminal until q, and once without a terminal; ? shows the keys",
    )
    .option("--filter <words>", "only machines with all these words in name, state, node, set or cause")
    .action(async (flags: TopFlags) => {
      const { topCommand } = await import("./commands/top.ts");
      setStatus(await topCommand(flags));
    });
}
