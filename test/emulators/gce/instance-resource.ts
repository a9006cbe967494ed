import * as z from "zod";
import { GceRefusal, invalidValue } from "./refusal.ts";

/** 64-bit numbers are texts in Google's JSON; numbers are accepted, too. */
const int64 = z.union([z.string().regex(/^-?\d+$/), z.int()]).transform(Number);
const labels = z.record(z.string(), z.string());

const initializeParams = z.strictObject({
  diskName: z.string().optional(),
  diskSizeGb: int64.optional(),
  diskType: z.string().optional(),
  labels: labels.optional(),
  provisionedIops: int64.optional(),
  provisionedThroughput: int64.optional(),
  resourceManagerTags: labels.optional(),
  sourceImage: z.string().optional(),
  storagePool: z.string().optional(),
});

const encryptionKey = z.strictObject({ kmsKeyName: z.string(), kmsKeyServiceAccount: z.string().optional() });

const disk = z.strictObject({
  autoDelete: z.boolean().default(false),
  boot: z.boolean().default(false),
  diskEncryptionKey: encryptionKey.optional(),
  initializeParams: initializeParams.optional(),
  interface: z.enum(["NVME", "SCSI"]).optional(),
  type: z.enum(["PERSISTENT", "SCRATCH"]).default("PERSISTENT"),
});

const networkInterface = z.strictObject({
  accessConfigs: z.array(z.strictObject({ name: z.string().optional(), type: z.string().optional() })).default([]),
  aliasIpRanges: z
    .array(z.strictObject({ ipCidrRange: z.string().optional(), subnetworkRangeName: z.string().optional() }))
    .default([]),
  ipv6AccessType: z.enum(["EXTERNAL", "INTERNAL"]).optional(),
  network: z.string().optional(),
  stackType: z.enum(["IPV4_IPV6", "IPV4_ONLY"]).optional(),
  subnetwork: z.string().optional(),
});

const scheduling = z.strictObject({
  automaticRestart: z.boolean().optional(),
  instanceTerminationAction: z.enum(["DELETE", "STOP"]).optional(),
  maxRunDuration: z.strictObject({ seconds: int64.optional(), nanos: z.int32().optional() }).optional(),
  onHostMaintenance: z.enum(["MIGRATE", "TERMINATE"]).optional(),
  preemptible: z.boolean().optional(),
  provisioningModel: z.enum(["SPOT", "STANDARD"]).optional(),
});

/** The supported fields of an Instance. Others are rejected, so that no test passes with an ignored field. */
const instanceSchema = z.strictObject({
  advancedMachineFeatures: z.strictObject({ enableNestedVirtualization: z.boolean().optional() }).optional(),
  canIpForward: z.boolean().default(false),
  deletionProtection: z.boolean().default(false),
  description: z.string().max(2_048).optional(),
  disks: z.array(disk).default([]),
  guestAccelerators: z.array(z.strictObject({ acceleratorCount: z.int32(), acceleratorType: z.string() })).default([]),
  labels: labels.default({}),
  machineType: z.string().default(""),
  metadata: z
    .strictObject({ items: z.array(z.strictObject({ key: z.string(), value: z.string().optional() })).default([]) })
    .default({ items: [] }),
  minCpuPlatform: z.string().optional(),
  name: z.string().default(""),
  networkInterfaces: z.array(networkInterface).default([]),
  scheduling: scheduling.default({}),
  serviceAccounts: z.array(z.strictObject({ email: z.string(), scopes: z.array(z.string()).default([]) })).default([]),
  shieldedInstanceConfig: z
    .strictObject({
      enableIntegrityMonitoring: z.boolean().optional(),
      enableSecureBoot: z.boolean().optional(),
      enableVtpm: z.boolean().optional(),
    })
    .optional(),
  tags: z.strictObject({ items: z.array(z.string()).default([]) }).default({ items: [] }),
});

/** The requested instance. */
export type InstanceResource = z.output<typeof instanceSchema>;

const namePattern = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Letters may be of any script, but none is a capital (Compute Engine documentation, "Organize resources using labels"). */
const labelKeyPattern = /^[\p{Ll}\p{Lo}][-_\p{Ll}\p{Lo}\p{N}]{0,62}$/u;
const labelValuePattern = /^[-_\p{Ll}\p{Lo}\p{N}]{0,63}$/u;
const longestMetadataValue = 262_144;
const longestMetadata = 524_288;

/**
 * Reads the body of `instances.insert`.
 *
 * @throws GceRefusal for an invalid Instance, as far as that does not depend on the world
 */
