import { approvalIn, type BoundApproval, isHeld, shortUid, shownHold } from "@millwright/controllers/reports";
import type { ResourceType } from "@millwright/base";
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
} from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, type Condition, controllerRefOf, listAll } from "@millwright/kube";

/** The kinds whose annotation approves deletions, by the noun of the command. */
export type ApprovingKind = "deployment" | "set" | "machine";

/** An object that can approve the deletion of its machines. */
export interface ApprovingObject {
  readonly type: ResourceType;
  readonly name: string;
  readonly metadata: ApiObject["metadata"];
  /** What is held at the moment; absent: nothing. */
  readonly held?: string;
  /** What approves just that. Absent: nothing is held, or by controllers of an older version. */
  readonly approval?: BoundApproval;
}

/** Where objects are read. */
export interface ApprovalSource {
  readonly control: ApiClient;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** What a condition shows as held, and what approves it of this object: the condition of a set may show the approval of its deployment. */
function byCondition(
  conditions: readonly Condition[] | undefined,
  { generation, uid }: ApiObject["metadata"],
): Pick<ApprovingObject, "held" | "approval"> | undefined {
  const found = shownHold(conditions, { type: deletionsHeldConditionType, status: "True" });
  if (found === undefined) return undefined;
  const { message: held = "" } = found;
  const shown = approvalIn(held);
  if (shown === undefined) return { held };
  const own = shortUid({ uid });
  const isOther = shown.uid !== own && shown.generation !== undefined && generation !== undefined;
  return { held, approval: { ...shown, uid: own, ...(isOther ? { generation } : {}) } };
}

/** Machines of an owner that a rate holds, which no condition shows. */
function byMachines(
  machines: readonly Machine[],
  { uid }: ApiObject["metadata"],
): Pick<ApprovingObject, "held" | "approval"> {
  const held = machines.filter(isHeld);
  const [first] = held;
  if (first === undefined) return {};
  const times = held.map(({ metadata }) => metadata.deletionTimestamp ?? "").toSorted();
  return {
    held: first.status?.lastOperation?.description ?? "",
    approval: { work: "requests", count: held.length, before: times.at(-1) ?? "", uid: shortUid({ uid }) },
  };
}

/** All objects that can approve, deployments first; and of those with an owner, which. */
export interface ApprovingObjects {
  readonly all: readonly ApprovingObject[];
  /** Those whose annotation approves what is held now: deployments, sets without one, and machines without either. */
  readonly held: readonly ApprovingObject[];
}

/** Reads all objects that can approve, and what is held of them. */
export async function readApproving({ control, namespace, signal }: ApprovalSource): Promise<ApprovingObjects> {
  const list = async <T>(type: ResourceType, read: (raw: unknown) => ReadResult<T>): Promise<readonly T[]> => {
    const { items } = await listAll(control, type, { namespace, omitManagedFields: true }, { signal });
    // What cannot be read is held for that reason, and no approval helps.
    return items.map(read).flatMap((result) => (result.ok ? [result.value] : []));
  };
  const [deployments, sets, machines] = await Promise.all([
    list<MachineDeployment>(machineDeploymentResource, readMachineDeployment),
    list<MachineSet>(machineSetResource, readMachineSet),
    list<Machine>(machineResource, readMachine),
  ]);
  const ownedBy = <T extends ApiObject>(objects: readonly T[], { metadata }: ApiObject): readonly T[] =>
    objects.filter((object) => controllerRefOf(object)?.uid === metadata.uid);
  const ofDeployments = deployments.map((deployment): ApprovingObject => {
    const { metadata, status } = deployment;
    const own = ownedBy(sets, deployment).flatMap((set) => ownedBy(machines, set));
    const held = byCondition(status?.conditions, metadata) ?? byMachines(own, metadata);
    return { type: machineDeploymentResource, name: metadata.name, metadata, ...held };
  });
  const ofSets = sets.map((set): ApprovingObject => {
    const { metadata, status } = set;
    const held = byCondition(status?.machineSetCondition, metadata) ?? byMachines(ownedBy(machines, set), metadata);
    return { type: machineSetResource, name: metadata.name, metadata, ...held };
  });
  const ofMachines = machines.map((machine): ApprovingObject => {
    const { metadata, status } = machine;
    const held = isHeld(machine) ? { held: status?.lastOperation?.description ?? "" } : {};
    const approval = isHeld(machine)
      ? { approval: { work: "requests", count: 1, uid: shortUid(metadata) } as const }
      : {};
    return { type: machineResource, name: metadata.name, metadata, ...held, ...approval };
  });
  const all = [...ofDeployments, ...ofSets, ...ofMachines];
  const owners = new Set([...deployments, ...sets].map(({ metadata }) => metadata.uid));
  const isAlone = ({ metadata }: ApprovingObject): boolean => !owners.has(controllerRefOf({ metadata })?.uid);
  return { all, held: all.filter((object) => object.held !== undefined && isAlone(object)) };
}
