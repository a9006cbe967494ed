import { type Clock, MachineError, type Random, type Timer } from "@millwright/core";
import { allPages, type Asking } from "@millwright/core/driver-kit";
import type { Operation } from "./operation.ts";
import type { GceApi, Place } from "./requests.ts";

/** Options of {@link createOperationWatch}. */
export interface OperationWatchOptions {
  readonly random: Pick<Random, "next">;
  /** Between two looks, milliseconds: while operations come or end. Grows to ten times as much while nothing happens. */
  readonly pollMs: number;
}

/**
 * Waits until an operation is done. All who wait for operations of one zone share one poll.
 *
 * @throws MachineError Unknown when Compute Engine does not know the operation any more; what the requests throw; the signal's reason when it aborts. The operation goes on all the same.
 */
export type OperationWatch = (name: string, asking: Asking) => Promise<Operation>;

/** So many operations are looked up one by one. */
const mostGets = 3;
/** Names in one filter. They are about 55 characters long, and the filter is part of an address. */
const mostNames = 50;
const growth = 1.5;
const longestPause = 10;
/** Part of a pause that is random. */
const jitter = 0.5;

interface Waiter {
  readonly name: string;
  readonly resolve: (operation: Operation) => void;
  readonly reject: (reason: unknown) => void;
}

/** The requests that a watch makes. */
type OperationRequests = Pick<GceApi, "getOperation" | "listOperations">;

/** Creates the watch of a zone. It sends nothing while no one waits. */
export function createOperationWatch(
  api: OperationRequests,
  place: Place,
  { random, pollMs }: OperationWatchOptions,
): OperationWatch {
  const waiters = new Set<Waiter>();
  let pauseMs = pollMs;
  /** The next look; undefined while one is under way, and while no one waits. */
  let next: { readonly timer: Timer; readonly dueMs: number } | undefined;
  /** Ends the look that is under way. */
  let looking: AbortController | undefined;

  const schedule = (clock: Clock): void => {
    if (looking !== undefined || waiters.size === 0) return;
    const waitMs = pauseMs * (1 - jitter * random.next());
    const dueMs = clock.monotonicMs() + waitMs;
    if (next !== undefined && next.dueMs <= dueMs) return;
    next?.timer.cancel();
    next = { timer: clock.setTimer(waitMs, () => void look(clock)), dueMs };
  };

  const look = async (clock: Clock): Promise<void> => {
    next = undefined;
    looking = new AbortController();
    const asked = [...waiters];
    try {
      const found = await endedOf(api, place, new Set(asked.map(({ name }) => name)), looking.signal);
      for (const { name, resolve, reject } of asked) {
        const operation = found.get(name);
        if (operation === "unknown") reject(forgotten(name, place));
        else if (operation !== undefined) resolve(operation);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
    looking = undefined;
    const isQuiet = asked.every((waiter) => waiters.has(waiter)) && asked.length === waiters.size;
    pauseMs = isQuiet ? Math.min(pauseMs * growth, pollMs * longestPause) : pollMs;
    schedule(clock);
  };

  return (name, { clock, signal }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => {
        signal.removeEventListener("abort", abandon);
        waiters.delete(waiter);
        if (waiters.size > 0) return;
        next?.timer.cancel();
        next = undefined;
      };
      const abandon = (): void => {
        leave();
        if (waiters.size === 0) looking?.abort(signal.reason);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        name,
        resolve: (operation) => {
          leave();
          resolve(operation);
        },
        reject: (reason) => {
          leave();
          reject(reason);
        },
      };
      signal.addEventListener("abort", abandon, { once: true });
      waiters.add(waiter);
      pauseMs = pollMs;
      schedule(clock);
    });
}

/** Those that are done, or that Compute Engine does not know. The others go on. */
async function endedOf(
  api: OperationRequests,
  place: Place,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Operation | "unknown">> {
  const list = async (filter: string): Promise<readonly Operation[]> =>
    (await allPages("Compute Engine", (token) => api.listOperations(place, filter, token, signal))).flat();

  const found = new Map<string, Operation | "unknown">();
  const asked = new Set(names);
  // Of many only those are of interest that have ended: the list of those that go on has all of them in one request.
  if (asked.size > mostNames) for (const { name } of await list('status != "DONE"')) asked.delete(name);
  if (asked.size > mostGets) {
    const listed = await Promise.all(chunksOf([...asked], mostNames).map((chunk) => list(namesFilter(chunk))));
    for (const operation of listed.flat()) found.set(operation.name, operation);
  }
  // What a list does not show may have been too young for it, or too old.
  const missing = [...asked].filter((name) => !found.has(name));
  const each = await Promise.all(missing.map((name) => api.getOperation(place, name, signal)));
  for (const [index, name] of missing.entries()) found.set(name, each[index] ?? "unknown");
  return new Map([...found].filter(([, operation]) => operation === "unknown" || operation.isDone));
}

const namesFilter = (names: readonly string[]): string => names.map((name) => `(name = "${name}")`).join(" OR ");

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

const forgotten = (name: string, { project, zone }: Place): MachineError =>
  new MachineError(
    "Unknown",
    `Compute Engine no longer has operation ${name} in ${zone} (${project}), so its outcome is unknown`,
  );
