import { redactSecrets, type SecretData, toPrintable } from "@millwright/base";
import {
  type CheckClassResponse,
  type CheckStatus,
  type CheckOutcome,
  type DeleteMachineResponse,
  type FindDriftResponse,
  type ListedMachine,
  MachineError,
  type NodeAddress,
  type VmDifference,
} from "@millwright/core";
import { maxCheckAfterMs, minCheckAfterMs } from "@millwright/core/driver-host";
import {
  formatProblems,
  type MachineClass,
  type NodeTemplate,
  readMachineClass,
  validateMachineClass,
} from "@millwright/core/machine-api";
import type { OperationResult, PendingOperation } from "@millwright/controllers";
import { cleanText, MAX_TEXT } from "./driver-failure.ts";

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= MAX_TEXT;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** A field of an answer; `undefined` where there is none, or a getter throws. */
function fieldOf(reply: unknown, key: string): unknown {
  try {
    return isRecord(reply) ? reply[key] : undefined;
  } catch {
    return undefined;
  }
}

const bad = (method: string, what: string): MachineError =>
  new MachineError("Internal", `${method} of the driver answered ${what}`);

/** Whether a text is seen as it is, in one line. */
const isPrintable = (text: string): boolean => !/\p{Cc}/u.test(text) && toPrintable(text) === text;

/** More addresses than a VM has: a status that is too large is not stored. */
const maxAddresses = 64;
const maxAddressText = 256;

/** Receives how many addresses of an answer were left out. */
export type OnLeftOut = (addresses: number) => void;

const ignore: OnLeftOut = () => undefined;

const isAddressText = (value: unknown): value is string =>
  isText(value) && value.length <= maxAddressText && isPrintable(value);

/**
 * The addresses in the answer of a driver; what has another form, would fill a status, or would be seen as something else is left out, for nothing depends
 * on it.
 */
function readAddresses(value: unknown, onLeftOut: OnLeftOut): readonly NodeAddress[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const considered = value.slice(0, maxAddresses);
  const addresses = considered.flatMap((each: unknown) => {
    const [type, address] = [fieldOf(each, "type"), fieldOf(each, "address")];
    return isAddressText(type) && isAddressText(address) ? [{ type, address }] : [];
  });
  if (addresses.length < considered.length) onLeftOut(considered.length - addresses.length);
  return addresses.length === 0 ? undefined : addresses;
}

/**
 * The id of a VM: kept as it is, or refused. One with half of a surrogate pair would come back from the API server as that of another VM, and
 * one with characters that are not seen would look like that of another VM.
 */
function readProviderId(method: string, reply: unknown): string {
  const providerId = fieldOf(reply, "providerId");
  if (typeof providerId === "number" || typeof providerId === "bigint")
    throw bad(
      method,
      `a providerId that is a ${typeof providerId}; expected a text such as "example:///${providerId}"`,
    );
  if (typeof providerId !== "string" || providerId === "") {
    const other = ["providerID", "provider_id", "id"].find((key) => fieldOf(reply, key) !== undefined);
    throw bad(method, `without a providerId${other === undefined ? "" : `; it has "${other}"`}`);
  }
  if (providerId.length > MAX_TEXT) throw bad(method, `a providerId that is longer than ${MAX_TEXT} characters`);
  if (!isPrintable(providerId)) throw bad(method, "a providerId with control, bidirectional or invisible characters");
  return providerId;
}

/**
 * Reads the reply of a driver about a VM: drivers are not trusted, and their replies are stored in the API. Only the id is required: whatever else a driver answers, the VM exists, and its id must be stored.
 *
 * @throws MachineError Internal for an answer without an id that can be stored
 */
export function readVmReply(
  method: string,
  reply: unknown,
  onLeftOut: OnLeftOut = ignore,
): OperationResult & { readonly nodeName: string; readonly isInitialized: boolean } {
  if (!isRecord(reply))
    throw bad(
      method,
      `${reply === undefined || reply === null ? "nothing" : `a ${typeof reply}`}; expected { providerId, nodeName }`,
    );
  const providerId = readProviderId(method, reply);
  const nodeName = fieldOf(reply, "nodeName");
  const addresses = readAddresses(fieldOf(reply, "addresses"), onLeftOut);
  const lastKnownState = fieldOf(reply, "lastKnownState");
  return {
    providerId,
    nodeName: isText(nodeName) ? nodeName : "",
    ...(addresses === undefined ? {} : { addresses }),
    ...(isText(lastKnownState) ? { lastKnownState } : {}),
    isInitialized: fieldOf(reply, "initialized") !== false,
  };
}

