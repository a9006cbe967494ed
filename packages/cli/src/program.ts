import { Command, Option } from "commander";
import { addApproveCommand } from "./approve-command.ts";
import type { CrdFlags } from "./commands/change-crds.ts";
import type { DevFlags } from "./commands/dev.ts";
import type { DoctorFlags } from "./commands/doctor.ts";
import type { DrainFlags } from "./commands/drain.ts";
import type { DriftFlags } from "./commands/drift.ts";
import { addDriverCommands } from "./driver-commands.ts";
import type { PlanFlags } from "./commands/plan.ts";
import type { RolesFlags } from "./commands/roles.ts";
import type { RunFlags } from "./commands/run.ts";
import type { UninstallFlags } from "./commands/uninstall.ts";
import { addConformanceCommand } from "./conformance-flags.ts";
import { addDescribeCommands } from "./describe-commands.ts";
import { readPort, readTimeout } from "./flag-values.ts";
import { addIneffectiveFlags, givenWithoutEffect } from "./mcm-flags.ts";
import { addProviderFlags, addProviderTlsFlags } from "./driver-flags.ts";
import { addConfiguration } from "./configuration/read-configuration.ts";
import { addRunFlags } from "./run-flags.ts";
import { targetKubeconfigAllowOption, targetKubeconfigOption } from "./target/target-flags.ts";
import { helpLayout } from "./terminal/help-layout.ts";
import { addProfilingFlags, addTracingFlags } from "./profiling-flags.ts";
import { addWatchdogFlags } from "./watchdog-flags.ts";

/** The command line. The code of a command is loaded when the command runs, so that `--help` stays quick. */
export function createProgram(setStatus: (status: number) => void): Command {
  const program = new Command("millwright")
    .description("A machine controller manager for Kubernetes: manages fleets of machines declaratively.")
    .exitOverride()
    .showHelpAfterError("(add --help for the flags)")
    .showSuggestionAfterError()
    .configureHelp(helpLayout);

  program
    .command("dev")
    .description("run everything on this machine: an API server, a simulated cloud, the controllers and an example")
    .option("--port <port>", "port of the API server on 127.0.0.1; 0 takes a free one", readPort, 0)
    .option("--data <folder>", "keep the cluster and the cloud in this folder; without it they are removed at the end")
    .option("--kubeconfig <file>", "where to write the kubeconfig (default: in the data folder)")
    .option(
      "--provider <name...>",
      "drivers to try, besides that of the simulated cloud: an npm package, or a path that starts with . or /; the nodes of their machines are simulated",
    )
    .option("--no-example", "do not apply the example class, secret and MachineDeployment")
    .option("--exit-when-ready", "end with status 0 once the example is Running, or with 1 and the reason after 60 s")
    .action(async (flags: DevFlags) => {
      const { dev } = await import("./commands/dev.ts");
      setStatus(await dev(flags));
    });

  const runCommand = program.command("run").description("run the controllers against a cluster");
  const effective = addConfiguration(
    addProviderFlags(addTracingFlags(addProfilingFlags(addWatchdogFlags(addRunFlags(runCommand))))),
  );
  addIneffectiveFlags(runCommand).action(
    async (flags: RunFlags & { readonly printConfig?: true }, command: Command) => {
      if (flags.printConfig === true) {
        const { renderConfiguration } = await import("./configuration/print-configuration.ts");
        process.stdout.write(renderConfiguration(effective()));
        return;
      }
      if ([flags.provider, flags.providerInProcess, flags.providerIsolated].every((names) => names === undefined))
        command.error("error: required option '--provider <name...>' not specified");
      const { run } = await import("./commands/run.ts");
      setStatus(await run(flags, givenWithoutEffect(command)));
    },
  );

  addDescribeCommands(program);

  program
    .command("drain <node>")
    .description(
      "print what a drain of a node would do, and what would block it: status 0 when it would complete, 3 when it would not",
    )
    .option("--dry-run", "change nothing; required, because the controllers drain nodes when machines are deleted")
    .option("--kubeconfig <file>", "cluster of the node (default: as kubectl)")
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: that of the node)")
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (node: string, flags: DrainFlags) => {
      const { drain } = await import("./commands/drain.ts");
      setStatus(await drain(node, flags));
    });

  addProviderTlsFlags(program.command("drift [machine]"))
    .description(
      "print where VMs differ from their classes, and change nothing: status 0 when none does, 3 when some do, 1 when one cannot be compared",
    )
    .option("--deployment <name>", "the machines of a MachineDeployment (default: all machines of the namespace)")
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .option("--kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (machine: string | undefined, flags: DriftFlags) => {
      const { drift } = await import("./commands/drift.ts");
      setStatus(await drift(machine, flags));
    });

  addProviderTlsFlags(program.command("doctor [class...]"))
    .description(
      "check clusters, permissions, and classes against their clouds, and create nothing: status 0 when machines can be created, 1 when something prevents that",
    )
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .addOption(targetKubeconfigOption())
    .addOption(targetKubeconfigAllowOption())
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .option("--clusters-only", "check no MachineClasses (default: all of the namespace)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (classes: readonly string[], flags: DoctorFlags, command: Command) => {
      if (flags.clustersOnly === true && classes.length > 0)
        command.error("error: name MachineClasses or use --clusters-only, not both");
      const { doctor } = await import("./commands/doctor.ts");
      setStatus(await doctor(classes, flags));
    });

  addApproveCommand(program, setStatus);

  program
    .command("uninstall")
    .description(
      "remove finalizers and annotations of the controllers, which must be stopped; deletes no object and no VM: without --yes it prints what it would do",
    )
    .option("--yes", "remove them")
    .option("--dry-run", "change nothing, as without --yes")
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .addOption(targetKubeconfigOption())
    .addOption(targetKubeconfigAllowOption())
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (flags: UninstallFlags) => {
      const { uninstall } = await import("./commands/uninstall.ts");
      setStatus(await uninstall(flags));
    });

  program
    .command("plan")
    .description(
      "print the effects of a change step by step, and write nothing: status 0 when there are none, 3 when there are some",
    )
    .option("-f, --filename <path...>", "manifests that would be applied: files, folders, or - for standard input")
    .option("--scale <name=replicas...>", "a MachineDeployment that would get this size; machineset/NAME for a set")
    .option(
      "--delete <name...>",
      "a MachineDeployment that would be deleted; machineset/NAME or machine/NAME for others",
    )
    .option("--state <path>", "read the cluster from manifests in a file or folder instead of an API server")
    .option("--kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .addOption(targetKubeconfigOption("the cluster in which they are declared"))
    .addOption(targetKubeconfigAllowOption())
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .option(
      "--join-time <duration>",
      "how long a machine takes to join (default: the median of the existing ones)",
      readTimeout,
    )
    .option(
      "--drain-time <duration>",
      "how long the drain and deletion of a machine takes (default: the median of the last ones, by their events)",
      readTimeout,
    )
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["text", "json"]).default("text"))
    .action(async (flags: PlanFlags) => {
      const { plan } = await import("./commands/plan.ts");
      setStatus(await plan(flags));
    });

  addDriverCommands(program, setStatus);
  addConformanceCommand(program, setStatus);
  addPrintCommands(program, setStatus);
  return program;
}

