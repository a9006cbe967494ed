import { Secret, systemClock } from "@millwright/base";
import type { DriverContext } from "../driver/driver.ts";
import type { MachineIdentity } from "../driver/messages.ts";

/** Wraps the values of a secret, as a host does. */
export const secretOf = (data: Readonly<Record<string, string>>): Readonly<Record<string, Secret>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Secret.of(value)]));

/** A machine in namespace `shoot`, with a UID that follows from its name. */
export const aMachine = (name: string, more: Partial<MachineIdentity> = {}): MachineIdentity => ({
  name,
  namespace: "shoot",
  uid: `uid-of-${name}`,
  ...more,
});

/**
 * What a call of a driver gets besides its request, on the system's clock; it collects what is logged.
 *
 * @param callMs how much time the call has left at any time. Absent: the host states no deadline
 */
export function aContext(
  signal: AbortSignal = new AbortController().signal,
  callMs?: number,
): DriverContext & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    signal,
    ...(callMs === undefined ? {} : { remainingMs: () => callMs }),
    clock: systemClock,
    lines,
    log: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`),
  };
}

/** The error of a call; a text when it did not throw, or when the driver has no such method. */
export const failureOf = async (call: Promise<unknown> | undefined): Promise<unknown> =>
  call === undefined
    ? "there is no such method"
    : call.then(
        () => "it did not fail",
        (error: unknown) => error,
      );
