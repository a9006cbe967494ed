import type { ClassCall } from "@millwright/controllers";
import type { SecretData } from "@millwright/base";
import { type CheckClassRequest, type CheckClassResponse, type DriverContext, MachineError } from "@millwright/core";
import type { createDriverCaller } from "./call-driver.ts";
import { readChecksReply, readListReply, readNodeTemplateReply } from "./check-reply.ts";
import type { ReadClass } from "./read-class.ts";

type MakeCall = ReturnType<typeof createDriverCaller>;

/** A class that was read, and what must not be printed of it. */
export interface PreparedClass {
  readonly read: ReadClass;
  readonly confidential: SecretData;
}

/** One call about a class. */
const callAboutClass = (
  makeCall: MakeCall,
  { read: { driver, machineClass, secret }, confidential }: PreparedClass,
  method: "checkClass" | "getNodeTemplate" | "listMachines",
  invoke: (request: CheckClassRequest<unknown>, context: DriverContext) => Promise<unknown>,
  signal: AbortSignal,
): Promise<unknown> =>
  makeCall({
    driver,
    method,
    subject: { machineClass: machineClass.name },
    confidential,
    invoke: (context) => invoke({ machineClass, secret }, context),
    signal,
  });

/** The capacity of the Nodes of a class. */
export async function readCapacity(
  makeCall: MakeCall,
  prepared: PreparedClass & Pick<ClassCall, "machineClass">,
  signal: AbortSignal,
): Promise<ReturnType<typeof readNodeTemplateReply>> {
  const { driver } = prepared.read;
  const method = driver.getNodeTemplate;
  if (method === undefined) throw new MachineError("Unimplemented", `driver "${driver.name}" does not report capacity`);
  const reply = await callAboutClass(makeCall, prepared, "getNodeTemplate", method, signal);
  return readNodeTemplateReply(reply, prepared.machineClass);
}

/** The VMs of a class. */
export async function listVms(
  makeCall: MakeCall,
  prepared: PreparedClass,
  signal: AbortSignal,
): Promise<ReturnType<typeof readListReply>> {
  const { driver } = prepared.read;
  const method = driver.listMachines;
  if (method === undefined) throw new MachineError("Unimplemented", `driver "${driver.name}" does not list VMs`);
  return readListReply(await callAboutClass(makeCall, prepared, "listMachines", method, signal));
}

/** Checks a class against its cloud. */
export async function checkClass(
  makeCall: MakeCall,
  prepared: PreparedClass,
  signal: AbortSignal,
): Promise<CheckClassResponse> {
  const { driver } = prepared.read;
  const method = driver.checkClass;
  if (method === undefined) throw new MachineError("Unimplemented", `driver "${driver.name}" has no checks of classes`);
  return readChecksReply(await callAboutClass(makeCall, prepared, "checkClass", method, signal), prepared.confidential);
}
