import { isRecord } from "@millwright/base";
import type {
  CreateMachineResponse,
  DeleteMachineResponse,
  InitializeMachineResponse,
  MachineStatusResponse,
  NodeAddress,
  PendingResponse,
} from "@millwright/core";
import type {
  WireAddress,
  WireCreateResponse,
  WireDeleteResponse,
  WirePending,
  WireStatusResponse,
  WireVm,
} from "./messages.ts";
import { present } from "./present.ts";

// What a driver answered has any form: a field of another type is left out, so that the host rejects it as it rejects that of a driver in its own process.

type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (reply: unknown): Fields => (isRecord(reply) ? reply : {});

export const textOrNone = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const toWireAddresses = (value: unknown): readonly WireAddress[] | undefined =>
  Array.isArray(value)
    ? value.map((each: unknown) => {
        const { type, address } = fieldsOf(each);
        return present({ type: textOrNone(type), address: textOrNone(address) });
      })
    : undefined;

const fromWireAddresses = (addresses: readonly WireAddress[] | undefined): readonly NodeAddress[] | undefined =>
  addresses === undefined || addresses.length === 0
    ? undefined
    : addresses.map(({ type = "", address = "" }) => ({ type, address }));

const toWirePending = (pending: unknown): WirePending | undefined => {
  if (pending === undefined) return undefined;
  const { message, checkAfterMs } = fieldsOf(pending);
  // The host rejects anything else.
  return present({
    message: textOrNone(message),
    checkAfterMs: typeof checkAfterMs === "number" ? checkAfterMs : Number.NaN,
  });
};

const fromWirePending = ({ message = "", checkAfterMs = 0 }: WirePending): PendingResponse => ({
  pending: { message, checkAfterMs },
});

/** A VM of a driver, for the wire. */
export function toWireVm(reply: unknown): WireVm {
  const { providerId, nodeName, addresses } = fieldsOf(reply);
  return present({
    providerId: textOrNone(providerId),
    nodeName: textOrNone(nodeName),
    addresses: toWireAddresses(addresses),
  });
}

/** The VM of a response. */
export const fromWireVm = ({ providerId = "", nodeName = "", addresses }: WireVm): InitializeMachineResponse =>
  present({ providerId, nodeName, addresses: fromWireAddresses(addresses) });

export function toWireCreateResponse(reply: unknown): WireCreateResponse {
  const { pending, lastKnownState } = fieldsOf(reply);
  return present({
    ...toWireVm(reply),
    lastKnownState: textOrNone(lastKnownState),
    pending: toWirePending(pending),
  });
}

export const fromWireCreateResponse = (response: WireCreateResponse): CreateMachineResponse | PendingResponse => {
  const { pending, lastKnownState } = response;
  return isRecord(pending) ? fromWirePending(pending) : present({ ...fromWireVm(response), lastKnownState });
};

const vmStates: readonly (readonly [number, NonNullable<DeleteMachineResponse["vm"]>])[] = [
  [1, "ended"],
  [2, "missing"],
];

export function toWireDeleteResponse(reply: unknown): WireDeleteResponse {
  const { vm, lastKnownState, pending } = fieldsOf(reply);
  return present({
    vm: vmStates.find(([, state]) => state === vm)?.[0],
    lastKnownState: textOrNone(lastKnownState),
    pending: toWirePending(pending),
  });
}

export const fromWireDeleteResponse = (response: WireDeleteResponse): DeleteMachineResponse | PendingResponse => {
  const { vm, lastKnownState, pending } = response;
  return isRecord(pending)
    ? fromWirePending(pending)
    : present({ vm: vmStates.find(([number]) => number === vm)?.[1], lastKnownState });
};

export const toWireStatusResponse = (reply: unknown): WireStatusResponse => {
  const { initialized } = fieldsOf(reply);
  return present({
    ...toWireVm(reply),
    initialized: typeof initialized === "boolean" ? initialized : undefined,
  });
};

export const fromWireStatusResponse = (response: WireStatusResponse): MachineStatusResponse =>
  present({ ...fromWireVm(response), initialized: response.initialized });
