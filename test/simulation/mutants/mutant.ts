import type { Driver } from "@millwright/core";
import type { ApiClient, WatchEvent } from "@millwright/kube";
import type { MockCloud } from "@millwright/provider-mock";
import type { ManagerOptions } from "@millwright/runtime";
import type { Alteration } from "../world/controller-process.ts";

/** A deliberate mistake of the controllers, which a simulation must find. */
export interface Mutant {
  readonly mistake: string;
  readonly profile: string;
  /** The first seed of the profile that finds it. */
  readonly foundBySeed: number;
  /** Makes the mistake in one life of one process, at a seam of the controllers: no production code knows of it. */
  readonly alteration: () => Alteration;
}

/** Replaces the client of the API server. */
export const withControl = (alter: (api: ApiClient) => Partial<ApiClient>): Alteration => ({
  manager(options: ManagerOptions) {
    const control = { ...options.control, ...alter(options.control) };
    return { ...options, control, target: control };
  },
});

/** Replaces what the driver sees of the cloud. */
export const withCloud = (alter: (cloud: MockCloud) => Partial<MockCloud>): Alteration => ({
  cloud: (cloud) => ({ ...cloud, ...alter(cloud) }),
});

/** Replaces calls of the driver. */
export const withDriver = (alter: (driver: Driver) => Partial<Driver>): Alteration => ({
  manager: (options) => ({ ...options, drivers: options.drivers.map((driver) => ({ ...driver, ...alter(driver) })) }),
});

/** Replaces events of the watches of one type, on their way to the cache; undefined: the event is lost. */
export const withEvents = (plural: string, alter: (event: WatchEvent) => WatchEvent | undefined): Alteration =>
  withControl((api) => ({
    async *watch(type, options, signal) {
      for await (const event of api.watch(type, options, signal)) {
        const altered = type.plural === plural && event.type !== "BOOKMARK" ? alter(event) : event;
        if (altered !== undefined) yield altered;
      }
    },
  }));

/** A field of an object, however deep; undefined where there is none. */
export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  return at;
}

/** A copy of an object with another value in one place. */
export function withFieldOf<T extends object>(value: T, path: readonly [string, ...string[]], to: unknown): T {
  const [key, next, ...rest] = path;
  const child: unknown = Reflect.get(value, key);
  const inner = typeof child === "object" && child !== null ? child : {};
  return { ...value, [key]: next === undefined ? to : withFieldOf(inner, [next, ...rest], to) };
}