/** Commands that print what is part of this version, or bring it to a cluster. */
function addPrintCommands(program: Command, setStatus: (status: number) => void): void {
  const crds = program
    .command("crds")
    .description("print the CustomResourceDefinitions of the Machine API")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["yaml", "json"]).default("yaml"))
    .action(async ({ output }: { readonly output: "yaml" | "json" }) => {
      const { printCrds } = await import("./commands/crds.ts");
      await printCrds(output);
    });
  const ofCluster = "cluster in which machines are declared (default: as kubectl)";
  crds
    .command("diff")
    .description(
      "compare those of a cluster with these, and change nothing: status 0 when they are the same, 3 when they differ",
    )
    .option("--control-kubeconfig <file>", ofCluster)
    .action(async (flags: CrdFlags) => {
      const { changeCrds } = await import("./commands/change-crds.ts");
      setStatus(await changeCrds("diff", flags));
    });
  crds
    .command("apply")
    .description("create or update those of a cluster by server-side apply, as after an upgrade of the Helm chart")
    .option("--control-kubeconfig <file>", ofCluster)
    .action(async (flags: CrdFlags) => {
      const { changeCrds } = await import("./commands/change-crds.ts");
      setStatus(await changeCrds("apply", flags));
    });

  program
    .command("admission")
    .description("print the ValidatingAdmissionPolicy that refuses to delete protected machines and deployments")
    .addOption(new Option("-o, --output <format>", "format of the output").choices(["yaml", "json"]).default("yaml"))
    .action(async ({ output }: { readonly output: "yaml" | "json" }) => {
      const { printAdmission } = await import("./commands/crds.ts");
      await printAdmission(output);
    });

  program
    .command("roles")
    .description("print the RBAC roles with the permissions that the controllers need")
    .addOption(
      new Option("--cluster <cluster>", "cluster of the roles").choices(["control", "target", "both"]).default("both"),
    )
    .option("-n, --namespace <name>", "namespace of the machines", "default")
    .action(async (flags: RolesFlags) => {
      const { printRoles } = await import("./commands/roles.ts");
      await printRoles(flags);
    });

  program
    .command("version")
    .description("print the version")
    .action(async () => {
      const { printVersion } = await import("./commands/version.ts");
      await printVersion();
    });
}
