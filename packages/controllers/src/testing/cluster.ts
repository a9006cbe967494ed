import { type Random, systemRandom } from "@millwright/base";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { createEventRecorder, type EventRecorder, type Log, noLog } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { createControlCaches, createTargetCaches } from "../cluster/caches.ts";
import type { ControllerContext, Target } from "../cluster/context.ts";
import { testNamespace } from "./builders.ts";

/** An API server in memory in virtual time, with the caches and the context that controllers run in. */
export interface TestCluster {
  readonly api: FakeApi;
  readonly clock: VirtualClock;
  /** The context of a fresh process: caches of its own. */
  readonly newContext: () => ControllerContext & { readonly target: Target };
  /** Keeps the caches of a context up to date until the signal aborts; resolves when they have their first lists. */
  readonly run: (context: ControllerContext, signal: AbortSignal) => Promise<void>;
}

/** Makes a {@link TestCluster} that is control and target cluster at once. */
export function createTestCluster(options: { readonly log?: Log; readonly random?: Random } = {}): TestCluster {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const log = options.log ?? noLog;
  const shared = { api, clock, random: options.random ?? systemRandom, log };
  const noEvents: EventRecorder = {
    ...createEventRecorder({ ...shared, component: "test" }),
    record: () => undefined,
  };
  return {
    api,
    clock,
    newContext: () => ({
      namespace: testNamespace,
      control: api,
      caches: createControlCaches({ ...shared, namespace: testNamespace }),
      target: { api, caches: createTargetCaches(shared) },
      events: noEvents,
      clock,
      random: shared.random,
      log,
    }),
    async run({ caches, target }, signal) {
      const informers = [...Object.values(caches), ...Object.values(target?.caches ?? {})];
      for (const informer of informers) void informer.run(signal);
      await Promise.all(informers.map((informer) => informer.synced(signal)));
    },
  };
}
