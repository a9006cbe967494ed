import { eventReasons } from "@millwright/core";
import type { ControllerContext } from "../../cluster/context.ts";
import type { CircuitEvents, OpenCircuit } from "./circuit-breaker.ts";

/** Reports circuits by events on the classes whose calls are held back, and in the log. */
export function reportCircuits({
  caches,
  namespace,
  events,
  log,
}: Pick<ControllerContext, "caches" | "namespace" | "events" | "log">): Pick<CircuitEvents, "opened" | "closed"> {
  const classesOf = ({ driver, secret, machineClass }: OpenCircuit) =>
    caches.classes.store
      .byIndex("secret", secret)
      .filter(({ metadata, provider }) => provider === driver && (machineClass ?? metadata.name) === metadata.name)
      .filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace === namespace);
  const subjectOf = ({ driver, secret, machineClass, code }: OpenCircuit) => ({
    driver,
    secret,
    code,
    ...(machineClass === undefined ? {} : { machineClass }),
  });
  return {
    opened(circuit) {
      const { secret, code, message } = circuit;
      log("warn", "Calls of a driver are held back: its cloud refuses them", {
        ...subjectOf(circuit),
        because: message,
      });
      for (const machineClass of classesOf(circuit))
        events.record(machineClass, {
          type: "Warning",
          reason: eventReasons.credentialRefused,
          message: `Calls with Secret ${secret} are held back, one at a time retries: ${code}: ${message}`,
        });
    },
    closed(circuit) {
      log("info", "Calls of a driver are no longer held back", subjectOf(circuit));
      for (const machineClass of classesOf(circuit))
        events.record(machineClass, {
          type: "Normal",
          reason: eventReasons.credentialAccepted,
          message: `Calls with Secret ${circuit.secret} are no longer held back`,
        });
    },
  };
}
