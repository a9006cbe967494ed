import { goObject } from "@millwright/core";
import { type AddIssue, checkFallbacks, issueCollector, withFallbackValues } from "@millwright/core/driver-kit";
import * as z from "zod";
import { checkDisks, diskOfVmSchema, diskSchema, isScratch } from "./disks.ts";
import { goText, goTexts } from "./go-text.ts";
import { isLabelKey, isLabelValue, isNetworkTag, isZoneOf, placePattern } from "./names.ts";
import { checkNetworkInterfaces, networkInterfaceSchema } from "./network-interfaces.ts";

/** Compute Engine's limit for the labels of one thing. */
export const mostLabels = 64;

const text = (description: string) => z.string().max(2_048).describe(description);
const required = (description: string) => text(description).min(1, "must not be empty");

const gpuSchema = goObject({
  acceleratorType: required("Type of the accelerators, such as `nvidia-tesla-t4`."),
  count: z.int32().min(1, "must be at least 1").describe("How many."),
}).describe("Accelerators of the VM. `scheduling.onHostMaintenance` must be `TERMINATE`.");

const metadataSchema = goObject({
  key: required("Key; not `user-data`, which is the driver's."),
  value: z.string().max(262_144).describe("Value.").optional(),
});

const schedulingSchema = goObject({
  automaticRestart: z
    .boolean()
    .describe("Whether Compute Engine starts the VM again when it fails. Not with preemptible and spot VMs.")
    .default(false),
  onHostMaintenance: z.enum(["MIGRATE", "TERMINATE"]).describe("What happens to the VM when its host is maintained."),
  preemptible: z
    .boolean()
    .describe("Whether Compute Engine may reclaim the VM, after 24 hours at most.")
    .default(false),
  provisioningModel: z
    .enum(["SPOT", "STANDARD"])
    .describe("`SPOT`: may be reclaimed at any time. Not in MCM.")
    .optional(),
  instanceTerminationAction: z
    .enum(["STOP", "DELETE"])
    .describe("What happens to a reclaimed spot VM; it is stopped by default. Not in MCM.")
    .optional(),
}).describe("When and how the VM may be interrupted.");

const serviceAccountSchema = goObject({
  email: required("Service account."),
  scopes: z.array(z.string()).describe("Scopes of its tokens.").default([]),
});

const shieldedSchema = goObject({
  integrityMonitoring: z.boolean().describe("Integrity monitoring.").optional(),
  secureBoot: z.boolean().describe("Secure boot.").optional(),
  vtpm: z.boolean().describe("Virtual TPM.").optional(),
}).describe("Shielded VM options; omitted fields have Compute Engine's defaults for the image.");

const advancedSchema = goObject({
  enableNestedVirtualization: z.boolean().describe("Whether the VM can run VMs.").default(false),
}).describe("Features of the machine.");

const fallbackSchema = goObject({
  machineType: required("Machine type to try; that of the class by default.").optional(),
  zone: required("Zone to try, in the region of the class; that of the class by default.")
    .regex(placePattern, "must be a zone such as europe-west1-c")
    .optional(),
});

const specShape = {
  apiVersion: text("Ignored.").optional(),
  region: required("Region of the subnetworks.").regex(placePattern, "must be a region such as europe-west1"),
  zone: required("Zone of the VM; part of its provider id.").regex(
    placePattern,
    "must be a zone such as europe-west1-b",
  ),
  machineType: required("Machine type, by its name."),
  advancedMachineFeatures: advancedSchema.optional(),
  canIpForward: z
    .boolean()
    .describe("Whether the VM may send packets with other addresses than its own.")
    .default(false),
  deletionProtection: z
    .boolean()
    .describe("Whether the VM can only be deleted after this was disabled by hand.")
    .default(false),
  description: text("Description of the VM.").optional(),
  disks: z.array(diskSchema).min(1, "must name at least the boot disk").describe("Disks of the VM."),
  fallbacks: z
    .array(fallbackSchema)
    .max(20)
    .describe("Alternatives, in this order, when there is no capacity. Not in MCM.")
    .default([]),
  gpu: gpuSchema.optional(),
  labels: goTexts.describe("Labels of the VM.").default({}),
  metadata: z.array(metadataSchema).describe("Metadata of the VM, beside its user data.").default([]),
  minCpuPlatform: text("Oldest CPU platform, such as `Intel Ice Lake`.").optional(),
  networkInterfaces: z
    .array(networkInterfaceSchema)
    .min(1, "must name at least one interface")
    .describe("Interfaces of the VM."),
  scheduling: schedulingSchema,
  serviceAccounts: z.array(serviceAccountSchema).describe("Service accounts of the VM.").default([]),
  shieldedInstanceConfiguration: shieldedSchema.optional(),
  tags: z
    .array(goText)
    .describe(
      "Network tags of the VM. One has to contain `kubernetes-io-cluster-` and one `kubernetes-io-role-`: the driver identifies its VMs by them. Without them a class creates no VMs; those that it has can be deleted.",
    )
    .default([]),
};

const specSchema = goObject(specShape);

