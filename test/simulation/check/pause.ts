import type { Truth } from "../world/truth.ts";
import { namespace } from "../world/controller-process.ts";
import { poolName, type World } from "../world/world.ts";

/** Caches may lag behind a pause for so long. */
const graceMs = 2 * 60_000;

/** Watches that a deployment that is paused is not rolled out. */
export function watchPause(world: World, truth: Truth, report: (text: string) => void): void {
  const { nowMs } = world.scheduler;
  let sinceMs: number | undefined;
  world.server.objects.subscribe(undefined, ({ collection, type, object }) => {
    if (collection.startsWith("machinedeployments.")) {
      sinceMs = truth.pool()?.spec.paused === true ? (sinceMs ?? nowMs()) : undefined;
      return;
    }
    if (!collection.startsWith("machinesets.") || type !== "ADDED" || world.restores() > 0) return;
    // One that people restore.
    if (JSON.stringify(object.metadata["managedFields"]).includes('"manager":"people"')) return;
    if (object.metadata.namespace !== namespace || !object.metadata.name.startsWith(`${poolName}-`)) return;
    if (sinceMs !== undefined && nowMs() - sinceMs > graceMs)
      report(`set ${object.metadata.name} is created although the deployment is paused`);
  });
}
