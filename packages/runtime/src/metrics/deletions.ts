import type { BudgetRoom, DeletionBudget, DeletionCause } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core/machine-api";
import { Counter, Gauge, type Registry } from "prom-client";

/** All causes: a series that is there before the first deletion has an increase with it. */
const causes: readonly DeletionCause[] = [
  "scale-down",
  "rollout",
  "remediation",
  "autoscaler",
  "parent",
  "machine",
  "orphan-vm",
];

/** Adds the metrics of the deletion budget: what it holds and leaves, counted at each scrape, and what it allowed. */
export function measureDeletions(
  registry: Registry,
  namespace: string,
  budget: Pick<DeletionBudget, "heldByCause" | "begunByCause" | "rooms">,
): void {
  const held = new Gauge({
    name: ownMetricNames.heldDeletions,
    help: "Machines whose deletion is held by the deletion budget.",
    labelNames: ["namespace", "cause"],
    registers: [registry],
    collect() {
      held.reset();
      for (const cause of causes) if (cause !== "orphan-vm") held.set({ namespace, cause }, 0);
      held.set({ namespace, cause: "creation" }, 0);
      for (const [cause, count] of budget.heldByCause()) held.set({ namespace, cause }, count);
    },
  });
  const begun = new Counter({
    name: ownMetricNames.deletions,
    help: "Deletions of machines that began since the process started.",
    labelNames: ["namespace", "cause"],
    registers: [registry],
    collect() {
      begun.reset();
      for (const cause of causes) begun.inc({ namespace, cause }, 0);
      for (const [cause, count] of budget.begunByCause()) begun.inc({ namespace, cause }, count);
    },
  });
  measureRooms(registry, budget);
}

function measureRooms(registry: Registry, budget: Pick<DeletionBudget, "rooms">): void {
  const labelNames = ["rule", "kind", "name"] as const;
  const gauge = (name: string, help: string, valueOf: (room: BudgetRoom) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const room of budget.rooms()) this.set({ rule: room.rule, ...room.scope }, valueOf(room));
      },
    });
  gauge(
    ownMetricNames.deletionsRemaining,
    "Machines that may still be deleted within the hour without an approval.",
    ({ remaining }) => remaining,
  );
  gauge(ownMetricNames.deletionsLimit, "Machines that may be deleted within an hour.", ({ limit }) => limit);
}
