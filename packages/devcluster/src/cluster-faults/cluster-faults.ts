import type { Trouble } from "./cluster-fault.ts";

/** A trouble that has been added. */
export interface ActiveTrouble {
  readonly id: string;
  readonly trouble: Trouble;
  /** Takes it away; safe to call twice. */
  remove(): void;
}

/** The troubles of a cluster, which its simulated nodes and workloads suffer from. */
export interface Troubles {
  add(trouble: Trouble): ActiveTrouble;
  list(): readonly ActiveTrouble[];
  /** Takes all troubles away. */
  clear(): void;
  /** Calls back after each change. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;
}

/** Creates an empty set of troubles: to share between the nodes and the workloads of one cluster. */
export function createTroubles(): Troubles {
  const active = new Map<string, ActiveTrouble>();
  const listeners = new Set<() => void>();
  let lastId = 0;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    add(trouble) {
      lastId += 1;
      const id = String(lastId);
      const remove = (): void => {
        if (active.delete(id)) changed();
      };
      const added = { id, trouble, remove };
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

/** The troubles of some kinds. */
export function troublesOf<Kind extends Trouble["kind"]>(
  troubles: readonly Trouble[],
  ...kinds: readonly Kind[]
): readonly Extract<Trouble, { readonly kind: Kind }>[] {
  return troubles.filter((trouble): trouble is Extract<Trouble, { readonly kind: Kind }> =>
    kinds.some((kind) => kind === trouble.kind),
  );
}

/** Whether a name is one of those that a trouble names; without a list, all are. */
export function isNamed(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}

/** Whether something that changes every `everyMs` is in its second state at a time: good first, then bad, then good again. */
export function isInSecondHalf(everyMs: number, nowMs: number): boolean {
  return Math.floor(nowMs / Math.max(1, everyMs)) % 2 === 1;
}
