import { planDeploymentFreeze } from "../safety/freeze-deployment.ts";
import type { MachineDeploymentAction, MachineDeploymentSnapshot } from "./state/snapshot.ts";

/** Brings the freeze of the deployment in step with that of its sets, the sets first. Nothing else is done in the pass that does. */
export function decideFreezeSync({ deployment, claim }: MachineDeploymentSnapshot): readonly MachineDeploymentAction[] {
  const freeze = planDeploymentFreeze(deployment, claim.owned);
  return [
    ...[...freeze.sets].map(([name, patch]): MachineDeploymentAction => ({ kind: "PatchMachineSet", name, patch })),
    ...(freeze.deployment === undefined ? [] : [{ kind: "PatchDeployment", patch: freeze.deployment } as const]),
  ];
}
