import { MachineError } from "../driver/machine-error.ts";
import type { MachineIdentity } from "../driver/messages.ts";

/** The error for a machine that has more than one VM: it lists their provider ids. */
export const severalVms = ({ name }: Pick<MachineIdentity, "name">, providerIds: readonly string[]): MachineError =>
  new MachineError("OutOfRange", `machine "${name}" has more than one VM: ${providerIds.toSorted().join(", ")}`);
