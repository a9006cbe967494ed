import type { HeldDeletions, SetBudget } from "../model/deletion-budget.ts";
import type { OwnerlessVms } from "../model/vm-census.ts";
import { lossLimit } from "./judge-share.ts";

/** Machines that a set would create. */
export interface Creation {
  readonly className: string;
  readonly count: number;
  readonly budget: SetBudget;
  /** VMs of the class without Machine; `count` of them matter. `undefined`: not looked up yet. */
  readonly ownerless: (count: number) => OwnerlessVms | undefined;
}

/** Whether machines may be created now. */
export type CreationVerdict =
  /** `isApproved`: by an approval that counts them. Default: not. */
  | { readonly verdict: "proceed"; readonly isApproved?: true }
  /** It depends on the VMs without Machine, which are not looked up yet. */
  | { readonly verdict: "unknown"; readonly count: number }
  /** The VMs of the class are being listed. */
  | { readonly verdict: "wait"; readonly forMs: number }
  | { readonly verdict: "held"; readonly held: HeldDeletions };

const proceed: CreationVerdict = { verdict: "proceed" };

/**
 * May a set create these machines now? A creation of ordinary size always may, and reads no VMs. A large one is held while so many VMs exist without Machine
 * that most of the missing machines may be theirs: new VMs would cost twice, and the old ones be deleted as orphans.
 */
export function judgeCreation({ className, count, budget, ownerless }: Creation): CreationVerdict {
  const { isApproved, approved, scopes } = budget;
  const [scope = { inService: 0, loss: 0, share: undefined }] = scopes;
  const share = scope.share ?? budget.share;
  if (isApproved || share === 0) return proceed;
  const limit = lossLimit(scope, share);
  if (count <= limit) return proceed;
  const suspicious = lossLimit({ inService: count, loss: 0 }, share) + 1;
  const vms = ownerless(suspicious);
  if (vms === undefined) return { verdict: "unknown", count: suspicious };
  if (vms.state === "listing") return { verdict: "wait", forMs: vms.forMs };
  if (vms.count < suspicious) return proceed;
  if (approved?.work === "creations" && count <= approved.left) return { verdict: "proceed", isApproved: true };
  return {
    verdict: "held",
    held: {
      why: "ownerless VMs",
      cause: "creation",
      count,
      scope: { kind: "MachineClass", name: className },
      limit,
      total: vms.count,
      loss: 0,
    },
  };
}
