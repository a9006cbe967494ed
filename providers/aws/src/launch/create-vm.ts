import { createHash } from "node:crypto";
import { MachineError } from "@millwright/core";
import { asOpenOutcome, poll } from "@millwright/core/driver-kit";
import { isLaunchRejected, hasErrorCode, toMachineError } from "../api/errors.ts";
import { type MethodCall, pausesOf } from "../vm/method-call.ts";
import { isOwnedBy, ownerTagKeys } from "../vm/owner-tags.ts";
import { isLive, readVm, type Vm } from "../vm/vm.ts";
import { adopt } from "./adopt.ts";
import { candidatesOf, type Launch, type LaunchCandidate } from "./launch.ts";
import { vmInput } from "./vm-input.ts";

/** Requests the candidates in order, until there is capacity for one. */
export async function createVm(launch: Launch, call: MethodCall): Promise<Vm> {
  const { region } = call.session;
  const rejections: string[] = [];
  for (const candidate of candidatesOf(launch.spec)) {
    const scope = `creating ${candidate.machineType} in ${candidate.subnetId ?? launch.spec.networkInterfaces[0]?.subnetID ?? ""} (${region})`;
    try {
      return await createCandidate(launch, candidate, rejections.length > 0, call);
    } catch (error) {
      const failure = toMachineError(error, call.context.signal, scope);
      if (failure.code !== "ResourceExhausted") throw failure;
      rejections.push(failure.message);
    }
  }
  throw new MachineError("ResourceExhausted", rejections.join("; "));
}

/**
 * All candidates go with the token of the creation, so that EC2 itself keeps a second VM from being made: a try that repeats another one after a crash is answered
 * with the VM of that one, or with a mismatch when it was another candidate. AWS documents this for requests that succeeded. Should
 * EC2 bind the token to a rejected request too, the mismatch comes right after our own rejection, and the next candidate has a token made from it.
 */
async function createCandidate(
  launch: Launch,
  candidate: LaunchCandidate,
  wasRejected: boolean,
  call: MethodCall,
): Promise<Vm> {
  const { api, region } = call.session;
  const { launches } = call;
  const input = vmInput(launch, candidate);
  const run = async (ClientToken: string): Promise<Vm> => {
    const instance = await api.runInstance({ ...input, ClientToken }, call.context.signal).catch((error: unknown) => {
      if (!isLaunchRejected(error)) launches.asked(launch.machine);
      throw error;
    });
    launches.asked(launch.machine);
    const vm = instance === undefined ? undefined : readVm(instance, region);
    if (vm === undefined) throw new MachineError("Unknown", "EC2 accepted a VM and returned no id");
    return vm;
  };
  try {
    return await run(launch.token);
  } catch (error) {
    if (!hasErrorCode(error, "IdempotentParameterMismatch")) throw error;
    const made = await findCreated(launch, call, wasRejected ? 0 : call.pollTimes.visibleMs);
    if (made !== undefined) return made;
    if (wasRejected) return run(derivedToken(launch.token, candidate));
    throw new MachineError(
      "Unavailable",
      `the client token of machine "${launch.machine.name}" was used with other parameters and has no VM; the next attempt uses another token`,
      { cause: error, tokenIsSpent: true },
    );
  }
}

const derivedToken = (token: string, { machineType, subnetId = "" }: LaunchCandidate): string =>
  createHash("sha256")
    .update(JSON.stringify([token, machineType, subnetId]))
    .digest("hex");

/**
 * The VM that was made with the token of this creation and other parameters: other user data, or another candidate. A VM without a token tag, for lack of tags, is it if it is not terminating:
 * before the creation there was no such VM of the machine.
 */
async function findCreated(
  { machine, token, spec }: Launch,
  call: MethodCall,
  limitMs: number,
): Promise<Vm | undefined> {
  const { session, keys, context } = call;
  const found = await poll({ ...pausesOf(call), limitMs }, async () => {
    const named = await session.named(machine.name, context);
    return named.find((vm) => {
      const made = vm.tags.get(ownerTagKeys.token) ?? "";
      return (made === "" ? isLive(vm) : made === token) && isOwnedBy(vm, keys, machine);
    });
  }).catch((error: unknown) => {
    throw asOpenOutcome(toMachineError(error, context.signal, "looking for the VM of an earlier attempt"));
  });
  return found === undefined || !isLive(found) ? found : adopt(found, spec);
}
