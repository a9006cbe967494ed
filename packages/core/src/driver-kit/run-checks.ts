import type { MachineError } from "../driver/machine-error.ts";
import type { CheckClassResponse, CheckOutcome } from "../driver/messages.ts";

/** A check of a class: its name, and the requests that it makes. */
export interface NamedCheck {
  /** Short noun, unique among the checks of a driver. */
  readonly name: string;
  /** What was found. May throw what the requests throw. */
  readonly run: () => Promise<Omit<CheckOutcome, "name">>;
}

/** What {@link runChecks} runs. */
export interface RunChecksOptions {
  /** The check that all others depend on, such as that of the credentials: when it fails, the others are skipped. */
  readonly first: NamedCheck;
  /** Run at the same time; one that fails does not keep the others from running. */
  readonly others: readonly NamedCheck[];
  /** Makes an error of the contract of whatever a check threw. */
  readonly toError: (thrown: unknown, what: string) => MachineError;
  readonly signal: AbortSignal;
}

function explain(name: string, { code, message }: MachineError): CheckOutcome {
  // Reading what a class names often takes rights that creating a VM does not take.
  return code === "PermissionDenied"
    ? { name, status: "skipped", message, remedy: "Allow this request, so that it can be checked." }
    : { name, status: "failed", message };
}

/**
 * Runs the checks of a class and lists their outcomes in order. A check that throws has failed; one that lacks a right to read has been skipped, because creating a VM may not need that right.
 *
 * @throws the error of the contract when the signal aborts
 */
export async function runChecks({ first, others, toError, signal }: RunChecksOptions): Promise<CheckClassResponse> {
  const outcomeOf = async ({ name, run }: NamedCheck): Promise<CheckOutcome> => {
    try {
      return { name, ...(await run()) };
    } catch (thrown) {
      const error = toError(thrown, name.toLowerCase());
      if (signal.aborted) throw error;
      return explain(name, error);
    }
  };
  const outcome = await outcomeOf(first);
  const gate: CheckOutcome = outcome.status === "skipped" ? { ...outcome, status: "failed" } : outcome;
  if (gate.status !== "failed") return { checks: [gate, ...(await Promise.all(others.map(outcomeOf)))] };
  const message = `Not checked, because the check "${gate.name}" failed.`;
  return { checks: [gate, ...others.map(({ name }): CheckOutcome => ({ name, status: "skipped", message }))] };
}
