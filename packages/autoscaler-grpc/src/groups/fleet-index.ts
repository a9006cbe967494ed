import { providerIdKey } from "@millwright/core/driver-host";
import { labelKeys, type Machine, type MachineSet } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import type { AutoscalerFleet } from "./fleet.ts";

/** Machines of a namespace by what the autoscaler knows of them. */
export interface FleetIndex {
  /** By UID of the deployment, sorted by name. */
  machinesOf(deploymentUid: string): readonly Machine[];
  setsOf(deploymentUid: string): readonly MachineSet[];
  /** The Machine of a Node, or of an instance without Node. */
  machineOf(node: { readonly providerID: string; readonly name: string }): Machine | undefined;
  /** UID of the deployment of a machine. */
  deploymentOf(machine: Machine): string | undefined;
}

/** Scheme of the id of a Machine that has no VM yet. */
const REQUESTED = "requested://";

/** The id of a Machine until its VM has one. */
export const requestedId = ({ metadata }: Machine): string =>
  `${REQUESTED}${metadata.namespace ?? ""}/${metadata.name}`;

function group<T>(objects: readonly T[], keyOf: (object: T) => string | undefined): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const object of objects) {
    const key = keyOf(object);
    if (key === undefined) continue;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [object]);
    else members.push(object);
  }
  return groups;
}

const byName = (a: Machine, b: Machine): number => (a.metadata.name < b.metadata.name ? -1 : 1);

function indexFleet({ namespace, machines, sets }: AutoscalerFleet): FleetIndex {
  const all = machines.list(namespace).toSorted(byName);
  const deploymentOfSet = new Map(
    sets.list(namespace).map((set) => [set.metadata.uid ?? "", controllerRefOf(set)?.uid] as const),
  );
  const deploymentOf = (machine: Machine): string | undefined =>
    deploymentOfSet.get(controllerRefOf(machine)?.uid ?? "");
  const ofDeployment = group(all, deploymentOf);
  const setsOfDeployment = group(sets.list(namespace), (set) => controllerRefOf(set)?.uid);
  // A Node joins under the name in the label, and an id may have been written in another way than the Node has it.
  const ofNode = new Map(all.map((machine) => [machine.metadata.labels?.[labelKeys.node] ?? "", machine]));
  const ofVm = new Map(all.map((machine) => [providerIdKey(machine.spec.providerID) ?? "", machine]));
  const ofRequest = new Map(all.map((machine) => [requestedId(machine), machine]));
  return {
    machinesOf: (uid) => ofDeployment.get(uid) ?? [],
    setsOf: (uid) => setsOfDeployment.get(uid) ?? [],
    machineOf({ providerID, name }) {
      if (providerID.startsWith(REQUESTED)) return ofRequest.get(providerID);
      const key = providerIdKey(providerID);
      const found = key === undefined ? undefined : ofVm.get(key);
      if (found !== undefined || name === "") return found;
      const named = ofNode.get(name);
      // Another VM has taken the name of the Node.
      const isOther = key !== undefined && (named?.spec.providerID ?? "") !== "";
      return isOther && providerIdKey(named?.spec.providerID) !== key ? undefined : named;
    },
    deploymentOf,
  };
}

/** The index of a fleet, which is computed again when it is read after a change. */
export function followFleet(fleet: AutoscalerFleet): { read(): FleetIndex; close(): void } {
  let index: FleetIndex | undefined;
  const forget = (): void => (index = undefined);
  const ends = [fleet.machines.subscribe(forget, { replay: false }), fleet.sets.subscribe(forget, { replay: false })];
  return {
    read: () => (index ??= indexFleet(fleet)),
    close() {
      for (const end of ends) end();
    },
  };
}