/** The same for a look-up before an initialization or a deletion. Neither waits for a driver that answers without an id: both find the VM themselves. */
export function readFoundVm(reply: unknown, onLeftOut?: OnLeftOut): Partial<ReturnType<typeof readVmReply>> {
  try {
    return readVmReply("getMachineStatus", reply, onLeftOut);
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : "", isInitialized: false };
  }
}

/**
 * Reads the answer of a driver whose creation or deletion is pending, its secrets taken out and its time in bounds; nothing for any other answer.
 *
 * @throws MachineError Internal for one that does not keep the contract
 */
export function readPendingReply(
  method: string,
  reply: unknown,
  confidential: SecretData,
): PendingOperation | undefined {
  const pending = fieldOf(reply, "pending");
  if (pending === undefined) return undefined;
  if (!isRecord(pending)) throw bad(method, "pending without message and checkAfterMs");
  const [message, checkAfterMs] = [fieldOf(pending, "message"), fieldOf(pending, "checkAfterMs")];
  if (typeof message !== "string" || message.trim() === "") throw bad(method, "pending without a message");
  if (typeof checkAfterMs !== "number" || Number.isNaN(checkAfterMs))
    throw bad(method, "pending without checkAfterMs in milliseconds");
  return {
    pending: {
      message: cleanText(message, confidential),
      checkAfterMs: Math.min(maxCheckAfterMs, Math.max(minCheckAfterMs, checkAfterMs)),
    },
  };
}

/** Reads what a driver answered to an initialization: what does not keep the contract is left out, for nothing depends on it. */
export const readInitializationReply = (reply: unknown, onLeftOut: OnLeftOut = ignore): OperationResult => {
  const nodeName = fieldOf(reply, "nodeName");
  const addresses = readAddresses(fieldOf(reply, "addresses"), onLeftOut);
  return {
    ...(isText(nodeName) && nodeName !== "" ? { nodeName } : {}),
    ...(addresses === undefined ? {} : { addresses }),
  };
};

/** What a driver answered to a deletion. */
export type DeletionReply = Pick<OperationResult, "lastKnownState"> & Pick<DeleteMachineResponse, "vm" | "showsNewVms">;

/** Reads what a driver answered to a deletion, where nothing is an answer too. */
export function readDeletionReply(reply: unknown): DeletionReply {
  const [lastKnownState, vm] = [fieldOf(reply, "lastKnownState"), fieldOf(reply, "vm")];
  return {
    ...(isText(lastKnownState) ? { lastKnownState } : {}),
    ...(vm === "ended" || vm === "missing" ? { vm } : {}),
    ...(fieldOf(reply, "showsNewVms") === true ? { showsNewVms: true } : {}),
  };
}

/**
 * Reads what a driver answered about volumes: one entry for each that was asked for, in the same order; nothing for a volume of another infrastructure.
 *
 * @throws MachineError Internal for an answer that does not keep the contract, for the ids could be those of other volumes
 */
export function readVolumeReply(reply: unknown, count: number): readonly (string | null)[] {
  const ids: unknown = isRecord(reply) ? reply["volumeIds"] : undefined;
  if (!Array.isArray(ids) || ids.length !== count)
    throw bad("getVolumeIds", `without one entry for each of ${count} volumes`);
  return ids.map((id: unknown) => {
    if (id === undefined || id === null || id === "") return null;
    if (!isText(id)) throw bad("getVolumeIds", "an id that is no text");
    return id;
  });
}

/** More than any machine has. */
const maxParts = 20;

/** What is left of a machine without VM. An entry with other parts is one of a VM: that is what they were before there were parts. */
function readParts(parts: unknown): Pick<ListedMachine, "parts"> {
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isText)) return {};
  return { parts: parts.slice(0, maxParts).map((part) => toPrintable(part)) };
}

/**
 * Reads the VMs that a driver listed. One that cannot be read makes the list incomplete.
 *
 * @throws MachineError Internal for an answer that does not keep the contract
 */
