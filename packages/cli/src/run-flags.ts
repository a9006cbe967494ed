import { formatGoDuration } from "@millwright/base";
import { controllerInfos, controllerNames, defaultNodeConditions, leaseNames } from "@millwright/core/command-line";
import { type Command, Option } from "commander";
import {
  readAddress,
  readControllers,
  readCount,
  readDuration,
  readLimit,
  readList,
  readMargin,
  readNamespaces,
  readPort,
  readPercentage,
  readShare,
  readTimeout,
  readBoolean,
  readVerbosity,
} from "./flag-values.ts";
import { providerOption } from "./driver-flags.ts";
import { addControlKubeconfig, addTargetCluster } from "./target/cluster-flags.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A flag of leader election, with client-go's name and default. */
const electionFlag = (name: string, seconds: number, description: string): Option =>
  new Option(`--leader-elect-${name} <duration>`, description)
    .argParser(readDuration)
    .default(seconds * 1000, `${seconds}s`);

/** A timeout of machines, with MCM's name and default; the spec of a machine may override it. */
const machineFlag = (name: string, ms: number, description: string): Option =>
  new Option(`--machine-${name} <duration>`, description)
    .argParser((text: string) => readTimeout(text))
    .default(ms, formatGoDuration(ms));

/** The names of the controllers by the program of MCM that has them. */
const describeControllers = (): string =>
  leaseNames
    .map((lease) => {
      const names = controllerInfos.filter((each) => each.lease === lease).map(({ name }) => name);
      return `${lease}: ${names.join(", ")}`;
    })
    .join("; ");

const metricsAuthorization = (): Option =>
  new Option(
    "--metrics-authorization [true|false]",
    "serve /metrics only to bearer tokens of users who may get the non-resource URL /metrics; the API server reviews them",
  )
    .argParser(readBoolean)
    .default(false);

