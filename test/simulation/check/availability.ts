import type { Truth } from "../world/truth.ts";
import type { World } from "../world/world.ts";

/** How long the controllers may take until they have what was declared last. */
const graceMs = 15 * 60_000;
/** As the strategy of the deployment has it. */
const maxUnavailable = 1;

/** Reports when fewer machines are available than promised; only for worlds in which none fails by itself. */
export function watchAvailability(world: World, truth: Truth, report: (text: string) => void): void {
  const { scheduler } = world;
  const desired: { readonly replicas: number; untilMs: number }[] = [];
  const promised = (): number => {
    const atMs = scheduler.nowMs();
    const replicas = truth.pool()?.spec.replicas ?? 0;
    const last = desired.at(-1);
    // It held until now, however long nothing happened.
    if (last !== undefined) last.untilMs = atMs;
    if (last?.replicas !== replicas) desired.push({ replicas, untilMs: atMs });
    while ((desired[0]?.untilMs ?? atMs) < atMs - graceMs) desired.shift();
    // What was there before the first machines came up.
    if (atMs < graceMs) return 0;
    return Math.min(...desired.map((each) => each.replicas)) - maxUnavailable;
  };
  world.server.objects.subscribe(undefined, ({ collection }) => {
    if (!/^machine(?:s|deployments)\./.test(collection)) return;
    const least = promised();
    const available = truth
      .machines()
      .filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined && status?.currentStatus?.phase === "Running",
      ).length;
    if (available < least) report(`${available} machines are available; ${least} are promised`);
  });
}