/** `providerSpec` of the GCP driver, with its defaults. Fields are spelled as on the wire. */
export type GcpSpec = Readonly<z.output<typeof specSchema>>;

/** Schema of `providerSpec` of classes with `provider: GCP`: that of MCM's driver, keys in any case, and what was added. */
export const gcpSpecSchema = specSchema.superRefine((spec, check) => {
  const addIssue = issueCollector(check);
  checkFallbacks(spec.fallbacks, ["machineType", "zone"], addIssue);
  checkDisks(spec.disks, addIssue);
  checkNetworkInterfaces(spec, addIssue);
  checkScheduling(spec, addIssue);
  checkAllLabels(spec, addIssue);
  checkTags(spec, addIssue);
  checkMetadata(spec, addIssue);
  for (const [index, { zone }] of spec.fallbacks.entries()) {
    if (zone !== undefined && !isZoneOf(zone, spec.region)) {
      addIssue(["fallbacks", index, "zone"], `must be a zone of region ${spec.region}`);
    }
  }
});

/**
 * Reads what finds a VM, the zones where it may be and the tags of its cluster, from a class that {@link gcpSpecSchema} rejects, and what is valid of the rest: a deletion compares the disks of the
 * VM with those of the class.
 */
export const gcpVmSpecSchema = goObject(
  withFallbackValues({ ...specShape, disks: z.array(diskOfVmSchema) }, ["zone", "fallbacks", "tags"], {
    region: "",
    machineType: "",
    disks: [],
    networkInterfaces: [],
    scheduling: { automaticRestart: false, onHostMaintenance: "TERMINATE", preemptible: false },
  }),
);

/** Whether Compute Engine may take the VMs of a spec back. */
export const isSpot = ({ scheduling }: Pick<GcpSpec, "scheduling">): boolean =>
  scheduling.preemptible || scheduling.provisioningModel === "SPOT";

/**
 * Rules over `scheduling`. Compute Engine can neither migrate nor restart VMs that it may take back (API reference, `Scheduling.onHostMaintenance` and `Scheduling.automaticRestart`).
 */
function checkScheduling({ scheduling, gpu }: GcpSpec, addIssue: AddIssue): void {
  const at = (field: string): readonly string[] => ["scheduling", field];
  if (gpu !== undefined && scheduling.onHostMaintenance !== "TERMINATE") {
    addIssue(at("onHostMaintenance"), 'must be "TERMINATE" with a gpu');
  }
  if (isSpot({ scheduling })) {
    const which = "for preemptible and spot VMs";
    if (scheduling.onHostMaintenance !== "TERMINATE") addIssue(at("onHostMaintenance"), `must be "TERMINATE" ${which}`);
    if (scheduling.automaticRestart) addIssue(at("automaticRestart"), `must be false ${which}`);
  }
  if (scheduling.preemptible && scheduling.provisioningModel === "STANDARD") {
    addIssue(at("provisioningModel"), 'must be "SPOT" with preemptible, or be left out');
  }
  if (scheduling.instanceTerminationAction !== undefined && scheduling.provisioningModel !== "SPOT") {
    addIssue(at("instanceTerminationAction"), 'may only be given with provisioningModel "SPOT"');
  }
}

type Path = readonly (string | number)[];

/** Labels of the VM and of its disks, but for those of local SSDs, which have none. */
function checkAllLabels({ labels, disks }: GcpSpec, addIssue: AddIssue): void {
  checkLabels(labels, ["labels"], addIssue);
  for (const [index, disk] of disks.entries()) {
    if (!isScratch(disk)) checkLabels(disk.labels, ["disks", index, "labels"], addIssue);
  }
}

function checkLabels(labels: GcpSpec["labels"], at: Path, addIssue: AddIssue): void {
  if (Object.keys(labels).length > mostLabels) {
    addIssue(at, `must be at most ${mostLabels}: Compute Engine takes no more`);
  }
  const characters = 'at most 63 lower-case letters, digits, "-" and "_"';
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) addIssue([...at, key], `must have a key of ${characters} that begins with a letter`);
    else if (!isLabelValue(value)) addIssue([...at, key], `must be ${characters}`);
  }
}

/** Compute Engine's limit for the network tags of one VM (its documentation, "Quotas and limits" of VPC: network tags per VM). */
const mostTags = 64;

function checkTags({ tags }: GcpSpec, addIssue: AddIssue): void {
  if (tags.length > mostTags) addIssue(["tags"], `must be at most ${mostTags}: Compute Engine takes no more`);
  for (const [index, tag] of tags.entries()) {
    if (isNetworkTag(tag)) continue;
    addIssue(
      ["tags", index],
      'must be 1 to 63 lower-case letters, digits and "-", with a letter first and no "-" at the end',
    );
  }
}

function checkMetadata({ metadata }: GcpSpec, addIssue: AddIssue): void {
  const keys = metadata.map(({ key }) => key);
  for (const [index, key] of keys.entries()) {
    if (key === "user-data") addIssue(["metadata", index, "key"], "must not be user-data, which is the driver's");
    else if (keys.indexOf(key) !== index) addIssue(["metadata", index, "key"], `must be unique, "${key}" occurs twice`);
  }
}
