import * as z from "zod";
import { type Vm, type VmState, vmSchema } from "./vm.ts";

/** A VM with what only the cloud knows about it. */
export interface VmRecord {
  readonly vm: Vm;
  readonly token: string;
  /** What it was created from, to recognize a repeated request. */
  readonly fingerprint: string;
  readonly userData: Uint8Array;
  /** When it leaves its state by itself, in milliseconds since 1970. */
  readonly dueAtMs?: number | undefined;
}

/** How long a VM stays in the states that it leaves by itself, in milliseconds. */
export interface VmTimings {
  /** From `stopping` to `stopped`. */
  readonly shutdownDelayMs: number;
  /** From `terminating` to `terminated`. */
  readonly deleteDelayMs: number;
  /** From `terminated` until the cloud has forgotten the VM. */
  readonly retentionMs: number;
}

/** Where a VM goes by itself, and why; without a reason it keeps the one it has. States that are not here only change by hand. */
export const nextStates: {
  readonly [state in VmState]?: { readonly state: VmState | "forgotten"; readonly reason?: string };
} = {
  pending: { state: "booting", reason: "accepted" },
  booting: { state: "running", reason: "booted" },
  stopping: { state: "stopped" },
  terminating: { state: "terminated" },
  terminated: { state: "forgotten" },
};

/** How long a VM stays in its state, in milliseconds; Infinity for states that only change by hand. */
export function stayMs(vm: Pick<Vm, "state" | "bootDelayMs">, timings: VmTimings): number {
  const stays: { readonly [state in VmState]: number } = {
    // A quarter of the boot delay is spent waiting for a host.
    pending: vm.bootDelayMs / 4,
    booting: (vm.bootDelayMs * 3) / 4,
    running: Number.POSITIVE_INFINITY,
    stopping: timings.shutdownDelayMs,
    stopped: Number.POSITIVE_INFINITY,
    terminating: timings.deleteDelayMs,
    terminated: timings.retentionMs,
  };
  return stays[vm.state];
}

/** Schema of a stored cloud. */
export const cloudSnapshotSchema = z.object({
  version: z.literal(1),
  epoch: z.string().min(1),
  revision: z.int().min(0),
  vms: z.array(
    z.object({
      vm: vmSchema,
      token: z.string(),
      fingerprint: z.string(),
      userData: z.base64(),
      dueAtMs: z.number().optional(),
    }),
  ),
});

/** The whole state of a simulated cloud as plain JSON. Holds user data, and with it bootstrap tokens: keep the file private. */
export interface CloudSnapshot {
  readonly version: 1;
  readonly epoch: string;
  readonly revision: number;
  readonly vms: readonly (Omit<VmRecord, "userData"> & { readonly userData: string })[];
}
