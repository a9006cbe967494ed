import type { MachineKind } from "@millwright/core";
import { customResourceDefinitionResource as type, describeType, type Log, messageOf } from "@millwright/kube";

/** Says once, for all kinds, that definitions cannot be seen, and when they can again. */
export function createComplaint(log: Log): {
  blind(kind: MachineKind, error: unknown): void;
  sees(kind: MachineKind): void;
} {
  const blindTo = new Set<MachineKind>();
  return {
    blind(kind, error) {
      if (blindTo.size === 0)
        log("warn", "CustomResourceDefinitions cannot be read: deleting one deletes all VMs, as with MCM", {
          right: `get, list, watch ${describeType(type)}`,
          because: messageOf(error),
        });
      blindTo.add(kind);
    },
    sees(kind) {
      if (blindTo.delete(kind) && blindTo.size === 0)
        log("info", "CustomResourceDefinitions can be read: deleting one deletes no VMs", {});
    },
  };
}
