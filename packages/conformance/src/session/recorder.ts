import { isMachineError } from "@millwright/core";
import { replyProblems } from "./reply-problems.ts";
import type { SecretScan } from "./secret-scan.ts";
import type { Violations } from "./violations.ts";

const longestMessageBytes = 4_096;

/** Judges everything that leaves a driver by the rules that hold for all calls. */
export interface Recorder {
  reply(method: string, reply: unknown): void;
  error(method: string, error: unknown): void;
  log(method: string, message: string, fields: unknown): void;
  /** Anything else that a driver prints, such as a metric. */
  output(what: string, value: unknown): void;
}

/** Where an error differs from the contract, as ends of the sentence "An error of METHOD …". */
function errorProblems(error: unknown): readonly string[] {
  if (!isMachineError(error)) {
    const name = error instanceof Error ? error.name : typeof error;
    return [`is not a MachineError but ${name}: ${error instanceof Error ? error.message.slice(0, 200) : ""}`];
  }
  const problems: string[] = [];
  const { code, message, retryAfterMs } = error;
  if (code === "OK") problems.push("has the code OK");
  const bytes = Buffer.byteLength(message);
  if (message.trim() === "") problems.push(`with code ${code} has no message`);
  if (bytes > longestMessageBytes) problems.push(`with code ${code} has a message of ${bytes} bytes; at most 4 KiB`);
  if (retryAfterMs !== undefined && !(retryAfterMs >= 0 && Number.isFinite(retryAfterMs)))
    problems.push(`with code ${code} has the retryAfterMs ${retryAfterMs}`);
  return problems;
}

/** Creates a recorder that adds to `violations`. */
export function createRecorder(violations: Violations, secrets: SecretScan): Recorder {
  const scan = (what: string, value: unknown): void => {
    for (const key of secrets.find(value))
      violations.add("secrets.never-printed", `${what} contains the value of "${key}".`);
  };
  return {
    reply(method, reply) {
      for (const problem of replyProblems(method, reply))
        violations.add("calls.replies-are-valid", `The response of ${method} ${problem}.`);
      scan(`A response of ${method}`, reply);
    },
    error(method, error) {
      for (const problem of errorProblems(error))
        violations.add("errors.are-machine-errors", `An error of ${method} ${problem}.`);
      if (!(error instanceof Error)) return scan(`An error of ${method}`, error);
      scan(`An error of ${method}`, error.message);
      const state: unknown = Reflect.get(error, "lastKnownState");
      if (state !== undefined) scan(`The lastKnownState of an error of ${method}`, state);
    },
    log(method, message, fields) {
      scan(`A log line of ${method}`, message);
      scan(`A field of a log line of ${method}`, fields);
    },
    output: scan,
  };
}
