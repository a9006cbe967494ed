import type { ClusterFault } from "./cluster-fault.ts";

/** A fault that was added. */
export interface ActiveClusterFault {
  readonly id: string;
  readonly fault: ClusterFault;
  /** Removes the fault. Safe to call twice. */
  remove(): void;
}

/** The faults of a cluster. Its simulated nodes and workloads obey them. */
export interface ClusterFaults {
  add(fault: ClusterFault): ActiveClusterFault;
  list(): readonly ActiveClusterFault[];
  /** Removes all faults. */
  clear(): void;
  /** Calls back after each change. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;
}

/** Creates an empty set of faults, to share between the nodes and the workloads of one cluster. */
export function createClusterFaults(): ClusterFaults {
  const active = new Map<string, ActiveClusterFault>();
  const listeners = new Set<() => void>();
  let lastId = 0;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    add(fault) {
      lastId += 1;
      const id = String(lastId);
      const remove = (): void => {
        if (active.delete(id)) changed();
      };
      const added = { id, fault, remove };
      active.set(id, added);
      changed();
      return added;
    },
    list: () => [...active.values()],
    clear() {
      if (active.size === 0) return;
      active.clear();
      changed();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
  };
}

/** The faults of some kinds. */
export function faultsOfKinds<Kind extends ClusterFault["kind"]>(
  faults: readonly ClusterFault[],
  ...kinds: readonly Kind[]
): readonly Extract<ClusterFault, { readonly kind: Kind }>[] {
  return faults.filter((fault): fault is Extract<ClusterFault, { readonly kind: Kind }> =>
    kinds.some((kind) => kind === fault.kind),
  );
}

/** Whether a fault applies to a name; without a list of names it applies to all. */
export function isNamed(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}

/** Whether something that alternates every `everyMs`, good first, is in its bad half at a time. */
export function isInFaultyHalf(everyMs: number, nowMs: number): boolean {
  return Math.floor(nowMs / Math.max(1, everyMs)) % 2 === 1;
}
