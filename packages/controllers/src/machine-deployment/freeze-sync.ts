import { planDeploymentFreeze } from "../safety/freeze-deployment.ts";
import type { MachineDeploymentAction, MachineDeploymentSnapshot } from "./state/snapshot.ts";

/** Synchronizes the freeze of the deployment with that of its sets, the sets first. Such a reconcile does nothing else. */
export function decideFreezeSync({ deployment, claim }: MachineDeploymentSnapshot): readonly MachineDeploymentAction[] {
  const freeze = planDeploymentFreeze(deployment, claim.owned);
  return [
    ...[...freeze.sets].map(([name, patch]): MachineDeploymentAction => ({ kind: "PatchMachineSet", name, patch })),
    ...(freeze.deployment === undefined ? [] : [{ kind: "PatchDeployment", patch: freeze.deployment } as const]),
  ];
}
