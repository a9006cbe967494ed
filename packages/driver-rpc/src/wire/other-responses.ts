import {
  type CheckClassResponse,
  type CheckOutcome,
  type CheckStatus,
  type FindDriftResponse,
  type GetNodeTemplateResponse,
  type GetVolumeIdsResponse,
  type ListMachinesResponse,
  MachineError,
} from "@millwright/core";
import type { NodeTemplate } from "@millwright/core/machine-api";
import { parseRecord, toJson } from "./json-text.ts";
import type {
  WireChecksResponse,
  WireDriftResponse,
  WireListResponse,
  WireNodeTemplateResponse,
  WireVolumeIdsResponse,
} from "./messages.ts";
import { present } from "./present.ts";
import { fieldsOf, textOrNone } from "./vm-responses.ts";

const bad = (method: string, what: string): MachineError =>
  new MachineError("Internal", `${method} of the driver answered ${what}`);

/** @throws MachineError Internal for an answer without a list */
function listIn(method: string, reply: unknown, field: string): readonly unknown[] {
  const list = fieldsOf(reply)[field];
  if (!Array.isArray(list)) throw bad(method, `without ${field}`);
  return list;
}

export const toWireListResponse = (reply: unknown): WireListResponse => ({
  machines: listIn("listMachines", reply, "machines").map((vm) => {
    const { providerId, machineName, machineUid, machineNamespace } = fieldsOf(vm);
    return present({
      providerId: textOrNone(providerId),
      machineName: textOrNone(machineName),
      machineUid: textOrNone(machineUid),
      machineNamespace: textOrNone(machineNamespace),
    });
  }),
  complete: true,
});

/** @throws MachineError Internal for a list that is not marked as complete */
export function fromWireListResponse({ machines = [], complete }: WireListResponse): ListMachinesResponse {
  if (complete !== true) throw bad("listMachines", "a list that is not marked as complete");
  return {
    machines: machines.map(({ providerId = "", machineName = "", machineUid, machineNamespace }) =>
      present({ providerId, machineName, machineUid, machineNamespace }),
    ),
  };
}

export const toWireVolumeIdsResponse = (reply: unknown): WireVolumeIdsResponse => ({
  volumeIds: listIn("getVolumeIds", reply, "volumeIds").map((id) => {
    if (id === undefined || id === null) return "";
    if (typeof id !== "string") throw bad("getVolumeIds", "an id that is no text");
    return id;
  }),
});

export const fromWireVolumeIdsResponse = ({ volumeIds = [] }: WireVolumeIdsResponse): GetVolumeIdsResponse => ({
  volumeIds: volumeIds.map((id) => (id === "" ? undefined : id)),
});

export const toWireDriftResponse = (reply: unknown): WireDriftResponse => ({
  ...present({ providerId: textOrNone(fieldsOf(reply)["providerId"]) }),
  differences: listIn("findDrift", reply, "differences").map((each) => {
    const { field, wanted, found } = fieldsOf(each);
    if (typeof field !== "string" || typeof wanted !== "string" || typeof found !== "string")
      throw bad("findDrift", "a difference without field, wanted and found as texts");
    return { field, wanted, found };
  }),
});

export const fromWireDriftResponse = ({ providerId = "", differences = [] }: WireDriftResponse): FindDriftResponse => ({
  providerId,
  differences: differences.map(({ field = "", wanted = "", found = "" }) => ({ field, wanted, found })),
});

export function toWireNodeTemplateResponse(reply: unknown): WireNodeTemplateResponse {
  const { nodeTemplate } = fieldsOf(reply);
  return nodeTemplate === undefined ? {} : { nodeTemplate: toJson(nodeTemplate) };
}

export function fromWireNodeTemplateResponse({ nodeTemplate }: WireNodeTemplateResponse): GetNodeTemplateResponse {
  // The host validates it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { nodeTemplate: parseRecord(nodeTemplate) as NodeTemplate };
}

const statuses: readonly (readonly [number, CheckStatus])[] = [
  [1, "ok"],
  [2, "warning"],
  [3, "failed"],
  [4, "skipped"],
];

export const toWireChecksResponse = (reply: unknown): WireChecksResponse => ({
  checks: listIn("checkClass", reply, "checks").map((each) => {
    const { name, status, message, remedy } = fieldsOf(each);
    return present({
      name: textOrNone(name),
      status: statuses.find(([, known]) => known === status)?.[0],
      message: textOrNone(message),
      remedy: textOrNone(remedy),
    });
  }),
});

export const fromWireChecksResponse = ({ checks = [] }: WireChecksResponse): CheckClassResponse => ({
  checks: checks.map(({ name = "", status, message = "", remedy = "" }): CheckOutcome => {
    const known = statuses.find(([number]) => number === status)?.[1];
    if (known === undefined) throw bad("checkClass", `check "${name}" without a status`);
    return present({ name, status: known, message, remedy: remedy === "" ? undefined : remedy });
  }),
});
