import { eventReasons } from "@millwright/core/machine-api";
import type { ControllerContext } from "../../cluster/context.ts";
import type { CircuitEvents, OpenCircuit } from "./circuit-breaker.ts";

/** Whether people have to change the credential: of a cloud that limits requests, or has an outage, every credential is valid. */
const isRefusal = ({ code }: OpenCircuit): boolean => code === "Unauthenticated" || code === "PermissionDenied";

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
      const why = isRefusal(circuit) ? "its cloud refuses them" : "its cloud limits requests, or is not available";
      log("warn", `Calls of a driver are held back: ${why}`, {
        ...subjectOf(circuit),
        because: message,
      });
      for (const machineClass of classesOf(circuit))
        events.record(machineClass, {
          type: "Warning",
          reason: isRefusal(circuit) ? eventReasons.credentialRefused : eventReasons.cloudUnavailable,
          message: `Calls with Secret ${secret} are held back, one at a time retries: ${code}: ${message}`,
        });
    },
    closed(circuit) {
      log("info", "Calls of a driver are no longer held back", subjectOf(circuit));
      for (const machineClass of classesOf(circuit))
        events.record(machineClass, {
          type: "Normal",
          reason: isRefusal(circuit) ? eventReasons.credentialAccepted : eventReasons.cloudAvailable,
          message: `Calls with Secret ${circuit.secret} are no longer held back`,
        });
    },
  };
}