export function readListReply(reply: unknown): readonly ListedMachine[] {
  const vms: unknown = isRecord(reply) ? reply["machines"] : undefined;
  if (!Array.isArray(vms)) throw bad("listMachines", "without machines");
  return vms.map((vm: unknown) => {
    const { machineName, machineUid, machineNamespace, parts, ...rest }: Readonly<Record<string, unknown>> = isRecord(
      vm,
    )
      ? vm
      : {};
    const providerId = readProviderId("listMachines", rest);
    if (!isText(machineName) || machineName === "")
      throw bad("listMachines", `without the name of the machine of ${providerId}`);
    return {
      providerId,
      machineName,
      ...(isText(machineUid) && machineUid !== "" ? { machineUid } : {}),
      ...(isText(machineNamespace) && machineNamespace !== "" ? { machineNamespace } : {}),
      ...readParts(parts),
    };
  });
}

/** Maximum number of reported differences: a VM with more was created from another class. */
const maxDifferences = 200;

/**
 * Reads what a driver answered about drift, its secrets taken out.
 *
 * @throws MachineError Internal for an answer that does not keep the contract: it would be taken for a VM that is as it should be
 */
export function readDriftReply(reply: unknown, confidential: SecretData): FindDriftResponse {
  const { differences, ...rest }: Readonly<Record<string, unknown>> = isRecord(reply) ? reply : {};
  const providerId = readProviderId("findDrift", rest);
  if (!Array.isArray(differences)) throw bad("findDrift", `without a list of differences of ${providerId}`);
  return {
    providerId,
    differences: differences.slice(0, maxDifferences).map((difference: unknown): VmDifference => {
      const { field, wanted, found }: Readonly<Record<string, unknown>> = isRecord(difference) ? difference : {};
      if (!isText(field) || !isText(wanted) || !isText(found))
        throw bad("findDrift", "a difference without field, wanted and found as texts");
      return { field, wanted: redactSecrets(wanted, confidential), found: redactSecrets(found, confidential) };
    }),
  };
}

const checkStatuses: readonly CheckStatus[] = ["ok", "warning", "failed", "skipped"];

/** More than any class has to check. */
const maxChecks = 200;

/**
 * Reads what a driver answered about a class, its secrets taken out.
 *
 * @throws MachineError Internal for an answer that does not keep the contract: a check that cannot be read could be one that failed
 */
export function readChecksReply(reply: unknown, confidential: SecretData): CheckClassResponse {
  const checks: unknown = isRecord(reply) ? reply["checks"] : undefined;
  if (!Array.isArray(checks) || checks.length > maxChecks) throw bad("checkClass", "without a list of checks");
  return {
    checks: checks.map((check: unknown): CheckOutcome => {
      const { name, status, message, remedy }: Readonly<Record<string, unknown>> = isRecord(check) ? check : {};
      const known = checkStatuses.find((each) => each === status);
      if (!isText(name) || name === "" || !isText(message) || known === undefined)
        throw bad("checkClass", `a check without name, message, or one of the statuses ${checkStatuses.join(", ")}`);
      return {
        name: redactSecrets(name, confidential),
        status: known,
        message: redactSecrets(message, confidential),
        ...(isText(remedy) && remedy !== "" ? { remedy: redactSecrets(remedy, confidential) } : {}),
      };
    }),
  };
}

/**
 * Reads what a driver answered about the nodes of a class.
 *
 * @throws MachineError Internal for an invalid reply: a class with such a template could not create machines
 */
export function readNodeTemplateReply(reply: unknown, machineClass: MachineClass): NodeTemplate {
  const template: unknown = isRecord(reply) ? reply["nodeTemplate"] : undefined;
  if (!isRecord(template)) throw bad("getNodeTemplate", "without a nodeTemplate");
  const read = readMachineClass({ ...machineClass, nodeTemplate: template });
  const problems = read.ok ? validateMachineClass(read.value) : read.problems;
  const own = problems.filter(({ path }) => path.startsWith("nodeTemplate"));
  const nodeTemplate = read.ok ? read.value.nodeTemplate : undefined;
  if (own.length > 0 || nodeTemplate === undefined)
    throw bad("getNodeTemplate", `what a MachineClass cannot have: ${formatProblems(own)}`);
  return nodeTemplate;
}
