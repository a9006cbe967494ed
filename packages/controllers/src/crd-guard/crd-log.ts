import type { MachineKind } from "@millwright/core/machine-api";
import { customResourceDefinitionResource as type, describeType, type Log, messageOf } from "@millwright/kube";
import type { CrdState } from "../model/crd-state.ts";
import { remedy } from "./crd-hold.ts";

/** Logs each change of a CRD, and once for all kinds that CRDs cannot be read. */
export interface CrdLog {
  changed(crd: CrdState, before: CrdState): void;
  unreadable(kind: MachineKind, error: unknown): void;
  readable(kind: MachineKind): void;
}

const crdFields = (name: string) => ({ kind: "CustomResourceDefinition", name });

/** Makes a {@link CrdLog}. */
export function createCrdLog(log: Log): CrdLog {
  const unreadable = new Set<MachineKind>();
  return {
    changed(crd, before) {
      const { name, state } = crd;
      if (state === "terminating" && !crd.isDeletionAllowed)
        log("warn", "A CustomResourceDefinition is being deleted; deletions of its objects and their VMs are paused", {
          ...crdFields(name),
          remedy: remedy(crd),
        });
      else if (state === "terminating")
        log(
          "warn",
          "A CustomResourceDefinition is being deleted; its annotation allows to delete its objects and VMs",
          {
            ...crdFields(name),
          },
        );
      else if (state === "deleted") log("warn", "A CustomResourceDefinition was deleted", crdFields(name));
      else if (state === "established" && before.state === "deleted")
        log("info", "A CustomResourceDefinition was recreated", crdFields(name));
    },
    unreadable(kind, error) {
      if (unreadable.size === 0)
        log("warn", "Cannot read CustomResourceDefinitions: deleting one deletes all VMs, as with MCM", {
          right: `get, list, watch ${describeType(type)}`,
          error: messageOf(error),
        });
      unreadable.add(kind);
    },
    readable(kind) {
      if (unreadable.delete(kind) && unreadable.size === 0)
        log("info", "CustomResourceDefinitions can be read: deleting one deletes no VMs", {});
    },
  };
}
