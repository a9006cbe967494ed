import type { Clock } from "@millwright/core";
import { createBatch } from "@millwright/core/driver-kit";
import { readSdkFailure, toMachineError } from "./errors.ts";

/** A resource, as far as it matters whether something goes on with it. */
export interface WatchedResource {
  readonly name?: string;
  readonly provisioningState?: string;
}

/** How resources of one type are read. */
export interface ResourceReader<Resource> {
  readonly get: (group: string, name: string, signal: AbortSignal) => Promise<Resource | undefined>;
  /** The pages of the list of a resource group. */
  readonly list: (group: string, signal: AbortSignal) => Promise<readonly (readonly Resource[])[]>;
}

/** Options of {@link createResourceWatch}. */
export interface ResourceWatchOptions {
  readonly clock: Clock;
  /** Between two looks, milliseconds, where there is little to read. */
  readonly pollMs: number;
}

/**
 * Resolves when nothing goes on with a resource any more, with the resource; undefined when there is none. All who wait for resources of one type and group share the looks.
 *
 * Rejects with the reason of the signal, and with what the looks fail of when that does not pass.
 */
export type ResourceWatch<Resource> = (
  group: string,
  name: string,
  signal: AbortSignal,
) => Promise<Resource | undefined>;

/**
 * A pause for each read, milliseconds. Azure Resource Manager gives a subscription and principal 25 reads a second, and 250 more after a rest (Microsoft Learn, "Understand how Azure Resource Manager
 * throttles requests"). A type of resources that is watched uses 10.
 */
const pauseForEachReadMs = 100;
/** Resources that are read one by one even where their list has a single page: the list of a large group is long. */
const fewResources = 3;
/** Resources missing from a list that are read in one look. */
const mostMissingRead = 50;
/** Looks in a row that may fail before all who wait do. */
const mostFailures = 4;
/** Longer than this no look is put off, milliseconds: the calls fail, and the controller shows why. */
const longestPauseMs = 60_000;

const changingStates: ReadonlySet<string> = new Set(["creating", "updating", "deleting"]);

const isChanging = ({ provisioningState = "" }: WatchedResource): boolean =>
  changingStates.has(provisioningState.toLowerCase());

/** What a look has found out about a resource. `unknown`: nothing, and another one follows. */
type Seen<Resource> = Resource | "unknown";

/** Creates the watch over one type of resources. It reads only while there are waits. */
export function createResourceWatch<Resource extends WatchedResource>(
  reader: ResourceReader<Resource>,
  options: ResourceWatchOptions,
): ResourceWatch<Resource> {
  const groups = new Map<string, ReturnType<typeof createBatch<Seen<Resource>>>>();

  const looksAt = (group: string): ReturnType<typeof createBatch<Seen<Resource>>> => {
    let pauseMs = options.pollMs;
    let pages = 1;
    let failures = 0;

    const read = async (names: readonly string[], signal: AbortSignal): Promise<Map<string, Seen<Resource>>> => {
      const readAll = async (some: readonly string[]): Promise<readonly Resource[]> =>
        (await Promise.all(some.map((name) => reader.get(group, name, signal)))).flatMap((found) => found ?? []);
      if (names.length <= Math.max(fewResources, pages)) {
        pauseMs = pauseFor(names.length);
        return byName(await readAll(names));
      }
      const list = await reader.list(group, signal);
      const seen = byName(list.flat());
      pages = list.length;
      // While others go, a resource may slip from a page that is still to come to one that was read.
      const missing = pages > 1 ? names.filter((name) => !seen.has(name)) : [];
      const nextMissing = missing.slice(0, mostMissingRead);
      for (const [name, resource] of byName(await readAll(nextMissing))) seen.set(name, resource);
      for (const name of missing.slice(mostMissingRead)) seen.set(name, "unknown");
      pauseMs = pauseFor(pages + nextMissing.length);
      return seen;
    };
    const byName = (resources: readonly Resource[]): Map<string, Seen<Resource>> =>
      new Map(resources.map((resource) => [(resource.name ?? "").toLowerCase(), resource]));
    const pauseFor = (reads: number): number => Math.max(options.pollMs, reads * pauseForEachReadMs);

    return createBatch<Seen<Resource>>({
      maxKeys: 100_000,
      windowMs: () => pauseMs,
      ask: async (names, signal) => {
        try {
          const found = await read(names, signal);
          failures = 0;
          return found;
        } catch (error) {
          failures++;
          pauseMs = Math.max(options.pollMs * 2 ** failures, readSdkFailure(error).retryAfterMs ?? 0);
          if (signal.aborted || !passes(error, signal) || failures > mostFailures || pauseMs > longestPauseMs) {
            failures = 0;
            pauseMs = options.pollMs;
            throw error;
          }
          return new Map(names.map((name) => [name, "unknown"]));
        }
      },
    });
  };

  return async (group, name, signal) => {
    const look = groups.get(group) ?? looksAt(group);
    groups.set(group, look);
    for (;;) {
      const seen = await look(name.toLowerCase(), { clock: options.clock, signal });
      if (seen === "unknown" || (seen !== undefined && isChanging(seen))) continue;
      return seen;
    }
  };
}

/** Whether a look that failed may succeed later: what was begun goes on in Azure all the same. */
function passes(error: unknown, signal: AbortSignal): boolean {
  const { code } = toMachineError(error, signal, "looking at resources");
  return code === "Unavailable" || code === "DeadlineExceeded";
}
