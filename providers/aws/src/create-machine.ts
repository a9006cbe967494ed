import { createHash } from "node:crypto";
import {
  type CreateMachineRequest,
  type CreateMachineResponse,
  MachineError,
  type MachineErrorCode,
} from "@millwright/core";
import { poll } from "@millwright/core/driver-kit";
import { isCapacityCode } from "./api/error-codes.ts";
import { isLaunchRefused, isRefusal, toMachineError } from "./api/errors.ts";
import { candidatesOf, type Launch, type LaunchCandidate, launchInput } from "./launch/vm-input.ts";
import { type MethodCall, pausesOf } from "./vm/method-call.ts";
import { isOfCluster, isOwnedBy, ownerTagKeys, specHashOf } from "./vm/owner-tags.ts";
import type { AwsSpec } from "./spec/spec.ts";
import { endOf, isLive, isTerminated, ownLiveVm, readVm, referenceOf, type Vm } from "./vm/vm.ts";

/** Makes the VM of a machine, or finds the one that an earlier try has made. */
export async function createMachine(
  request: CreateMachineRequest<AwsSpec>,
  call: MethodCall,
): Promise<CreateMachineResponse> {
  const { machine, machineClass, idempotencyToken, userData } = request;
  const { session, keys, context } = call;
  const { spec } = machineClass;
  const named = await session.named(machine.name, context);
  const own = ownLiveVm(named, keys, machine);
  if (own !== undefined) {
    const fit = fitting(own, spec);
    return fit.nodeName === "" ? ready(fit, call) : referenceOf(fit);
  }
  const stranger = named.find((vm) => isLive(vm) && isOfCluster(vm.tags, keys) && !isOwnedBy(vm, keys, machine));
  if (stranger !== undefined) {
    throw new MachineError(
      "AlreadyExists",
      `VM ${stranger.id} of an earlier machine "${machine.name}" still exists; it must be deleted first`,
    );
  }
  const launch: Launch = {
    spec,
    machine,
    machineClass: machineClass.name,
    userData,
    token: idempotencyToken,
    rootDeviceName: await session.rootDevice(spec.ami, context),
  };
  return ready(await makeVm(launch, call), call);
}

/** Tries the candidates in their order, until there is capacity for one. */
async function makeVm(launch: Launch, call: MethodCall): Promise<Vm> {
  const { region } = call.session;
  const refusals: string[] = [];
  for (const candidate of candidatesOf(launch.spec)) {
    const scope = `making ${candidate.machineType} in ${candidate.subnetId ?? launch.spec.networkInterfaces[0]?.subnetID ?? ""} (${region})`;
    try {
      return await makeCandidate(launch, candidate, refusals.length > 0, call);
    } catch (error) {
      const failure = toMachineError(error, call.context.signal, scope);
      if (failure.code !== "ResourceExhausted") throw failure;
      refusals.push(failure.message);
    }
  }
  throw new MachineError("ResourceExhausted", refusals.join("; "));
}

/**
 * All candidates go with the token of the creation, so that EC2 itself keeps a second VM from being made: a try that repeats another one after a crash is answered
 * with the VM of that one, or with a mismatch when it was another candidate. AWS documents this for requests that succeeded. Should
 * EC2 bind the token to a refused request too, the mismatch comes right after our own refusal, and the next candidate has a token made from it.
 */
async function makeCandidate(
  launch: Launch,
  candidate: LaunchCandidate,
  wasRefused: boolean,
  call: MethodCall,
): Promise<Vm> {
  const { api, region } = call.session;
  const { launches } = call;
  const input = launchInput(launch, candidate);
  const run = async (ClientToken: string): Promise<Vm> => {
    const instance = await api.runInstance({ ...input, ClientToken }, call.context.signal).catch((error: unknown) => {
      if (!isLaunchRefused(error)) launches.asked(launch.machine);
      throw error;
    });
    launches.asked(launch.machine);
    const vm = instance === undefined ? undefined : readVm(instance, region);
    if (vm === undefined) throw new MachineError("Unknown", "EC2 accepted a VM and did not say its id");
    return vm;
  };
  try {
    return await run(launch.token);
  } catch (error) {
    if (!isRefusal(error, "IdempotentParameterMismatch")) throw error;
    const made = await findMade(launch, call, wasRefused ? 0 : call.patience.visibleMs);
    if (made !== undefined) return made;
    if (wasRefused) return run(derivedToken(launch.token, candidate));
    throw new MachineError(
      "Unavailable",
      `EC2 knows the token of machine "${launch.machine.name}" from a request with other parameters, and shows no VM of it; another token is next`,
      { cause: error, tokenIsSpent: true },
    );
  }
}

const derivedToken = (token: string, { machineType, subnetId = "" }: LaunchCandidate): string =>
  createHash("sha256")
    .update(JSON.stringify([token, machineType, subnetId]))
    .digest("hex");

/**
 * The VM that was made with the token of this creation and other parameters: other user data, or another candidate. One that says no token, for want of room, is it if it is there to stay:
 * before the creation there was no such VM of the machine.
 */
async function findMade({ machine, token, spec }: Launch, call: MethodCall, limitMs: number): Promise<Vm | undefined> {
  const { session, keys, context } = call;
  const found = await poll({ ...pausesOf(call), limitMs }, async () => {
    const named = await session.named(machine.name, context);
    return named.find((vm) => {
      const made = vm.tags.get(ownerTagKeys.token) ?? "";
      return (made === "" ? isLive(vm) : made === token) && isOwnedBy(vm, keys, machine);
    });
  });
  return found === undefined || !isLive(found) ? found : fitting(found, spec);
}

/** A VM that is there already, if it is what was asked for. One that MCM's driver made does not say what it was made from. */
function fitting(vm: Vm, spec: AwsSpec): Vm {
  const hash = vm.tags.get(ownerTagKeys.specHash) ?? "";
  if (hash === "" || hash === specHashOf(spec)) return vm;
  throw new MachineError("AlreadyExists", `VM ${vm.id} of this machine was made from another providerSpec`);
}

/**
 * What it means that a VM ended before it ran. EC2 says `Server.…` where it is its own matter and `Client.…` where it is ours: a volume whose key may not be used ends every VM of the class, and
 * would do so every few seconds; but somebody may also have ended this one.
 */
function codeOfEnd(reason: string): MachineErrorCode {
  const code = reason.slice(reason.indexOf(".") + 1);
  if (isCapacityCode(code)) return "ResourceExhausted";
  return reason.startsWith("Client.") && !code.endsWith("InitiatedShutdown") ? "FailedPrecondition" : "Aborted";
}

/** Waits until EC2 shows the VM with a name: who looks for it then finds it. */
async function ready(made: Vm, call: MethodCall): Promise<CreateMachineResponse> {
  const { session, context, patience } = call;
  let last = made;
  const settled = await poll({ ...pausesOf(call), limitMs: patience.visibleMs }, async () => {
    last = (await session.byId(made.id, context)) ?? last;
    return isTerminated(last) || !isLive(last) || (last !== made && last.nodeName !== "") ? last : undefined;
  });
  if (settled !== undefined && isLive(settled)) return referenceOf(settled);
  if (settled === undefined) {
    const what =
      last === made ? "does not show it yet" : "gives it no private DNS name; are DNS hostnames on in its VPC?";
    throw new MachineError("Unavailable", `VM ${made.id} was made, but EC2 ${what}`);
  }
  // The token goes on standing for a VM that will never run.
  throw new MachineError(codeOfEnd(settled.reason), `VM ${endOf(settled)} before it could be used`, {
    tokenIsSpent: true,
  });
}
