import type { DrainView } from "./drain-view.ts";

export type DrainInterests = ReturnType<typeof createDrainInterests>;

/** The inputs of one drain. */
interface Interest {
  readonly namespaces: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
  readonly volumes: ReadonlySet<string>;
}

function interestOf({ pods, volumes, record }: DrainView): Interest {
  const tracked = [...volumes.values(), ...record.moves.map((move) => move.volumes)].flat();
  return {
    namespaces: new Set(pods.map(({ metadata }) => metadata.namespace ?? "")),
    claims: new Set(tracked.map(({ claim }) => claim)),
    volumes: new Set(tracked.map(({ name }) => name)),
  };
}

/**
 * Indexes the inputs of drains in progress, so that a change only enqueues the machines that it affects: usually few of hundreds are draining. After a restart the first reconcile of
 * each machine fills it.
 */
export function createDrainInterests() {
  const interests = new Map<string, Interest>();
  const those = (matches: (interest: Interest) => boolean): readonly string[] =>
    [...interests].filter(([, interest]) => matches(interest)).map(([machine]) => machine);
  return {
    /** Records the inputs of a machine's drain; `undefined`: it is not draining. */
    note(machine: string, view: DrainView | undefined): void {
      if (view === undefined) interests.delete(machine);
      else interests.set(machine, interestOf(view));
    },
    /** Keys of the machines whose drains have pods in the namespace. */
    inNamespace: (namespace: string) => those(({ namespaces }) => namespaces.has(namespace)),
    /** Keys of the machines whose drains move a volume of this claim (`namespace/name`), or wait for a pod that uses it. */
    ofClaim: (claim: string) => those(({ claims }) => claims.has(claim)),
    /** Keys of the machines whose drains move the PersistentVolume. */
    ofVolume: (volume: string) => those(({ volumes }) => volumes.has(volume)),
  };
}
