import { isHeld, shownHold } from "@millwright/controllers/reports";
import {
  deletionsHeldConditionType,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  readMachine,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
  type ResourceType,
} from "@millwright/core";
import { type ApiClient, type Condition, controllerRefOf, listAll } from "@millwright/kube";
import { readNamed } from "../describe/read-named.ts";

/** The kinds whose annotation approves deletions, by the noun of the command. */
export type ApprovingKind = "deployment" | "set" | "machine";

/** An object that can approve the deletion of its machines. */
export interface ApprovingObject {
  readonly type: ResourceType;
  readonly name: string;
  /** What is held at the moment; absent: nothing. */
  readonly held?: string;
}

/** Where objects are read. */
export interface ApprovalSource {
  readonly control: ApiClient;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

const approving = (type: ResourceType, name: string, held: string | undefined): ApprovingObject => ({
  type,
  name,
  ...(held === undefined ? {} : { held }),
});

function conditionText(conditions: readonly Condition[] | undefined): string | undefined {
  const found = shownHold(conditions, { type: deletionsHeldConditionType, status: "True" });
  return found && (found.message ?? "");
}

const ofDeployment = ({ metadata, status }: MachineDeployment): ApprovingObject =>
  approving(machineDeploymentResource, metadata.name, conditionText(status?.conditions));

const ofSet = ({ metadata, status }: MachineSet): ApprovingObject =>
  approving(machineSetResource, metadata.name, conditionText(status?.machineSetCondition));

const ofMachine = (machine: Machine): ApprovingObject =>
  approving(
    machineResource,
    machine.metadata.name,
    isHeld(machine) ? machine.status?.lastOperation?.description : undefined,
  );

/**
 * Reads one object that a person named.
 *
 * @throws ConfigError when there is none of that name, or none that can be read
 */
export async function readApproving(
  source: ApprovalSource,
  kind: ApprovingKind,
  name: string,
): Promise<ApprovingObject> {
  const named = { ...source, name };
  switch (kind) {
    case "deployment":
      return ofDeployment(await readNamed(named, machineDeploymentResource, readMachineDeployment));
    case "set":
      return ofSet(await readNamed(named, machineSetResource, readMachineSet));
    case "machine":
      return ofMachine(await readNamed(named, machineResource, readMachine));
  }
}

/** All objects whose annotation approves what is held now: deployments, sets without one, and machines without either. */
export async function readHeld({ control, namespace, signal }: ApprovalSource): Promise<readonly ApprovingObject[]> {
  const list = async <T>(type: ResourceType, read: (raw: unknown) => ReadResult<T>): Promise<readonly T[]> => {
    const { items } = await listAll(control, type, { namespace, omitManagedFields: true }, { signal });
    // What cannot be read is held for that reason, and no approval helps.
    return items.map(read).flatMap((result) => (result.ok ? [result.value] : []));
  };
  const [deployments, sets, machines] = await Promise.all([
    list(machineDeploymentResource, readMachineDeployment),
    list(machineSetResource, readMachineSet),
    list(machineResource, readMachine),
  ]);
  const owners = new Set([...deployments, ...sets].map(({ metadata }) => metadata.uid));
  const isAlone = (object: MachineSet | Machine): boolean => !owners.has(controllerRefOf(object)?.uid);
  return [
    ...deployments.map(ofDeployment),
    ...sets.filter(isAlone).map(ofSet),
    ...machines.filter(isAlone).map(ofMachine),
  ].filter(({ held }) => held !== undefined);
}
