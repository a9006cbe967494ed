import {
  defaultNodeConditions,
  formatGoDuration,
  type IntOrPercent,
  parseGoDuration,
  readIntOrPercent,
} from "@millwright/core";
import { Command, InvalidArgumentError, Option } from "commander";
import type { DevFlags } from "./commands/dev.ts";
import type { DrainFlags } from "./commands/drain.ts";
import type { DriftFlags } from "./commands/drift.ts";
import type { DescribeFlags } from "./commands/describe.ts";
import type { PlanFlags } from "./commands/plan.ts";
import type { RunFlags } from "./commands/run.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A TCP port, or 0 for a free one. */
function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("expected a port from 0 to 65535; 0 takes a free one.");
  return port;
}

/** A Go duration, as milliseconds. */
function readDuration(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError("expected a duration such as 15s or 1m30s.");
  return ms;
}

/** A Go duration that may be zero, as milliseconds. */
function readTimeout(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError("expected a duration such as 20m or 1h30m.");
  return ms;
}

/** A number of things, at least one. */
function readCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new InvalidArgumentError("expected a number from 1 to 999999.");
  return count;
}

/** A number of things that may be none. */
function readMargin(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("expected a number from 0 to 999999.");
  return Number(text);
}

/** A number or percentage of machines. */
function readLimit(text: string): IntOrPercent {
  const limit = readIntOrPercent(text);
  if (limit === undefined)
    throw new InvalidArgumentError('expected a number such as 1, or a percentage such as "10%".');
  return limit;
}

/** A percentage, as a share from 0 to 1. */
function readShare(text: string): number {
  const percent = /^\d{1,3}%$/.test(text) ? Number(text.slice(0, -1)) : Number.NaN;
  if (!(percent <= 100)) throw new InvalidArgumentError('expected a percentage from "0%" to "100%".');
  return percent / 100;
}

/** A truth value, as MCM's flags take one. */
function readTruth(text: string): boolean {
  if (text !== "true" && text !== "false") throw new InvalidArgumentError('expected "true" or "false".');
  return text === "true";
}

/** A list, separated by commas. */
const readList = (text: string): readonly string[] => text.split(",").filter((item) => item !== "");

/** A flag of leader election, with client-go's name and default. */
const electionFlag = (name: string, seconds: number, description: string): Option =>
  new Option(`--leader-elect-${name} <duration>`, description)
    .argParser(readDuration)
    .default(seconds * 1000, `${seconds}s`);

/** A timeout of machines, with MCM's name and default; a machine may say otherwise in its spec. */
const machineFlag = (name: string, ms: number, description: string): Option =>
  new Option(`--machine-${name} <duration>`, description)
    .argParser((text: string) => readTimeout(text))
    .default(ms, formatGoDuration(ms));

