import { simulationStart } from "../world/scheduler.ts";
import type { Truth } from "../world/truth.ts";
import { canary, type World } from "../world/world.ts";

/** So long a machine may be without an explanation. */
const graceMs = 3 * 60_000;

/** Reports each secret that appears outside of its Secret. */
export function watchSecrets(world: World, report: (text: string) => void): void {
  world.transcript.subscribe((who, what) => {
    if (what.includes(canary)) report(`${who} writes user data into its log`);
  });
  world.server.objects.subscribe(undefined, ({ collection, object }) => {
    if (collection.startsWith("secrets.") || !JSON.stringify(object).includes(canary)) return;
    report(`user data is in ${collection} ${object.metadata.name}`);
  });
}

/** Reports machines that do not run and whose status does not give a reason. */
export function checkExplanations(world: World, truth: Truth, report: (text: string) => void): void {
  const nowMs = simulationStart.getTime() + world.scheduler.nowMs();
  const isOlder = (time: string | undefined): boolean => nowMs - Date.parse(time ?? "") > graceMs;
  for (const { metadata, status } of truth.machines()) {
    const { phase, lastUpdateTime } = status?.currentStatus ?? {};
    if (phase === "Running" || !isOlder(metadata.creationTimestamp) || !isOlder(lastUpdateTime)) continue;
    if ((status?.lastOperation?.description ?? "") === "")
      report(`machine ${metadata.name} is ${phase ?? "without a phase"} and its status has no reason`);
  }
}
