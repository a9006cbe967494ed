import type { MachineError } from "../driver/machine-error.ts";
import type { CheckClassResponse, CheckOutcome } from "../driver/messages.ts";

/** A check of a class: its name, and the requests that it makes. */
export interface NamedCheck {
  /** Short noun, unique among the checks of a driver. */
  readonly name: string;
  /**
   * Whether its requests need a right that only this check needs. Without that right the check is skipped; one whose right the driver needs anyway fails. Default false.
   */
  readonly hasOwnRight?: boolean;
  /** What was found. May throw what the requests throw. */
  readonly run: () => Promise<Omit<CheckOutcome, "name">>;
}

/** What {@link runChecks} runs. */
export interface RunChecksOptions {
  /** The check that all others depend on, such as that of the credentials: when it fails, the others are skipped. */
  readonly first: NamedCheck;
  /** Run at the same time; one that fails does not keep the others from running. */
  readonly others: readonly NamedCheck[];
  /** A check that repeats what the others have looked at, such as a dry run of a launch: it is skipped when one of them has failed. */
  readonly last?: NamedCheck;
  /** Makes an error of the contract of whatever a check threw. */
  readonly toError: (thrown: unknown, what: string) => MachineError;
  readonly signal: AbortSignal;
}

function explain({ name, hasOwnRight = false }: NamedCheck, { code, message }: MachineError): CheckOutcome {
  return hasOwnRight && code === "PermissionDenied"
    ? { name, status: "skipped", message, remedy: "Allow this request to have it checked." }
    : { name, status: "failed", message };
}

/**
 * Runs the checks of a class and lists their outcomes in order. A check that throws has failed.
 *
 * @throws the error of the contract when the signal aborts
 */
export async function runChecks({
  first,
  others,
  last,
  toError,
  signal,
}: RunChecksOptions): Promise<CheckClassResponse> {
  const outcomeOf = async (check: NamedCheck): Promise<CheckOutcome> => {
    try {
      return { name: check.name, ...(await check.run()) };
    } catch (thrown) {
      const error = toError(thrown, `checking: ${check.name}`);
      if (signal.aborted) throw error;
      return explain(check, error);
    }
  };
  const skipped = ({ name }: NamedCheck, failed: CheckOutcome): CheckOutcome => ({
    name,
    status: "skipped",
    message: `Not checked, because the check "${failed.name}" failed.`,
  });
  const outcome = await outcomeOf(first);
  const rest = [...others, ...(last === undefined ? [] : [last])];
  if (outcome.status === "failed") return { checks: [outcome, ...rest.map((check) => skipped(check, outcome))] };
  const outcomes = [outcome, ...(await Promise.all(others.map(outcomeOf)))];
  if (last === undefined) return { checks: outcomes };
  const failed = outcomes.find(({ status }) => status === "failed");
  return { checks: [...outcomes, failed === undefined ? await outcomeOf(last) : skipped(last, failed)] };
}
