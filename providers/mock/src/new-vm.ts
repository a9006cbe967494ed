import { createHash } from "node:crypto";
import * as z from "zod";
import { CloudError } from "./cloud-error.ts";
import type { CreateVmInput } from "./cloud.ts";
import { machineTypeNames, machineTypes } from "./machine-type.ts";
import type { VmRecord } from "./vm-record.ts";
import type { Vm } from "./vm.ts";

/** The largest user data that the cloud takes, in bytes. */
export const maxUserDataBytes = 256 * 1024;

const word = z.string().min(1).max(128);
const texts = z.record(z.string().min(1).max(317), z.string().max(1024));

const inputSchema = z.strictObject({
  name: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "must be 1 to 253 of a-z, 0-9, dots and dashes"),
  token: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "must be 1 to 64 of A-Z, a-z, 0-9 and dashes"),
  machineType: z.enum(machineTypeNames),
  region: word,
  zone: word,
  image: word,
  labels: texts.default({}),
  tags: texts.default({}),
  userData: z
    .instanceof(Uint8Array)
    .refine((bytes) => bytes.length <= maxUserDataBytes, `must have at most ${maxUserDataBytes} bytes`)
    .default(() => new Uint8Array()),
  bootDelayMs: z.number().min(0).optional(),
});

/** A checked request for a VM. */
export interface WantedVm {
  readonly input: z.infer<typeof inputSchema>;
  readonly bootDelayMs: number;
  readonly fingerprint: string;
}

/** Checks what a VM is to be made from; fails with `InvalidArgument` that names the field. */
export function readCreateVmInput(input: CreateVmInput, defaultBootDelayMs: number): WantedVm {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new CloudError("InvalidArgument", `${issue?.path.join(".") ?? "VM"}: ${issue?.message ?? "is not valid"}`);
  }
  // The user data is left out: it differs between two attempts when the bootstrap token was renewed.
  const { userData: _, token: __, ...rest } = parsed.data;
  return {
    input: parsed.data,
    bootDelayMs: parsed.data.bootDelayMs ?? defaultBootDelayMs,
    fingerprint: createHash("sha256").update(canonicalJson(rest)).digest("hex"),
  };
}

/** The longest host name, and the longest value of the label `node` of a Machine. */
const maxHostName = 63;

/** The host name of a VM, under which its kubelet registers: its name, or the start of a long one and a hash of the whole. */
function hostNameOf(name: string): string {
  if (name.length <= maxHostName) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 10);
  return `${name.slice(0, maxHostName - hash.length - 1).replace(/[^a-z0-9]+$/, "")}-${hash}`;
}

/** The taints in the flag `--register-with-taints` of the kubelet, `key=value:effect` or `key:effect` each, separated by commas; what is none of these is left out. */
function taintsIn(userData: Uint8Array): Vm["taints"] {
  const [, list = ""] =
    /--register-with-taints[= ]["']?([^\s"']+)/.exec(Buffer.from(userData).toString("latin1")) ?? [];
  return list.split(",").flatMap((text) => {
    const [, key = "", value, effect = ""] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
    return key === "" ? [] : [{ key, ...(value === undefined ? {} : { value }), effect }];
  });
}

/** The record of a VM that has just been accepted. */
export function newVmRecord(
  wanted: WantedVm,
  given: { readonly id: string; readonly createdAt: Date; readonly ordinal: number },
): VmRecord {
  const { name, token, machineType, region, zone, image, labels, tags, userData } = wanted.input;
  const address = [10, 64 + ((given.ordinal >> 16) & 63), (given.ordinal >> 8) & 255, given.ordinal & 255].join(".");
  return {
    token,
    fingerprint: wanted.fingerprint,
    userData: Uint8Array.from(userData),
    vm: {
      id: given.id,
      name,
      providerId: `mock:///${region}/${given.id}`,
      nodeName: hostNameOf(name),
      state: "pending",
      stateReason: "created",
      machineType,
      capacity: machineTypes[machineType],
      region,
      zone,
      image,
      labels,
      taints: taintsIn(userData),
      tags,
      volumes: [],
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: name },
      ],
      createdAt: given.createdAt.toISOString(),
      bootDelayMs: wanted.bootDelayMs,
      userDataBytes: userData.length,
      revision: 0,
    },
  };
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
