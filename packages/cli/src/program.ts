import { ConfigError } from "@millwright/base";
import { Argument, Command, Option } from "commander";
import { addApproveCommand } from "./approve-command.ts";
import type { CrdFlags } from "./commands/change-crds.ts";
import type { DevFlags } from "./commands/dev.ts";
import type { DoctorFlags } from "./commands/doctor.ts";
import type { DrainFlags } from "./commands/drain.ts";
import type { DriftFlags } from "./commands/drift.ts";
import { addDriverCommands } from "./driver-commands.ts";
import type { PlanFlags } from "./commands/plan.ts";
import type { RolesFlags } from "./commands/roles.ts";
import type { RunFlags } from "./commands/run-settings.ts";
import type { UninstallFlags } from "./commands/uninstall.ts";
import { type Shell, shells } from "./completion/scripts.ts";
import { addConformanceCommand } from "./conformance-flags.ts";
import { addDescribeCommands } from "./describe-commands.ts";
import { readPort, readTimeout } from "./flag-values.ts";
import { addIneffectiveFlags, givenWithoutEffect } from "./mcm-flags.ts";
import { addProviderFlags, addProviderTlsFlags } from "./driver-flags.ts";
import { needsDriver } from "./drivers/needs-driver.ts";
import { addConfiguration, type EffectiveFlag } from "./configuration/read-configuration.ts";
import { addRunFlags } from "./run-flags.ts";
import {
  addAllNamespaces,
  addControlCluster,
  addNamespace,
  addOutput,
  addTargetCluster,
  rejectAllNamespaces,
} from "./target/cluster-flags.ts";
import { addExamples } from "./examples.ts";
import { helpLayout } from "./terminal/help-layout.ts";
import { plain } from "./terminal/text.ts";
import { addAutoscalerFlags, addDashboardFlags, addProfilingFlags, addTracingFlags } from "./profiling-flags.ts";
import { addFileCommands } from "./file-commands.ts";
import { addShadowFlags } from "./shadow-flags.ts";
import { addWatchdogFlags } from "./watchdog-flags.ts";

/** The command line. The code of a command is loaded when the command runs, so that `--help` stays quick. */
export function createProgram(setStatus: (status: number) => void, words: readonly string[] = []): Command {
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
    .option("--dashboard-port <port>", "port of the dashboard on 127.0.0.1; 0 takes a free one", readPort, 0)
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
  const effective = addAllRunFlags(runCommand);
  runCommand.action(async (flags: RunFlags & { readonly printConfig?: true }, command: Command) => {
    const { unknownVariables } = await import("./configuration/unknown-variables.ts");
    const unknown = unknownVariables(effective(), process.env);
    if (flags.printConfig === true) {
      const { renderConfiguration } = await import("./configuration/print-configuration.ts");
      for (const { variable, because } of unknown)
        process.stderr.write(`millwright: ${plain(`${variable}: ${because}`)}\n`);
      process.stdout.write(renderConfiguration(effective()));
      return;
    }
    if (needsDriver(flags) && !namesDriver(flags))
      command.error("error: required option '--provider <name...>' not specified");
    const { run } = await import("./commands/run.ts");
    const file: unknown = command.getOptionValue("config");
    const read = (): ReturnType<typeof readRunFlags> => readRunFlags(words.slice(words.indexOf("run") + 1));
    const configuration = typeof file === "string" ? { file, effective: effective(), read } : undefined;
    setStatus(await run(flags, [...givenWithoutEffect(command), ...unknown], configuration));
  });

  addDescribeCommands(program, setStatus);
  addFileCommands(program, setStatus);

  addOutput(addAllNamespaces(addNamespace(addTargetCluster(addControlCluster(program.command("drain <node>"))))))
    .description(
      "print what a drain of a node would do, and what would block it: status 0 when it would complete, 3 when it would not",
    )
    .option("--dry-run", "change nothing; required, because the controllers drain nodes when machines are deleted")
    .action(async (node: string, flags: DrainFlags) => {
      const { drain } = await import("./commands/drain.ts");
      setStatus(await drain(node, flags));
    });

  addOutput(addAllNamespaces(addNamespace(addControlCluster(addProviderTlsFlags(program.command("drift [machine]"))))))
    .description(
      "print where VMs differ from their classes, and change nothing: status 0 when none does, 3 when some do, 1 when one cannot be compared",
    )
    .option("--deployment <name>", "the machines of a MachineDeployment (default: all machines of the namespace)")
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .action(async (machine: string | undefined, flags: DriftFlags) => {
      const { drift } = await import("./commands/drift.ts");
      setStatus(await drift(machine, flags));
    });

  addOutput(
    addAllNamespaces(
      addNamespace(addTargetCluster(addControlCluster(addProviderTlsFlags(program.command("doctor [class...]"))))),
    ),
  )
    .description(
      "check clusters, permissions, and classes against their clouds, and create nothing: status 0 when machines can be created, 1 when something prevents that",
    )
    .option(
      "--provider <name...>",
      "drivers that are not in this repository, for classes that need them: an npm package, a path, or unix:///path or grpcs://host:port",
    )
    .option("--clusters-only", "check no MachineClasses (default: all of the namespace)")
    .action(async (classes: readonly string[], flags: DoctorFlags, command: Command) => {
      if (flags.clustersOnly === true && classes.length > 0)
        command.error("error: name MachineClasses or use --clusters-only, not both");
      const { doctor } = await import("./commands/doctor.ts");
      setStatus(await doctor(classes, flags));
    });

  addApproveCommand(program, setStatus);

  addOutput(addAllNamespaces(addNamespace(addTargetCluster(addControlCluster(program.command("uninstall"))))))
    .description(
      "remove finalizers and annotations of the controllers, which must be stopped; deletes no object and no VM: without --yes it prints what it would do",
    )
    .option("--yes", "remove them")
    .option("--dry-run", "change nothing, as without --yes")
    .action(async (flags: UninstallFlags) => {
      const { uninstall } = await import("./commands/uninstall.ts");
      setStatus(await uninstall(flags));
    });

  addOutput(
    addAllNamespaces(
      addNamespace(
        addTargetCluster(addControlCluster(program.command("plan")), "the cluster in which they are declared"),
      ),
    ),
  )
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
    .action(async (flags: PlanFlags) => {
      const { plan } = await import("./commands/plan.ts");
      setStatus(await plan(flags));
    });

  addDriverCommands(program, setStatus);
  addConformanceCommand(program, setStatus);
  addPrintCommands(program, setStatus);
  addExamples(program);
  return program;
}

