import type { OperationKind, Operations } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

const kinds: readonly OperationKind[] = ["create", "initialize", "find", "delete"];
const states = ["waiting", "running", "pending", "failed"] as const;

/** Adds the gauges of operations of machines by their state, among those that are not done, and of credentials whose calls are held back. */
export function measureOperations(
  registry: Registry,
  namespace: string,
  operations: Pick<Operations, "unfinished" | "openCircuits">,
): void {
  const { gauge } = registerIn(registry);
  gauge(
    ownMetricNames.operations,
    "Operations of machines that call a driver, by their state.",
    ["operation", "state"],
    function* () {
      for (const operation of kinds) for (const state of states) yield [{ operation, state }, 0];
      for (const { kind, state } of operations.unfinished()) yield [{ operation: kind, state }, 1];
    },
  );
  gauge(
    ownMetricNames.circuitOpen,
    "Whether calls with a credential are held back because its cloud refuses them.",
    ["namespace", "driver", "secret"],
    () => {
      // A credential may have a circuit for each class.
      const credentials = new Map(operations.openCircuits().map((each) => [`${each.driver} ${each.secret}`, each]));
      return [...credentials.values()].map(({ driver, secret }) => [{ namespace, driver, secret }, 1]);
    },
  );
}
