import { type Machine, machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import { isNotFound } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { ownersOfMachine } from "../cluster/owners-of-machine.ts";
import { isProtected, type Protector, protectorOf } from "../model/deletion-protection.ts";
import { isDeleting, markedStage } from "../model/phase.ts";

/** Whether a terminating machine is protected. */
export type ProtectionView =
  | { readonly state: "unprotected" }
  | { readonly state: "protected"; readonly by: Protector }
  /** Its deployment is protected, and whether it is being deleted has to be read first: the garbage collector may be faster than our caches. */
  | { readonly state: "unknown" };

/** Protection of machines by themselves and by their deployments. */
export interface MachineProtection {
  /** Of a machine that is not terminating: `unprotected`. */
  of(machine: Machine): ProtectionView;
  /**
   * Reads set and deployment of a machine whose protection is unknown: two requests for each machine of a protected deployment that is deleted.
   *
   * @throws ApiError when the API server does not respond
   */
  refresh(machine: Machine): Promise<void>;
  /** Of a machine that does not exist any more. */
  forget(uid: string): void;
}

/** Objects of an API server have one. */
const uidOf = ({ metadata }: { readonly metadata: { readonly uid?: string } }): string => String(metadata.uid);

/** Makes {@link MachineProtection} from the caches. */
export function createMachineProtection(
  context: Pick<ControllerContext, "caches" | "namespace" | "control">,
): MachineProtection {
  const { caches, namespace, control } = context;
  /** UIDs of terminating machines whose owners were read after their deletion was observed. */
  const refreshed = new Set<string>();
  return {
    of(machine) {
      if (machine.metadata.deletionTimestamp == null) return { state: "unprotected" };
      const owners = ownersOfMachine(machine, context);
      const by = protectorOf(machine, owners);
      if (by !== undefined) return { state: "protected", by };
      const isDoubtful =
        owners.deployment !== undefined &&
        isProtected(owners.deployment) &&
        markedStage({ machine }) === undefined &&
        !refreshed.has(uidOf(machine));
      return { state: isDoubtful ? "unknown" : "unprotected" };
    },
    async refresh(machine) {
      const { set, deployment } = ownersOfMachine(machine, context);
      const read = async (stored: Promise<void>): Promise<void> => {
        try {
          await stored;
        } catch (error) {
          // The watch will remove it from the cache.
          if (!isNotFound(error)) throw error;
        }
      };
      const readSet = async (name: string): Promise<void> =>
        caches.sets.store.applyWrite(await control.get(machineSetResource, { namespace, name }));
      const readDeployment = async (name: string): Promise<void> =>
        caches.deployments.store.applyWrite(await control.get(machineDeploymentResource, { namespace, name }));
      await Promise.all([
        ...(set === undefined ? [] : [read(readSet(set.metadata.name))]),
        ...(deployment === undefined ? [] : [read(readDeployment(deployment.metadata.name))]),
      ]);
      refreshed.add(uidOf(machine));
    },
    forget: (uid) => void refreshed.delete(uid),
  };
}

/** Enqueues terminating machines when the protection of their deployment, or its deletion, changes. */
export function watchProtection(
  { caches }: Pick<ControllerContext, "caches">,
  enqueue: (machine: Machine) => void,
): void {
  const isHolding = (deployment: Parameters<typeof isProtected>[0] | undefined): boolean =>
    deployment !== undefined && isProtected(deployment);
  caches.deployments.store.subscribe((old, current) => {
    if (isHolding(old) === isHolding(current)) return;
    for (const deployment of [old, current])
      for (const set of deployment === undefined ? [] : caches.sets.store.byIndex("owner", uidOf(deployment)))
        for (const machine of caches.machines.store.byIndex("owner", uidOf(set)))
          if (isDeleting(machine)) enqueue(machine);
  });
}
