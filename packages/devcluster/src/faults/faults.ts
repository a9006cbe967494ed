import type { Random } from "@millwright/base";
import type { RequestAttributes } from "../request/request-attributes.ts";
import {
  type Fault,
  type FaultEffect,
  isLineEffect,
  isRequestEffect,
  type LineEffect,
  type RequestEffect,
  type FaultMatch,
} from "./fault.ts";

/** Whether a fault affects a request. It never affects paths of the server itself (`/millwright`, `/metrics`). */
function matchesRequest(match: FaultMatch | undefined, request: RequestAttributes): boolean {
  if (match === undefined) return true;
  const { verbs, resources, namespaces, names, userAgent, headers } = match;
  const resource = request.subresource === "" ? request.resource : `${request.resource}/${request.subresource}`;
  return (
    (verbs === undefined || verbs.includes(request.verb)) &&
    (resources === undefined || resources.includes(resource)) &&
    (namespaces === undefined || namespaces.includes(request.namespace)) &&
    (names === undefined || names.includes(request.name)) &&
    (userAgent === undefined || request.userAgent.includes(userAgent)) &&
    Object.entries(headers ?? {}).every(([name, value]) => request.headers[name.toLowerCase()] === value)
  );
}

/** A fault that was added. */
export interface ActiveFault {
  readonly id: string;
  readonly fault: Fault;
  /** How many requests or lines it has affected. */
  readonly hits: number;
  /** Removes the fault. Safe to call twice. */
  remove(): void;
}

/** The faults of a server, as tests and `/millwright/faults` set them. */
export interface Faults {
  add(fault: Fault): ActiveFault;
  list(): readonly ActiveFault[];
  /** Removes all faults and resets the clock. */
  clear(): void;
  /** Shifts the timestamps that the server writes, in milliseconds; 0 resets the clock. */
  skewClock(ms: number): void;
  readonly clockSkewMs: number;
}

/** A running watch. */
export interface RunningWatch {
  readonly attributes: RequestAttributes;
  reset(): void;
}

/** The server's side of the faults. */
export interface FaultSource extends Faults {
  /** The effects on a request, in the order in which the faults were added. Counts each as a hit. */
  forRequest(request: RequestAttributes): readonly RequestEffect[];
  /** The effects on the next line of a watch. Counts each as a hit. */
  forLine(request: RequestAttributes): readonly LineEffect[];
  /** Registers a running watch, so that a partition resets it. Returns the function that ends the registration. */
  watching(watch: RunningWatch): () => void;
}

const noEffects: readonly never[] = [];

/** Creates an empty set of faults. */
export function createFaults(random: Random): FaultSource {
  const active = new Map<string, { readonly fault: Fault; hits: number }>();
  const watches = new Set<RunningWatch>();
  let lastId = 0;
  let clockSkewMs = 0;

  const strike = <Effect extends FaultEffect>(
    request: RequestAttributes,
    belongs: (effect: FaultEffect) => effect is Effect,
  ): readonly Effect[] => {
    if (active.size === 0) return noEffects;
    const effects: Effect[] = [];
    for (const [id, entry] of active) {
      const { match, effect, probability = 1, times = Number.POSITIVE_INFINITY } = entry.fault;
      if (!belongs(effect) || !matchesRequest(match, request)) continue;
      if (probability < 1 && random.next() >= probability) continue;
      entry.hits += 1;
      if (entry.hits >= times) active.delete(id);
      effects.push(effect);
    }
    return effects;
  };

  const shown = (id: string, entry: { readonly fault: Fault; readonly hits: number }): ActiveFault => ({
    id,
    fault: entry.fault,
    get hits() {
      return entry.hits;
    },
    remove: () => void active.delete(id),
  });

  return {
    add(fault) {
      lastId += 1;
      const id = String(lastId);
      const entry = { fault, hits: 0 };
      active.set(id, entry);
      if (fault.effect.kind === "partition") {
        for (const watch of watches) if (matchesRequest(fault.match, watch.attributes)) watch.reset();
      }
      return shown(id, entry);
    },
    list: () => [...active].map(([id, entry]) => shown(id, entry)),
    clear() {
      active.clear();
      clockSkewMs = 0;
    },
    skewClock(ms) {
      clockSkewMs = ms;
    },
    get clockSkewMs() {
      return clockSkewMs;
    },
    forRequest: (request) => strike(request, isRequestEffect),
    forLine: (request) => strike(request, isLineEffect),
    watching(watch) {
      watches.add(watch);
      return () => void watches.delete(watch);
    },
  };
}
