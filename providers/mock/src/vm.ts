import * as z from "zod";
import { machineTypeNames } from "./machine-type.ts";

/**
 * States of a VM:
 * `pending` (accepted) → `booting` → `running`; `running` → `stopping` → `stopped` → `booting` by hand; any → `terminating` → `terminated`.
 * A VM can run a kubelet in `running` and `stopping` only, and while `terminating` if it was running.
 */
export const vmStates = ["pending", "booting", "running", "stopping", "stopped", "terminating", "terminated"] as const;

const texts = z.record(z.string().max(512), z.string().max(4096));

/** Schema of a VM as it goes over the wire. */
export const vmSchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  providerId: z.string().min(1),
  nodeName: z.string().min(1),
  state: z.enum(vmStates),
  stateReason: z.string(),
  machineType: z.enum(machineTypeNames),
  capacity: z.object({ cpu: z.string(), memory: z.string() }),
  region: z.string(),
  zone: z.string(),
  image: z.string(),
  labels: texts,
  taints: z.array(z.object({ key: z.string(), value: z.string().optional(), effect: z.string() })).default([]),
  tags: texts,
  volumes: z.array(z.string()),
  addresses: z.array(z.object({ type: z.string(), address: z.string() })),
  createdAt: z.string(),
  bootDelayMs: z.number(),
  userDataBytes: z.number(),
  revision: z.number(),
});

/** Where a VM is in its life. */
export type VmState = (typeof vmStates)[number];

/** A VM of the simulated cloud. A value: a change gives a new one with a higher `revision`. */
export interface Vm {
  /** `i-` and twelve hexadecimal digits; never used again. */
  readonly id: string;
  /** What the creator called it. Not unique: like most clouds, this one finds VMs by tag. */
  readonly name: string;
  /** `mock:///<region>/<id>`. */
  readonly providerId: string;
  /** The name under which its node registers; the VM's name. */
  readonly nodeName: string;
  readonly state: VmState;
  /** Why it is in this state: `created`, `booted`, `deleted`, `stopped by hand`, `killed`, `reclaimed`, … */
  readonly stateReason: string;
  readonly machineType: (typeof machineTypeNames)[number];
  /** What its node reports, as Kubernetes quantities. */
  readonly capacity: { readonly cpu: string; readonly memory: string };
  readonly region: string;
  readonly zone: string;
  readonly image: string;
  /** Labels that its node registers with. */
  readonly labels: Readonly<Record<string, string>>;
  /** Taints that its node registers with, by the flag `--register-with-taints` in its user data. */
  readonly taints: readonly { readonly key: string; readonly value?: string | undefined; readonly effect: string }[];
  readonly tags: Readonly<Record<string, string>>;
  /** Ids of attached volumes. */
  readonly volumes: readonly string[];
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  /** RFC 3339. */
  readonly createdAt: string;
  readonly bootDelayMs: number;
  /** Size of the user data; the bytes have a call of their own, since they hold a bootstrap token. */
  readonly userDataBytes: number;
  /** Grows with every change in the cloud. */
  readonly revision: number;
}

/** Whether the VM still exists for its owner: neither gone nor going. */
export function isLive(vm: Pick<Vm, "state">): boolean {
  return vm.state !== "terminating" && vm.state !== "terminated";
}
