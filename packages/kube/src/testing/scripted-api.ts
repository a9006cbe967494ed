import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect } from "vitest";
import { createReflector } from "../cache/reflector.ts";
import type { ReflectorOptions } from "../cache/reflector.ts";
import { createStore } from "../cache/store.ts";
import type { ApiClient } from "../client/api-client.ts";
import { ApiError } from "../client/api-error.ts";
import type { ListOptions, WatchOptions } from "../client/call-options.ts";
import type { WatchEvent } from "../client/watch.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import type { KubeObject, ObjectList, ObjectRef } from "../objects/kube-object.ts";

/** The server's answer about a version that it has forgotten. */
export const gone = () => new ApiError({ status: 410, reason: "Expired", message: "too old" });

/** What a connection that was reset leads to. */
export const broken = () => new ApiError({ status: 0, reason: "Unreachable", message: "reset" });

/** A node at a version. */
export const node = (name: string, version: number): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: String(version) },
});

/** A page of a list, and the token of the next one. */
export const page = (items: KubeObject[], version: number, next?: string): ObjectList => ({
  items,
  metadata: { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) },
});

type WatchStep = WatchEvent | Error | "end";

/** An API whose answers are written down in advance; a watch that has nothing left waits for its end. */
export function scripted(
  lists: (ObjectList | Error | ((options: ListOptions) => ObjectList))[],
  watches: (readonly (WatchStep | (() => Promise<WatchStep>))[])[],
) {
  const listed: ListOptions[] = [];
  const reads: string[] = [];
  /** What a read finds instead of what was listed and watched last: versions by name; undefined where it does not exist. */
  const existing = new Map<string, number | undefined>();
  const known = new Map<string, string | undefined>();
  const watched: WatchOptions[] = [];
  let underway = 0;
  const api: Pick<ApiClient, "get" | "list" | "watch" | "history"> = {
    async get<T>(_: unknown, { name }: ObjectRef) {
      reads.push(name);
      await Promise.resolve();
      const version = existing.has(name) ? existing.get(name) : known.get(name);
      if (version === undefined)
        throw new ApiError({ status: 404, reason: "NotFound", message: "not found", details: { name } });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return node(name, Number(version)) as KubeObject & T;
    },
    async list<T>(_: unknown, options: ListOptions = {}) {
      expect(++underway).toBe(1);
      listed.push(options);
      await Promise.resolve();
      underway--;
      const next = lists.length > 1 ? lists.shift() : lists[0];
      if (next instanceof Error) throw next;
      const answer = typeof next === "function" ? next(options) : next;
      known.clear();
      for (const { metadata } of answer?.items ?? []) known.set(metadata.name ?? "", metadata.resourceVersion);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return answer as ObjectList<never> & T;
    },
    async *watch(_, options, signal) {
      watched.push(options);
      signal.throwIfAborted();
      if (options.sendInitialEvents === true) known.clear();
      for (const step of watches.shift() ?? []) {
        const event = await (typeof step === "function" ? step() : step);
        if (event === "end") return;
        if (event instanceof Error) throw event;
        options.onAnswer?.();
        const { name = "", resourceVersion } = event.object.metadata;
        known.set(name, event.type === "DELETED" ? undefined : resourceVersion);
        yield event;
      }
      signal.throwIfAborted();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  return { api, lists, listed, reads, watched, existing };
}

/** A reflector of what was written down, in virtual time. */
export function start(script: ReturnType<typeof scripted>, more: Partial<ReflectorOptions<KubeObject>> = {}) {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const store = createStore();
  const reflector = createReflector({
    api: script.api,
    type: nodeResource,
    store,
    clock,
    random: seededRandom(1),
    streamingList: false,
    ...more,
  });
  const running = reflector.run(stop.signal);
  const end = async () => {
    stop.abort(new Error("done"));
    await running;
  };
  return { clock, store, reflector, end, ...script };
}

/** The names of objects. */
export const names = (objects: readonly KubeObject[]) => objects.map((object) => object.metadata.name);

/** A bookmark at a version. */
export const bookmark = (version: number, annotations: Record<string, string> = {}): WatchEvent => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version), annotations } },
});

/** An event about a node that is new. */
export const added = (name: string, version: number): WatchEvent => ({ type: "ADDED", object: node(name, version) });
