import { isApiError, isGone } from "../client/api-error.ts";
import { type Log, messageOf } from "../log.ts";

/** Logs the failures of lists and watches: a warning for the first of each cause in a series, debug lines for the others. */
export interface FailureLog {
  /** @param isFirst whether a series begins: there was a success before */
  add(error: unknown, isFirst: boolean): void;
}

/** Creates the log of one resource. */
export function createFailureLog(log: Log, resource: string): FailureLog {
  /** By status and reason: a server may first be unreachable and then not serve the kind. */
  const causes = new Set<string>();
  return {
    add(error, isFirst) {
      if (isFirst) causes.clear();
      const cause = isApiError(error) ? `${error.status} ${error.reason}` : "";
      const isNew = !isGone(error) && !causes.has(cause);
      causes.add(cause);
      const fields = { resource, error: messageOf(error) };
      log(isNew ? "warn" : "debug", "A list or watch failed and will be retried", fields);
    },
  };
}
