import { providerIdKey } from "@millwright/core/driver-host";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { type Controller, keyOf, watchTriggers } from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import { hasId } from "../model/provisioning.ts";

/** Whether a machine claims another node or VM than before, or none. A new machine usually claims none. */
const isOtherClaim = (old: Machine | undefined, current: Machine | undefined): boolean =>
  old === undefined
    ? current !== undefined && hasId(current)
    : old.metadata.labels?.[labelKeys.node] !== current?.metadata.labels?.[labelKeys.node] ||
      old.spec.providerID !== current?.spec.providerID ||
      old.metadata.deletionTimestamp !== current?.metadata.deletionTimestamp;

/** Enqueues the other claimants of a node or VM when a machine claims or releases it: now it may be theirs, or no longer. */
export function wireClaims({ machines }: Pick<ControlCaches, "machines">, controller: Controller): void {
  const claimantsBeside = ({ metadata, spec }: Machine): string[] => {
    const [node = "", vm = ""] = [metadata.labels?.[labelKeys.node], providerIdKey(spec.providerID)];
    return [
      ...(node === "" ? [] : machines.store.byIndex("node", node)),
      ...(vm === "" ? [] : machines.store.byIndex("providerId", vm)),
    ].map(keyOf);
  };
  watchTriggers({ store: machines.store, controller, keys: claimantsBeside, when: isOtherClaim });
}
