import {
  annotationKeys,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  validateMachineDeployment,
} from "@millwright/core/machine-api";
import { claimObjects } from "@millwright/kube";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  type Change,
  inPhase,
  named,
  ownedBy,
} from "./builders.ts";
import { decideMachineDeployment } from "../machine-deployment/decide.ts";
import { deploymentSnapshot } from "./deployment-snapshot.ts";
import type { MachineDeploymentAction } from "../machine-deployment/state/snapshot.ts";

/** The time of every decision. */
export const now = new Date("2026-01-02T00:00:00Z");

/** Annotations of sets, by short names. */
export const { desiredReplicas, maxReplicas, revision } = annotationKeys;

/** A set of another class. */
export const oldClass = (name = "old") => ({ spec: { template: { spec: { class: { name } } } } });

/** A set as it is after the deployment brought it to `replicas`: noted sizes, machines that run. */
interface SetCase {
  readonly name: string;
  readonly replicas: number;
  readonly noted?: string | null;
  readonly change?: Change<MachineSet>;
  /** Default: as many as replicas, all Running. */
  readonly machines?: number;
}

/** Decides about a deployment with these sets, whose machines run, and with others. */
export function decide(
  change: Change<MachineDeployment>,
  sets: readonly SetCase[] = [],
  others: readonly MachineSet[] = [],
) {
  const deployment = aMachineDeployment(annotated({ [revision]: "2" }), change);
  const own = sets.map(({ name, replicas, noted = "3", change: setChange = {} }) =>
    aMachineSet(
      named(name),
      ownedBy(deployment),
      annotated(noted === null ? {} : { [desiredReplicas]: noted, [maxReplicas]: String(Number(noted) + 1) }),
      { spec: { replicas } },
      name === "new"
        ? annotated({ [revision]: "2" })
        : { ...oldClass(name), metadata: { annotations: { [revision]: "1" } } },
      noted === null || name === "new"
        ? {}
        : annotated({ [desiredReplicas]: noted, [maxReplicas]: String(Number(noted) + 1) }),
      setChange,
    ),
  );
  const machines = new Map<string, readonly Machine[]>(
    sets.map(({ name, replicas, machines: count = replicas }) => [
      `uid-${name}`,
      Array.from({ length: count }, (_, index) => aMachine(named(`${name}-${index}`), inPhase("Running"))),
    ]),
  );
  const isWanted = ({ metadata }: MachineSet) =>
    deployment.metadata.deletionTimestamp !== undefined || metadata.labels?.["name"] === "pool";
  const claim = claimObjects(deployment, [...own, ...others], isWanted);
  return decideMachineDeployment(
    deploymentSnapshot({ deployment, claim, machines, problems: validateMachineDeployment(deployment) }),
    now,
  );
}

/** An action in one line. */
export const line = (action: MachineDeploymentAction): string => {
  if (action.kind === "CreateMachineSet") return `CreateMachineSet of ${action.set.spec.replicas}`;
  const { kind, ...rest } = action;
  return [kind, ...Object.values(rest).map((part) => (typeof part === "object" ? JSON.stringify(part) : part))].join(
    " ",
  );
};

/** What is decided, a line for each action. */
export const actionsOf = (...given: Parameters<typeof decide>): readonly string[] => decide(...given).actions.map(line);