/** Commander hands the message on; what is under a command is loaded when the command runs, so that `--help` stays quick. */
export function createProgram(setStatus: (status: number) => void): Command {
  const program = new Command("millwright")
    .description(
      "A machine controller manager for Kubernetes: fleets of machines kept in the state that people declare.",
    )
    .exitOverride()
    .showHelpAfterError("(add --help for the flags)")
    .showSuggestionAfterError();

  program
    .command("dev")
    .description("run everything on this machine: an API server, a simulated cloud, the controllers and an example")
    .option("--port <port>", "port of the API server on 127.0.0.1; 0 takes a free one", readPort, 0)
    .option("--data <folder>", "keep the cluster and the cloud in this folder; without it they are gone at the end")
    .option("--kubeconfig <file>", "where to write the kubeconfig (default: in the data folder)")
    .option("--no-example", "do not apply the example class, secret and MachineDeployment")
    .option("--exit-when-ready", "end with status 0 once the example is Running, or with 1 and the reason after 60 s")
    .action(async (flags: DevFlags) => {
      const { dev } = await import("./commands/dev.ts");
      setStatus(await dev(flags));
    });

  program
    .command("run")
    .description("run the controllers against a cluster")
    .addOption(
      new Option("--provider <name...>", "driver packages: an npm package, a path, or mock").makeOptionMandatory(),
    )
    .option(
      "--control-kubeconfig <file>",
      "cluster in which machines are declared (default: as kubectl, else the service account)",
    )
    .option(
      "--target-kubeconfig <file>",
      'cluster that machines join; "none" for no cluster (default: the control cluster)',
    )
    .option("--namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .option("--no-leader-elect", "act without leadership: only where nothing else looks after the same namespace")
    .addOption(electionFlag("lease-duration", 15, "how long others leave a leader alone that does not renew"))
    .addOption(electionFlag("renew-deadline", 10, "how long a leader tries to renew before it gives up"))
    .addOption(electionFlag("retry-period", 2, "how often a leader renews and the others look"))
    .addOption(machineFlag("creation-timeout", 20 * MINUTE, "how long a machine may take to join as a node"))
    .addOption(
      machineFlag(
        "health-timeout",
        10 * MINUTE,
        "how long the node of a machine may be missing or unhealthy before it is replaced",
      ),
    )
    .addOption(
      new Option(
        "--node-conditions <list>",
        "node conditions that make a machine unhealthy unless they are False, separated by commas",
      )
        .argParser(readList)
        .default(defaultNodeConditions, defaultNodeConditions.join(",")),
    )
    .addOption(
      new Option(
        "--machine-max-replacements <limit>",
        "unhealthy machines of a deployment that may be replaced at once: a number, or a percentage",
      )
        .argParser(readLimit)
        .default(1, "1"),
    )
    .addOption(
      machineFlag(
        "safety-apiserver-statuscheck-timeout",
        MINUTE / 2,
        "how long an API server may not answer before nothing is replaced and timeouts of nodes start anew",
      ),
    )
    .addOption(
      new Option(
        "--machine-outage-share <percentage>",
        "share of the machines, in all or in a zone, that turn Unknown at once in an outage, in which none is replaced",
      )
        .argParser(readShare)
        .default(0.3, "30%"),
    )
    .option(
      "--machine-outage-minimum <count>",
      "machines that turn Unknown at once in an outage, at least",
      readCount,
      3,
    )
    .addOption(machineFlag("outage-window", HOUR, "how long machines that turned Unknown at once are not replaced"))
    .option("--machine-creations-per-class <count>", "machines of one class and zone made at once", readCount, 20)
    .option("--machine-creations <count>", "machines made at once, all classes together", readCount, 100)
    .addOption(
      new Option(
        "--resource-exhausted-retry <duration>",
        "longest time between two tries of a class that is out of quota or capacity; 0 is the default",
      )
        .argParser(readTimeout)
        .default(10 * MINUTE, "10m"),
    )
    .option(
      "--bootstrap-token-auth-extra-groups <groups>",
      "groups that bootstrap tokens give a node, separated by commas",
      "",
    )
    .addOption(machineFlag("drain-timeout", 2 * HOUR, "how long a drain may take before it is forced"))
    .option(
      "--machine-max-evict-retries <count>",
      "for so many times 20 s a drain respects budgets, at most for its timeout; 0: not at all",
      readMargin,
      360,
    )
    .addOption(
      machineFlag(
        "pv-detach-timeout",
        2 * MINUTE,
        "how long a volume may take to leave a node after its pod has ended",
      ),
    )
    .addOption(
      machineFlag(
        "pv-reattach-timeout",
        1.5 * MINUTE,
        "how long a drain waits until a volume is attached elsewhere; 0: not at all",
      ),
    )
    .addOption(
      machineFlag(
        "inplace-update-timeout",
        20 * MINUTE,
        "how long the agent on a node may take for an update in place",
      ),
    )
    .addOption(machineFlag("preserve-timeout", 96 * HOUR, "how long a machine is preserved"))
    .option(
      "--safety-up <count>",
      "machines beyond replicas and surge at which a MachineSet is frozen, so that it makes no more",
      readMargin,
      2,
    )
    .option("--safety-down <count>", "machines below that at which it is unfrozen", readMargin, 1)
    .addOption(
      machineFlag(
        "safety-overshooting-period",
        MINUTE,
        "accepted for MCM's sake and without effect: every pass over a MachineSet looks at the number of its machines",
      ),
    )
    .addOption(
      new Option(
        "--autoscaler-scaledown-annotation-during-rollout [true|false]",
        "keep the cluster-autoscaler from the nodes of a rollout; false also takes back what was set before",
      )
        .argParser(readTruth)
        .preset("true")
        .default(true),
    )
    .option("--cluster-api-conditions", "sets and deployments carry Cluster API's conditions next to MCM's", true)
    .option("--no-cluster-api-conditions", "they carry MCM's only; those of Cluster API that are there are taken away")
    .addOption(
      new Option("--log-level <level>", "least level to log")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .action(async (flags: RunFlags) => {
      const { run } = await import("./commands/run.ts");
      setStatus(await run(flags));
    });

  const describe = program.command("describe").description("say what is going on with an object, and what comes next");

  describe
    .command("deployment <name>")
    .description("size, sets, machines by phase and conditions of a MachineDeployment: what it waits for is in these")
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option("-n, --namespace <name>", "namespace of the deployment (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeDeploymentCommand } = await import("./commands/describe.ts");
      await describeDeploymentCommand(name, flags);
    });

  describe
    .command("machine <name>")
    .description(
      "phase, conditions, history and node of a machine, what the controllers do about it, and what you can do",
    )
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option(
      "--target-kubeconfig <file>",
      'cluster that machines join; "none" for no cluster (default: the control cluster)',
    )
    .option("-n, --namespace <name>", "namespace of the machine (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describeMachineCommand } = await import("./commands/describe.ts");
      await describeMachineCommand(name, flags);
    });

  program
    .command("drain <node>")
    .description(
      "print what a drain of a node would do, and what would hold it up: status 0 when it would complete, 2 when it would not",
    )
    .option("--dry-run", "do nothing; required, since the controllers drain nodes when machines are deleted")
    .option("--kubeconfig <file>", "cluster of the node (default: as kubectl)")
    .option("--control-kubeconfig <file>", "cluster in which machines are declared (default: that of the node)")
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format").choices(["text", "json"]).default("text"))
    .action(async (node: string, flags: DrainFlags) => {
      const { drain } = await import("./commands/drain.ts");
      setStatus(await drain(node, flags));
    });

  program
    .command("drift [machine]")
    .description(
      "print where VMs differ from what their classes ask for, and change nothing: status 0 when none does, 2 when some do, 1 when one cannot be compared",
    )
    .option("--deployment <name>", "the machines of a MachineDeployment (default: all machines of the namespace)")
    .option(
      "--provider <name...>",
      "driver packages for classes whose driver is not one of ours: an npm package or a path",
    )
    .option("--kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .addOption(new Option("-o, --output <format>", "format").choices(["text", "json"]).default("text"))
    .action(async (machine: string | undefined, flags: DriftFlags) => {
      const { drift } = await import("./commands/drift.ts");
      setStatus(await drift(machine, flags));
    });

  program
    .command("plan")
    .description(
      "print what a change would lead to, step by step, and write nothing: status 0 when nothing would happen, 2 when something would",
    )
    .option("-f, --filename <path...>", "manifests that would be applied: files, folders, or - for standard input")
    .option("--scale <name=replicas...>", "a MachineDeployment or MachineSet that would get this size")
    .option(
      "--delete <name...>",
      "a MachineDeployment that would be deleted; machineset/NAME or machine/NAME for others",
    )
    .option("--state <path>", "take the cluster from manifests in a file or folder instead of asking an API server")
    .option("--kubeconfig <file>", "cluster in which machines are declared (default: as kubectl)")
    .option(
      "--target-kubeconfig <file>",
      'cluster that machines join; "none" for no cluster (default: the cluster in which they are declared)',
    )
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .option(
      "--join-time <duration>",
      "how long a machine takes to join (default: as those did that are there)",
      readTimeout,
    )
    .option(
      "--drain-time <duration>",
      "how long the drain and deletion of a machine takes (default: unknown)",
      readTimeout,
    )
    .addOption(new Option("-o, --output <format>", "format").choices(["text", "json"]).default("text"))
    .action(async (flags: PlanFlags) => {
      const { plan } = await import("./commands/plan.ts");
      setStatus(await plan(flags));
    });

  program
    .command("crds")
    .description("print the CustomResourceDefinitions of the Machine API")
    .addOption(new Option("-o, --output <format>", "format").choices(["yaml", "json"]).default("yaml"))
    .action(async ({ output }: { readonly output: "yaml" | "json" }) => {
      const { printCrds } = await import("./commands/crds.ts");
      await printCrds(output);
    });

  program
    .command("version")
    .description("print the version")
    .action(async () => {
      const { printVersion } = await import("./commands/version.ts");
      await printVersion();
    });

  return program;
}
