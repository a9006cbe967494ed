import type { Machine } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import { createDrainInterests } from "../drain/drain-interests.ts";
import { nodesOf } from "../drain/decide-drain.ts";
import { createEvictionQueue } from "@millwright/kube";
import { createPodKnowledge } from "../drain/known-pods.ts";
import { createObservedDrains } from "../drain/observed-drains.ts";
import { createVolumeIds } from "../drain/volume-ids.ts";
import type { Live } from "../model/live.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { isDrainCarriedOut } from "./drain/drain-carried-out.ts";
import type { DrainMemory } from "./drain/observe-node-drain.ts";
import { createOperations, launchLimitsOf, type Operations } from "./operations/operations.ts";
import { reportCircuits } from "./operations/report-circuits.ts";
import { createNodeReads } from "./state/node-reads.ts";
import { createReportedProblems } from "./state/reported-problems.ts";
import { createRestoredTaints } from "./state/restored-taints.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

/** Without a target cluster no pod is evicted. */
const noEvictions = { view: () => undefined };

/** What the controller remembers between reconciles; all of it may be lost at any time. */
export type MachineMemory = ReturnType<typeof createMachineMemory>;

/** Makes the memory of a controller. It sends requests once calls are started, or pods evicted. */
export function createMachineMemory(
  context: ControllerContext,
  settings: Live<MachineSettings>,
  wrapOperations: (operations: Operations) => Operations,
) {
  const { clock, random, target } = context;
  const limits = { current: () => launchLimitsOf(settings.current()) };
  const operations = wrapOperations(createOperations(clock, limits, reportCircuits(context)));
  const reported = createReportedProblems();
  const nodeReads = createNodeReads(clock);
  const restoredTaints = createRestoredTaints(clock);
  const interests = createDrainInterests();
  const volumeIds = createVolumeIds(clock);
  const evictions = target === undefined ? undefined : createEvictionQueue({ api: target.api, clock, random });
  const podKnowledge = target === undefined ? undefined : createPodKnowledge(target.caches.pods);
  const observedDrains = createObservedDrains(clock);
  const drains: DrainMemory = { evictions: evictions ?? noEvictions, volumeIds, podKnowledge, observedDrains };
  return {
    /** Driver calls. */
    operations,
    reported,
    nodeReads,
    restoredTaints,
    interests,
    volumeIds,
    evictions,
    podKnowledge,
    drains,
    /** Records what is known of the drain of a machine, by its key; `undefined`: there is no machine. */
    noteDrain(key: string, snapshot: MachineSnapshot | undefined): void {
      interests.note(key, snapshot?.drain);
      podKnowledge?.note(key, snapshot?.drain === undefined ? [] : nodesOf(snapshot.drain));
      observedDrains.note(key, isDrainCarriedOut(snapshot));
    },
    /** Acknowledges the outcome of a driver call that was stored. */
    acknowledge: ({ metadata }: Machine, operation: MachineSnapshot["operation"]): void =>
      operations.acknowledge(metadata.uid ?? "", operation),
    /** Aborts driver calls and sends no more evictions; resolves when all calls have ended. */
    async close(): Promise<void> {
      await Promise.all([operations.close(), volumeIds.close(), evictions?.close()]);
    },
  };
}
