import type { Timer } from "@millwright/base";
import { stringAt } from "../json/json.ts";
import { namespaceOf } from "../objects/stored-object.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { runUnlessUnstored } from "./deferred-run.ts";

/** How long events are kept: an hour after they were last seen, as kube-apiserver's `--event-ttl`. */
const eventTtlMs = 3_600_000;
const checkEveryMs = 300_000;

/** Deletes old events, so that they do not fill a cluster that runs for days. */
export function expireEvents({ store, clock }: ServerContext): () => void {
  let timer: Timer;
  const removeOld = (): void => {
    const oldest = clock.now().getTime() - eventTtlMs;
    for (const event of store.list("events.")) {
      const seen = stringAt(event, "series", "lastObservedTime") ?? stringAt(event, "lastTimestamp");
      const times = [seen, event.metadata.creationTimestamp]
        .map((time) => Date.parse(time ?? ""))
        .filter(Number.isFinite);
      if (Math.max(...times, 0) < oldest) store.remove("events.", namespaceOf(event), event.metadata.name);
    }
  };
  const check = (): void => {
    runUnlessUnstored(removeOld);
    timer = clock.setTimer(checkEveryMs, check);
  };
  timer = clock.setTimer(checkEveryMs, check);
  return () => timer.cancel();
}
