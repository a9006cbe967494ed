import { defaultNodeConditions, formatGoDuration } from "@millwright/core";
import { type Command, Option } from "commander";
import {
  readCount,
  readDuration,
  readLimit,
  readList,
  readMargin,
  readShare,
  readTimeout,
  readTruth,
} from "./flag-values.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

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

/** Gives a command the flags of `millwright run`, in groups for its help. Names and defaults are MCM's where MCM has them. */
export const addRunFlags = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--provider <name...>",
        "drivers: mock, aws, gcp, azure, an npm package, or a path that starts with . or /",
      ).makeOptionMandatory(),
    )
    .option(
      "--control-kubeconfig <file>",
      "cluster in which machines are declared (default: as kubectl, else the service account)",
    )
    .option(
      "--target-kubeconfig <file>",
      'cluster that machines join; "none" for no cluster (default: the control cluster)',
    )
    .option("-n, --namespace <name>", "namespace of the machines (default: that of the kubeconfig, else default)")
    .addOption(
      new Option("--log-level <level>", "what is logged: this level and those above")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .option("--record-cloud <file>", "record what drivers and their clouds exchange, without secrets, in a new file")
    .optionsGroup("Leader election:")
    .option("--no-leader-elect", "act without leadership: only where nothing else looks after the same namespace")
    .addOption(electionFlag("lease-duration", 15, "how long a leader that no longer renews is still respected"))
    .addOption(electionFlag("renew-deadline", 10, "how long a leader tries to renew before it gives up"))
    .addOption(electionFlag("retry-period", 2, "how often a leader renews and the others look"))
    .optionsGroup("Health and replacement:")
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
        "unhealthy machines of a deployment that may be replaced at once: a number, or a percentage",
      )
        .argParser(readLimit)
        .default(1, "1"),
    )
    .addOption(
      machineFlag(
        "safety-apiserver-statuscheck-timeout",
        MINUTE / 2,
        "when an API server has not answered for this long, nothing is replaced, and the health timeouts start anew once it is back",
      ),
    )
    .addOption(
      new Option(
        "--machine-outage-threshold <percentage>",
        "an outage is when this share of the machines, of all or of one zone, turns Unknown at once; none is replaced then",
      )
        .argParser(readShare)
        .default(0.3, "30%"),
    )
    .option(
      "--machine-outage-min-machines <count>",
      "fewer machines than this turning Unknown at once are no outage",
      readCount,
      3,
    )
    .addOption(machineFlag("outage-window", HOUR, "how long an outage keeps its machines from being replaced"))
    .optionsGroup("Creation:")
    .option(
      "--concurrent-machine-creations-per-class <count>",
      "concurrent creations of one class, type and zone",
      readCount,
      20,
    )
    .option("--concurrent-machine-creations <count>", "machines made at once, all classes together", readCount, 100)
    .addOption(
      new Option(
        "--resource-exhausted-retry <duration>",
        "longest time between two tries of a class that is out of quota or capacity; 0 means the default",
      )
        .argParser(readTimeout)
        .default(10 * MINUTE, "10m"),
    )
    .option(
      "--bootstrap-token-auth-extra-groups <groups>",
      "groups that bootstrap tokens give a node, separated by commas",
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
    .optionsGroup("Updates in place, preservation, rollouts:")
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
      "a MachineSet with this many machines more than its replicas and surge is frozen: it makes no more",
      readMargin,
      2,
    )
    .option("--safety-down <count>", "this many machines fewer than that, and it is unfrozen", readMargin, 1)
    .addOption(
      machineFlag(
        "safety-overshooting-period",
        MINUTE,
        "accepted because MCM has it, and without effect: machines are counted at every pass",
      ),
    )
    .addOption(
      new Option(
        "--autoscaler-scaledown-annotation-during-rollout [true|false]",
        "keep the cluster-autoscaler from removing nodes of a rollout; false also removes the annotations set before",
      )
        .argParser(readTruth)
        .preset("true")
        .default(true),
    )
    .option("--cluster-api-conditions", "give sets and deployments Cluster API's conditions next to MCM's", true)
    .option("--no-cluster-api-conditions", "MCM's conditions only; those of Cluster API that are there are removed");
