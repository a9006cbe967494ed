import type { DrainView } from "./drain-view.ts";

/** Knows what the drains under way look at, so that a change wakes the drains that it concerns and no others: of hundreds of machines as a rule a few are drained. */
export interface DrainInterests {
  /** Takes note of what the drain of a machine looks at; `undefined`: it is not drained any more. */
  note(machine: string, view: DrainView | undefined): void;
  /** Keys of the machines whose drains have pods in the namespace. */
  inNamespace(namespace: string): Iterable<string>;
  /** Keys of the machines whose drains follow a volume of this claim (`namespace/name`), or wait for its successor. */
  ofClaim(claim: string): Iterable<string>;
  /** Keys of the machines whose drains follow the PersistentVolume. */
  ofVolume(volume: string): Iterable<string>;
}

/** What one drain looks at. */
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

/** Makes an empty {@link DrainInterests}; after a restart the first pass of each machine fills it. */
export function createDrainInterests(): DrainInterests {
  const interests = new Map<string, Interest>();
  const those = (matches: (interest: Interest) => boolean): readonly string[] =>
    [...interests].filter(([, interest]) => matches(interest)).map(([machine]) => machine);
  return {
    note(machine, view) {
      if (view === undefined) interests.delete(machine);
      else interests.set(machine, interestOf(view));
    },
    inNamespace: (namespace) => those(({ namespaces }) => namespaces.has(namespace)),
    ofClaim: (claim) => those(({ claims }) => claims.has(claim)),
    ofVolume: (volume) => those(({ volumes }) => volumes.has(volume)),
  };
}
