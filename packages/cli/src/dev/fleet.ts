import {
  deletionProtectedConditionType,
  deletionsHeldConditionType,
  labelKeys,
  type Machine,
  machineCause,
  type MachineDeployment,
  phaseOf,
  specValidConditionType,
} from "@millwright/core/machine-api";

/** One row of the live table. */
export interface FleetRow {
  readonly name: string;
  readonly phase: string;
  readonly node: string;
  readonly vm: string;
  readonly ageSeconds: number;
  /** Its last operation, or what it waits for. */
  readonly cause: string;
  /** Whether that is a failure. */
  readonly isFailing: boolean;
}

/** What the screen shows: deployments in a line each, machines in a row each. */
export interface Fleet {
  readonly deployments: readonly string[];
  readonly machines: readonly FleetRow[];
}

const byName = (
  a: { readonly metadata: { readonly name: string } },
  b: { readonly metadata: { readonly name: string } },
): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** The phase for display: a machine without one is being created. */
const phaseText = (machine: Machine): string => {
  if (machine.metadata.deletionTimestamp !== undefined) return "Terminating";
  return phaseOf(machine) || (machine.status?.currentStatus?.phase ?? "") || "Creating";
};

/** Conditions that stop a deployment until a user acts, with the status in which they do, and a word for the screen. */
const stops: readonly (readonly [type: string, status: string, word: string])[] = [
  [specValidConditionType, "False", "invalid"],
  [deletionsHeldConditionType, "True", "held"],
  [deletionProtectedConditionType, "True", "protected"],
];

/** Phases of machines that fail, also while the next attempt is going on. */
const failingPhases: ReadonlySet<string> = new Set(["CrashLoopBackOff", "Failed", "InPlaceUpdateFailed", "Unknown"]);

const isFailing = (machine: Machine): boolean =>
  machine.status?.lastOperation?.state === "Failed" || failingPhases.has(phaseText(machine));

const deploymentText = ({ metadata, spec, status }: MachineDeployment): string => {
  const counts = `${spec.replicas ?? 0} desired, ${status?.readyReplicas ?? 0} ready, ${status?.updatedReplicas ?? 0} up to date`;
  const stopped = stops.flatMap(([type, value, word]) => {
    const found = status?.conditions?.find((condition) => condition.type === type && condition.status === value);
    return found === undefined ? [] : [` - ${word}: ${found.message ?? ""}`];
  });
  return `${metadata.name}: ${counts}${stopped.join("")}`;
};

/** The rows of the table, sorted, from the caches. */
export function viewFleet(deployments: readonly MachineDeployment[], machines: readonly Machine[], now: Date): Fleet {
  return {
    deployments: deployments.toSorted(byName).map(deploymentText),
    machines: machines.toSorted(byName).map((machine) => ({
      name: machine.metadata.name,
      phase: phaseText(machine),
      node: machine.metadata.labels?.[labelKeys.node] ?? "",
      vm: machine.spec.providerID ?? "",
      ageSeconds:
        Math.max(0, Math.floor((now.getTime() - Date.parse(machine.metadata.creationTimestamp ?? "")) / 1000)) || 0,
      cause: machineCause(machine),
      isFailing: isFailing(machine),
    })),
  };
}

/** Why the example is not ready, one line per thing that is missing; empty when it is. */
export function missingFrom(
  deployment: MachineDeployment | undefined,
  machines: readonly Machine[],
): readonly string[] {
  if (deployment === undefined) return ["the example MachineDeployment does not exist"];
  const wanted = deployment.spec.replicas ?? 0;
  const running = machines.filter((machine) => phaseText(machine) === "Running");
  if (running.length >= wanted && (deployment.status?.readyReplicas ?? 0) >= wanted) return [];
  const rejected =
    deployment.status?.conditions?.filter(({ status, type }) => status === "False" && type === "SpecValid") ?? [];
  return [
    `${running.length} of ${wanted} machines are Running`,
    ...rejected.map(({ message }) => `MachineDeployment ${deployment.metadata.name}: ${message ?? ""}`),
    ...machines
      .filter((machine) => phaseText(machine) !== "Running")
      .toSorted(byName)
      .map(
        (machine) =>
          `Machine ${machine.metadata.name}: ${phaseText(machine)}: ${machine.status?.lastOperation?.description ?? "nothing reported yet"}`,
      ),
  ];
}