/** Gives a command all flags of `millwright run`; returns those in effect, once its action runs. */
function addAllRunFlags(command: Command): () => readonly EffectiveFlag[] {
  const effective = addConfiguration(
    addProviderFlags(
      addTracingFlags(
        addProfilingFlags(
          addAutoscalerFlags(addDashboardFlags(addWatchdogFlags(addShadowFlags(addRunFlags(command))))),
        ),
      ),
    ),
  );
  addIneffectiveFlags(command);
  rejectAllNamespaces(command, "controllers lead in each namespace that --namespace lists; name them there");
  return effective;
}

/**
 * Reads a command line of `millwright run` again, with the configuration that there is now.
 *
 * @throws ConfigError for an invalid one
 */
function readRunFlags(words: readonly string[]): {
  readonly flags: RunFlags;
  readonly effective: readonly EffectiveFlag[];
} {
  const command = new Command("run").exitOverride().action(() => undefined);
  let errors = "";
  command.configureOutput({ writeErr: (text) => (errors += text) });
  const effective = addAllRunFlags(command);
  try {
    command.parse([...words], { from: "user" });
  } catch (cause) {
    throw new ConfigError(errors.split("\n")[0]?.replace("error: ", "") ?? "", { cause });
  }
  return { flags: command.opts<RunFlags>(), effective: effective() };
}

const namesDriver = ({ provider, providerInProcess, providerIsolated }: RunFlags): boolean =>
  [provider, providerInProcess, providerIsolated].some((names) => names !== undefined);

/** Why commands about CRDs have no namespace. */
const clusterScoped = "CustomResourceDefinitions belong to no namespace";

/** Formats of commands that print manifests. */
const manifests = ["yaml", "json"];

/** Commands that print what is part of this version, or bring it to a cluster. */
function addPrintCommands(program: Command, setStatus: (status: number) => void): void {
  const crds = addOutput(program.command("crds"), manifests)
    .description("print the CustomResourceDefinitions of the Machine API")
    .action(async ({ output }: { readonly output: "yaml" | "json" }) => {
      const { printCrds } = await import("./commands/crds.ts");
      await printCrds(output);
    });
  addOutput(rejectAllNamespaces(addControlCluster(crds.command("diff")), clusterScoped))
    .description(
      "compare those of a cluster with these, and change nothing: status 0 when they are the same, 3 when they differ",
    )
    .action(async (flags: CrdFlags) => {
      const { changeCrds } = await import("./commands/change-crds.ts");
      setStatus(await changeCrds("diff", flags));
    });
  addOutput(rejectAllNamespaces(addControlCluster(crds.command("apply")), clusterScoped))
    .description("create or update those of a cluster by server-side apply, as after an upgrade of the Helm chart")
    .action(async (flags: CrdFlags) => {
      const { changeCrds } = await import("./commands/change-crds.ts");
      setStatus(await changeCrds("apply", flags));
    });

  addOutput(program.command("admission"), manifests)
    .description(
      "print the ValidatingAdmissionPolicies that refuse to delete protected objects, and warn of deletions over the budget",
    )
    .action(async ({ output }: { readonly output: "yaml" | "json" }) => {
      const { printAdmission } = await import("./commands/crds.ts");
      await printAdmission(output);
    });

  addOutput(program.command("roles"), manifests)
    .description("print the RBAC roles with the permissions that the controllers need")
    .addOption(
      new Option("--cluster <cluster>", "cluster of the roles").choices(["control", "target", "both"]).default("both"),
    )
    .option("-n, --namespace <name>", "namespace of the machines", "default")
    .option("--shadow", "print those of millwright run --shadow, which only read")
    .action(async (flags: RolesFlags) => {
      const { printRoles } = await import("./commands/roles.ts");
      await printRoles(flags);
    });

  program
    .command("completion")
    .description("print the script that completes command lines in a shell, with names of objects")
    .addArgument(new Argument("<shell>", "shell that runs it").choices(shells))
    .action(async (shell: Shell) => {
      const { printCompletion } = await import("./commands/complete.ts");
      printCompletion(shell);
    });

  program
    .command("version")
    .description("print the version")
    .action(async () => {
      const { printVersion } = await import("./commands/version.ts");
      await printVersion();
    });
}
