import type { MachineError } from "../driver/machine-error.ts";
import type { CheckClassResponse, CheckOutcome } from "../driver/messages.ts";

/** A check of a class: its name, and the requests that it makes. */
export interface NamedCheck {
  /** Short noun, unique among the checks of a driver. */
  readonly name: string;
  /**
   * Whether only this check needs the permission for its requests. The check is then skipped without the permission instead of failing. Default false.
   */
  readonly hasOwnPermission?: boolean;
  /** The outcome. May throw the errors of the requests. */
  readonly run: () => Promise<Omit<CheckOutcome, "name">>;
}

/** What {@link runChecks} runs. */
export interface RunChecksOptions {
  /** The check that all others depend on, such as that of the credentials: when it fails, the others are skipped. */
  readonly first: NamedCheck;
  /** Run concurrently; a failed check does not prevent the others. */
  readonly others: readonly NamedCheck[];
  /** A check that includes the others, such as a dry run of a launch: it is skipped when one of them failed. */
  readonly last?: NamedCheck;
  /** Converts an error of a check to the error of the contract. */
  readonly toError: (thrown: unknown, what: string) => MachineError;
  readonly signal: AbortSignal;
}

function explain({ name, hasOwnPermission = false }: NamedCheck, { code, message }: MachineError): CheckOutcome {
  return hasOwnPermission && code === "PermissionDenied"
    ? { name, status: "skipped", message, remedy: "Grant the permission for this request to enable the check." }
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
      const error = toError(thrown, `check ${check.name}`);
      if (signal.aborted) throw error;
      return explain(check, error);
    }
  };
  const skipped = ({ name }: NamedCheck, failed: CheckOutcome): CheckOutcome => ({
    name,
    status: "skipped",
    message: `Skipped because the check "${failed.name}" failed.`,
  });
  const outcome = await outcomeOf(first);
  const rest = [...others, ...(last === undefined ? [] : [last])];
  if (outcome.status === "failed") return { checks: [outcome, ...rest.map((check) => skipped(check, outcome))] };
  const outcomes = [outcome, ...(await Promise.all(others.map(outcomeOf)))];
  if (last === undefined) return { checks: outcomes };
  const failed = outcomes.find(({ status }) => status === "failed");
  return { checks: [...outcomes, failed === undefined ? await outcomeOf(last) : skipped(last, failed)] };
}