/** Gives a command the flags of `millwright run`, in groups for its help. Names and defaults are MCM's where MCM has them. */
export const addRunFlags = (command: Command): Command =>
  addTargetCluster(
    addControlKubeconfig(
      command.addOption(providerOption()),
      "that of --target-kubeconfig, else as kubectl, else the service account",
    ),
  )
    .option(
      "-n, --namespace <names>",
      "namespaces of the machines, separated by commas (default: that of the kubeconfig, else default)",
      readNamespaces,
    )
    .addOption(
      new Option(
        "--controllers <list>",
        `controllers to run, separated by commas: * for all, NAME, -NAME for all but that one, or the name of a program of MCM for those of it; ${describeControllers()}`,
      )
        .argParser(readControllers)
        .default(controllerNames, "*"),
    )
    .addOption(
      new Option("--log-level <level>", 'minimum level of log lines (default: "info")').choices([
        "debug",
        "info",
        "warn",
        "error",
      ]),
    )
    .option("-v, --v <number>", "MCM's verbosity: from 4 on as --log-level=debug, which goes before it", readVerbosity)
    .option("--port <port>", "serve /healthz, /readyz and /metrics over HTTP on this port; 0: not at all", readPort, 0)
    .option(
      "--address <address>",
      "IP address on which they are served; :: is all, of IPv4 and IPv6",
      readAddress,
      "::",
    )
    .addOption(metricsAuthorization())
    .option("--concurrent-syncs <count>", "objects of each kind that are reconciled at the same time", readCount, 10)
    .option("--record-cloud <file>", "record what drivers and their clouds exchange, without secrets, in a new file")
    .optionsGroup("Leader election:")
    .addOption(
      new Option(
        "--leader-elect [true|false]",
        "lead only with MCM's two leases; false is only safe when no other instance manages the namespace",
      )
        .argParser(readBoolean)
        .default(true),
    )
    .addOption(new Option("--no-leader-elect", "the same as --leader-elect=false"))
    .addOption(
      electionFlag("lease-duration", 15, "duration that other candidates wait after the last renewal of the lease"),
    )
    .addOption(electionFlag("renew-deadline", 10, "how long a leader retries a renewal before it stops leading"))
    .addOption(electionFlag("retry-period", 2, "time between two attempts to acquire or renew the lease"))
    .optionsGroup("Health and remediation:")
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
        "--machine-max-in-flight-remediations <limit>",
        "unhealthy machines of a deployment that may be remediated at the same time: a number or a percentage",
      )
        .argParser(readLimit)
        .default(1, "1"),
    )
    .addOption(
      machineFlag(
        "safety-apiserver-statuscheck-timeout",
        MINUTE / 2,
        "an API server without a response for this long is unreachable: remediation is paused, and health timeouts restart afterwards",
      ),
    )
    .addOption(
      machineFlag(
        "safety-orphan-vms-period",
        15 * MINUTE,
        "how often the VMs of each class are listed, to find machines without VM and VMs without machine; at most once a minute",
      ),
    )
    .addOption(
      new Option(
        "--machine-safety-orphan-vms <mode>",
        "what happens to VMs without machine: collect deletes them after a quarantine, report reports them, off ignores them",
      )
        .choices(["collect", "report", "off"])
        .default("collect"),
    )
    .addOption(
      new Option(
        "--machine-outage-threshold <percentage>",
        "share of machines, in total or of a zone, that become Unknown at once and suggest an outage, which pauses remediation",
      )
        .argParser(readShare)
        .default(0.3, "30%"),
    )
    .option(
      "--machine-outage-min-machines <count>",
      "minimum number of Unknown machines that suggest an outage",
      readCount,
      3,
    )
    .addOption(machineFlag("outage-window", HOUR, "how long remediation is paused because of an outage"))
    .optionsGroup("Creation:")
    .option(
      "--concurrent-machine-creations-per-class <count>",
      "maximum number of concurrent creations of one class, type and zone",
      readCount,
      50,
    )
    .option("--concurrent-machine-creations <count>", "maximum number of concurrent machine creations", readCount, 100)
    .addOption(
      new Option(
        "--resource-exhausted-retry <duration>",
        "maximum backoff of a class that is out of quota or capacity; 0 means the default",
      )
        .argParser(readTimeout)
        .default(10 * MINUTE, "10m"),
    )
    .option(
      "--bootstrap-token-auth-extra-groups <groups>",
      "additional groups of bootstrap tokens, separated by commas",
      "",
    )
    .optionsGroup("Drain and deletion:")
    .addOption(machineFlag("drain-timeout", 2 * HOUR, "how long a drain may take before it is forced"))
    .option(
      "--machine-max-evict-retries <count>",
      "a drain respects disruption budgets for this many times 20 s, but no longer than --machine-drain-timeout; 0: not at all",
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
    .option(
      "--machine-safety-max-deletion-share <percentage>",
      "deletions of more than this share of the machines of a deployment, or of the namespace, within an hour are held for approval; 0: none are (default: 50, or 0 when --target-kubeconfig names another cluster)",
      readPercentage,
    )
    .optionsGroup("In-place updates, preservation, rollouts:")
    .addOption(
      machineFlag(
        "inplace-update-timeout",
        20 * MINUTE,
        "how long the agent on a node may take for an in-place update",
      ),
    )
    .addOption(machineFlag("preserve-timeout", 96 * HOUR, "how long a machine is preserved"))
    .option(
      "--safety-up <count>",
      "a MachineSet with this many machines more than replicas and surge is frozen and creates no more",
      readMargin,
      2,
    )
    .option(
      "--safety-down <count>",
      "a frozen MachineSet is unfrozen with this many machines fewer than that",
      readMargin,
      1,
    )
    .addOption(
      new Option(
        "--autoscaler-scaledown-annotation-during-rollout [true|false]",
        "disable scale-down by the cluster-autoscaler during rollouts; false also removes the annotations set before",
      )
        .argParser(readBoolean)
        .default(true),
    )
    .option(
      "--cluster-api-conditions",
      "set Cluster API's conditions on sets and deployments in addition to MCM's",
      true,
    )
    .option("--no-cluster-api-conditions", "set MCM's conditions only, and remove those of Cluster API");
