import { type CreateMachineResponse, MachineError, type MachineErrorCode } from "@millwright/core";
import { asOpenOutcome, poll } from "@millwright/core/driver-kit";
import { isCapacityCode } from "../api/error-codes.ts";
import { toMachineError } from "../api/errors.ts";
import { type MethodCall, pausesOf } from "../vm/method-call.ts";
import { endOf, isLive, isTerminated, referenceOf, type Vm } from "../vm/vm.ts";

/**
 * The code for a VM that ended before it ran. EC2's reason is `Server.…` for its own failures and `Client.…` for those of the request: a volume whose key may not be used ends every VM of the class,
 * every few seconds; but a user may also have terminated this one.
 */
function codeOfEnd(reason: string): MachineErrorCode {
  const code = reason.slice(reason.indexOf(".") + 1);
  if (isCapacityCode(code)) return "ResourceExhausted";
  return reason.startsWith("Client.") && !code.endsWith("InitiatedShutdown") ? "FailedPrecondition" : "Aborted";
}

/**
 * Waits until EC2 shows the VM with a name: who looks for it then finds it.
 *
 * @throws MachineError Unavailable when EC2 does not in time, or does not answer; with a spent token when the VM has ended instead
 */
export async function ready(made: Vm, call: MethodCall): Promise<CreateMachineResponse> {
  const { session, context, pollTimes } = call;
  let last = made;
  const settled = await poll({ ...pausesOf(call), limitMs: pollTimes.visibleMs }, async () => {
    last = (await session.byId(made.id, context)) ?? last;
    return isTerminated(last) || !isLive(last) || (last !== made && last.nodeName !== "") ? last : undefined;
  }).catch((error: unknown) => {
    throw asOpenOutcome(toMachineError(error, context.signal, `looking for VM ${made.id}, which was created`));
  });
  if (settled !== undefined && isLive(settled)) return referenceOf(settled);
  if (settled === undefined) {
    const what =
      last === made
        ? "does not list it yet"
        : "assigned no private DNS name; check that DNS hostnames are enabled in its VPC";
    throw new MachineError("Unavailable", `VM ${made.id} was created, but EC2 ${what}`);
  }
  // The token goes on standing for a VM that will never run.
  throw new MachineError(codeOfEnd(settled.reason), `VM ${endOf(settled)} before it could be used`, {
    tokenIsSpent: true,
  });
}
