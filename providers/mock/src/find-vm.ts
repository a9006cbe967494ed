import { CloudError } from "./cloud-error.ts";
import type { VmRecord } from "./vm-record.ts";

/** Finds the VM that a ref (id, provider id or name) means; fails with `NotFound`, or `OutOfRange` for a name that fits several. */
export function findRecord(records: readonly VmRecord[], ref: string): VmRecord {
  const exact = records.find(({ vm }) => vm.id === ref || vm.providerId === ref);
  if (exact !== undefined) return exact;
  const named = records.filter(({ vm }) => vm.name === ref && vm.state !== "terminated");
  const [first] = named;
  if (first === undefined) throw new CloudError("NotFound", `there is no VM "${ref.slice(0, 300)}"`);
  if (named.length > 1) {
    const ids = named.map(({ vm }) => vm.id).toSorted();
    throw new CloudError("OutOfRange", `several VMs are called "${ref}": ${ids.join(", ")}`);
  }
  return first;
}