export function readInstance(body: string): InstanceResource {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new GceRefusal("parseError", "Parse Error");
  }
  const read = instanceSchema.safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new GceRefusal(
      "invalid",
      `Invalid JSON payload received. ${issue?.message ?? ""} at 'instance_resource${issue?.path.map((part) => `.${String(part)}`).join("") ?? ""}'`,
    );
  }
  const resource = read.data;
  checkNames(resource);
  checkMetadata(resource);
  checkDisks(resource);
  checkScheduling(resource);
  return resource;
}

function checkLabels(field: string, given: Readonly<Record<string, string>>): void {
  if (Object.keys(given).length > 64) throw invalidValue(field, "", "Must be at most 64");
  for (const [key, value] of Object.entries(given)) {
    if (!labelKeyPattern.test(key)) throw invalidValue(field, key, "Label key is not valid.");
    if (!labelValuePattern.test(value)) throw invalidValue(field, value, "Label value is not valid.");
  }
}

function checkNames({ name, labels, disks, tags }: InstanceResource): void {
  if (!namePattern.test(name)) {
    throw invalidValue("resource.name", name, `Must be a match of regex '${namePattern.source}'`);
  }
  checkLabels("resource.labels", labels);
  for (const [index, { initializeParams }] of disks.entries()) {
    checkLabels(`resource.disks[${index}].initializeParams.labels`, initializeParams?.labels ?? {});
  }
  if (tags.items.length > 64) throw invalidValue("resource.tags", "", "Must be at most 64");
  for (const tag of tags.items) {
    if (!namePattern.test(tag)) throw invalidValue("resource.tags.items", tag, "Must be a match of a name");
  }
}

function checkMetadata({ metadata }: InstanceResource): void {
  const keys = new Set<string>();
  let size = 0;
  for (const { key, value = "" } of metadata.items) {
    if (!/^[-_a-zA-Z0-9]{1,128}$/.test(key)) throw invalidValue("resource.metadata", key, "Key is not valid.");
    if (keys.has(key)) {
      throw new GceRefusal("invalid", `Metadata has duplicate keys: ${key}`);
    }
    keys.add(key);
    const bytes = Buffer.byteLength(value);
    if (bytes > longestMetadataValue)
      throw invalidValue(`resource.metadata.items['${key}']`, "", "Value is too large.");
    size += bytes + key.length;
  }
  if (size > longestMetadata) throw invalidValue("resource.metadata", "", "Metadata is too large.");
}

function checkDisks({ disks }: InstanceResource): void {
  if (disks.filter(({ boot }) => boot).length !== 1 || disks[0]?.boot !== true) {
    throw invalidValue("resource.disks", "", "Boot disk must be the first disk attached to the instance.");
  }
  for (const [index, { boot, type, initializeParams, interface: bus }] of disks.entries()) {
    if (boot && (initializeParams?.sourceImage ?? "") === "") {
      throw invalidValue(`resource.disks[${index}]`, "", "Boot disk must have a source specified");
    }
    if (type === "SCRATCH" && boot) throw invalidValue(`resource.disks[${index}]`, "", "Boot disk must be persistent.");
    if (type === "SCRATCH" && bus === undefined) {
      throw invalidValue(`resource.disks[${index}].interface`, "", "Must be specified for scratch disks.");
    }
  }
}

function checkScheduling({ scheduling, guestAccelerators, machineType }: InstanceResource): void {
  const { preemptible, provisioningModel, automaticRestart, onHostMaintenance, instanceTerminationAction } = scheduling;
  const isSpot = preemptible === true || provisioningModel === "SPOT";
  if (provisioningModel !== undefined && preemptible !== undefined && preemptible !== (provisioningModel === "SPOT")) {
    throw new GceRefusal("invalid", "Scheduling must not have a provisioning model that contradicts preemptible.");
  }
  if (isSpot && automaticRestart === true) {
    throw new GceRefusal("invalid", "Scheduling must have automaticRestart be false when preemptible is true.");
  }
  if (isSpot && onHostMaintenance === "MIGRATE") {
    throw new GceRefusal("invalid", "Scheduling must have onHostMaintenance be TERMINATE when preemptible is true.");
  }
  if (
    instanceTerminationAction !== undefined &&
    provisioningModel !== "SPOT" &&
    scheduling.maxRunDuration === undefined
  ) {
    throw new GceRefusal(
      "invalid",
      "You cannot specify a termination action for a VM instance that has the standard provisioning model.",
    );
  }
  if (guestAccelerators.length > 0 && onHostMaintenance !== "TERMINATE") {
    throw new GceRefusal("badRequest", "Instances with guest accelerators do not support live migration.");
  }
  if (machineType === "") throw new GceRefusal("required", "Required field 'resource.machineType' not specified");
}
