import type { BudgetRoom, DeletionBudget, DeletionCause } from "@millwright/controllers";
import { ownMetricNames as names } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

const causes: readonly DeletionCause[] = ["scale-down", "rollout", "remediation", "autoscaler", "parent", "machine"];

/** Adds the metrics of the deletion budget: what it holds and leaves, and what it allowed. A series that is there before the first deletion has an increase with it. */
export function measureDeletions(
  registry: Registry,
  namespace: string,
  budget: Pick<DeletionBudget, "heldByCause" | "begunByCause" | "rooms">,
): void {
  const { gauge, counter } = registerIn(registry);
  const byCause = ["namespace", "cause"] as const;
  gauge(names.heldDeletions, "Machines whose deletion is held by the deletion budget.", byCause, function* () {
    for (const cause of [...causes, "creation"]) yield [{ namespace, cause }, 0];
    for (const [cause, count] of budget.heldByCause()) yield [{ namespace, cause }, count];
  });
  counter(names.deletions, "Deletions of machines that began since the process started.", byCause, function* () {
    for (const cause of [...causes, "orphan-vm"]) yield [{ namespace, cause }, 0];
    for (const [cause, count] of budget.begunByCause()) yield [{ namespace, cause }, count];
  });
  const perRoom = (valueOf: (room: BudgetRoom) => number) => () =>
    budget.rooms().map((room) => [{ rule: room.rule, ...room.scope }, valueOf(room)] as const);
  const ofRooms = ["rule", "kind", "name"] as const;
  gauge(
    names.deletionsRemaining,
    "Machines that may still be deleted within the hour without an approval.",
    ofRooms,
    perRoom(({ remaining }) => remaining),
  );
  gauge(
    names.deletionsLimit,
    "Machines that may be deleted within an hour.",
    ofRooms,
    perRoom(({ limit }) => limit),
  );
}
