import type { Machine, MachineClass, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import type { ApiObject, ReadonlyStore } from "@millwright/kube";

/** A Node as far as it is read here. */
export interface Node extends ApiObject {
  readonly spec?: { readonly providerID?: string };
}

type Cache<T extends ApiObject> = Pick<ReadonlyStore<T>, "get" | "list" | "subscribe">;

/** The machines of one namespace: the caches of the controllers, read-only. */
export interface AutoscalerFleet {
  readonly namespace: string;
  readonly machines: Cache<Machine>;
  readonly sets: Cache<MachineSet>;
  readonly deployments: Cache<MachineDeployment>;
  readonly classes: Pick<ReadonlyStore<MachineClass>, "get">;
  /** Absent without a target cluster. */
  readonly nodes?: Pick<ReadonlyStore<Node>, "get">;
}
