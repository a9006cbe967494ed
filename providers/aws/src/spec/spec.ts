import { goObject } from "@millwright/core";
import { type AddIssue, checkFallbacks, issueCollector, withFallbackValues } from "@millwright/core/driver-kit";
import * as z from "zod";
import { optionalText } from "./absent-text.ts";
import { blockDeviceSchema, checkBlockDevices } from "./block-devices.ts";
import { clusterTagPart, roleTagPart } from "./cluster-keys.ts";
import { checkNetworkInterfaces, networkInterfaceOfVmSchema, networkInterfaceSchema } from "./network-interfaces.ts";
import { isRegion } from "./regions.ts";

/** EC2's limit for the tags of one resource. */
export const mostTags = 50;

/** Tag with the name of the machine, as with MCM's driver. A class cannot set it. */
export const nameTag = "Name";

const text = (description: string) => z.string().max(2_048).describe(description);
const required = (description: string) => text(description).min(1, "must not be empty");
const optional = (description: string) => optionalText(text("")).describe(description);
const oneOf = <const Values extends readonly string[]>(values: Values, description: string) =>
  optionalText(z.enum(values, { error: `must be one of ${values.map((value) => `"${value}"`).join(", ")}` })).describe(
    description,
  );

const iamSchema = goObject({
  name: optional("Name of the instance profile."),
  arn: optional("ARN of the instance profile."),
}).describe("Instance profile of the VM: exactly one of `name` and `arn`.");

const capacityReservationSchema = goObject({
  capacityReservationPreference: optional("`open` or `none`; excludes the other two."),
  capacityReservationId: optional("Reservation to use."),
  capacityReservationResourceGroupArn: optional("Group of reservations to use."),
}).describe("Which capacity reservation the VM uses.");

const metadataOptionsSchema = goObject({
  httpEndpoint: oneOf(["enabled", "disabled"], "Whether the metadata service answers."),
  httpPutResponseHopLimit: z
    .int32()
    .min(1)
    .max(64)
    .describe("Network hops that a metadata token may travel.")
    .optional(),
  httpTokens: oneOf(["required", "optional"], "`required`: IMDSv2 only."),
  httpProtocolIpv6: oneOf(["enabled", "disabled"], "Whether the metadata service answers over IPv6."),
  instanceMetadataTags: oneOf(["enabled", "disabled"], "Whether the VM can read its tags there. Not in MCM."),
}).describe("The instance metadata service. Omitted fields have the defaults of the account or the image.");

const cpuOptionsSchema = goObject({
  coreCount: z.int32().min(1).describe("Cores; together with `threadsPerCore`.").optional(),
  threadsPerCore: z.int32().min(1).max(2).describe("1 or 2; together with `coreCount`.").optional(),
  amdSevSnp: oneOf(["enabled", "disabled"], "AMD SEV-SNP."),
}).describe("CPU options of the VM.");

const placementSchema = goObject({
  groupId: optional("Placement group."),
  tenancy: oneOf(["default", "dedicated", "host"], "Tenancy."),
  hostId: optional("Dedicated host; needs tenancy `host`."),
  partitionNumber: z.int32().min(1).describe("Partition of the placement group.").optional(),
  affinity: oneOf(["default", "host"], "Affinity with the dedicated host."),
}).describe("Placement of the VM. Without it the node annotation `machine.sapcloud.io/awsPlacement` is read.");

const marketOptionsSchema = goObject({
  marketType: z
    .enum(["spot", "capacity-block", "interruptible-capacity-reservation"])
    .describe("How the VM is paid for."),
  maxPrice: optional("Maximum price per hour for `spot`, in dollars. Not in MCM."),
}).describe("Market of the VM; overrides `spotPrice`.");

const fallbackSchema = goObject({
  machineType: optional("Instance type to try; that of the class by default."),
  subnetID: optional("Subnet of all interfaces to try, and by it the zone; those of the class by default."),
}).describe("Alternatives, in this order, when there is no capacity. Not in MCM.");

/** Tags whose keys alone count. */
const tagKeysSchema = z.record(z.string(), z.string().catch(""));

const specShape = {
  apiVersion: optional("Ignored."),
  ami: required("Id of the image."),
  region: text("Region of the VM; the first part of its provider id.").refine(isRegion, {
    error: ({ input }) => `must be an AWS region, for example "eu-west-1", not "${String(input).slice(0, 64)}"`,
  }),
  machineType: required("Instance type."),
  blockDevices: z.array(blockDeviceSchema).min(1, "must name at least the root disk").describe("Disks of the VM."),
  capacityReservation: capacityReservationSchema.optional(),
  cpuOptions: cpuOptionsSchema.optional(),
  ebsOptimized: z.boolean().describe("Dedicated bandwidth to EBS. Ignored by MCM.").default(false),
  fallbacks: z.array(fallbackSchema).max(20).default([]),
  iam: iamSchema,
  instanceMarketOptions: marketOptionsSchema.optional(),
  instanceMetadataOptions: metadataOptionsSchema.optional(),
  keyName: optional("Name of the SSH key pair."),
  monitoring: z.boolean().describe("Detailed monitoring. Ignored by MCM.").default(false),
  networkInterfaces: z
    .array(networkInterfaceSchema)
    .min(1, "must name at least one interface")
    .describe("Interfaces of the VM."),
  placement: placementSchema.optional(),
  spotPrice: text("Deprecated: requests a spot VM; if not empty, the maximum price per hour.").optional(),
  srcAndDstChecksEnabled: z
    .boolean()
    .describe("`false` disables the source and destination check on all interfaces once the VM exists.")
    .optional(),
  tags: z
    .record(
      z.string().max(128),
      // Go reads null as an empty text.
      z.preprocess((value) => value ?? "", z.string().max(256)),
    )
    .describe(
      "Tags of VM, volumes and interfaces. One key must contain `kubernetes.io/cluster/` and one `kubernetes.io/role/`: they identify the VMs of the driver. `Name` is always the name of the machine.",
    ),
};

const specSchema = goObject(specShape);

/** `providerSpec` of the AWS driver, with its defaults. Fields are spelled as on the wire. */
export type AwsSpec = Readonly<z.output<typeof specSchema>>;

/** Schema of `providerSpec` of classes with `provider: AWS`: that of MCM's driver, keys in any case, and what was added. */
export const awsSpecSchema = specSchema.superRefine((spec, check) => {
  const addIssue = issueCollector(check);
  checkIam(spec, addIssue);
  checkFallbacks(spec.fallbacks, ["machineType", "subnetID"], addIssue);
  checkTags(spec, addIssue);
  checkCapacityReservation(spec, addIssue);
  checkCpuOptions(spec, addIssue);
  checkMarket(spec, addIssue);
  if (spec.placement?.hostId !== undefined && spec.placement.tenancy !== "host") {
    addIssue(["placement", "hostId"], 'may only be given with tenancy "host"');
  }
  checkBlockDevices(spec.blockDevices, addIssue);
  checkNetworkInterfaces(spec.networkInterfaces, addIssue);
});

/**
 * Reads what finds a VM, its region and the keys of its tags, from a class that {@link awsSpecSchema} rejects, and what is valid of the rest: `getMachineStatus` compares
 * the VM with the interfaces of the class.
 */
export const awsVmSpecSchema = goObject(
  withFallbackValues(
    { ...specShape, tags: tagKeysSchema, networkInterfaces: z.array(networkInterfaceOfVmSchema) },
    ["region", "tags"],
    { ami: "", machineType: "", blockDevices: [], iam: {}, networkInterfaces: [] },
  ),
).superRefine((spec, check) => checkClusterKeys(spec, issueCollector(check)));

function checkIam({ iam }: AwsSpec, addIssue: AddIssue): void {
  const given = [iam.name, iam.arn].filter((value) => value !== undefined).length;
  if (given === 0) addIssue(["iam"], "must have a name or an arn of an instance profile");
  if (given === 2) addIssue(["iam"], "must have either a name or an arn, not both");
}

function checkClusterKeys({ tags }: Pick<AwsSpec, "tags">, addIssue: AddIssue): void {
  for (const part of [clusterTagPart, roleTagPart]) {
    if (!Object.keys(tags).some((key) => key.includes(part)))
      addIssue(["tags"], `must have a key that contains "${part}"`);
  }
}

function checkTags({ tags }: AwsSpec, addIssue: AddIssue): void {
  checkClusterKeys({ tags }, addIssue);
  if (Object.keys(tags).filter((key) => key !== nameTag).length > mostTags - 1)
    addIssue(["tags"], `must have at most ${mostTags - 1} keys beside "${nameTag}": EC2 allows ${mostTags}`);
}

function checkCapacityReservation({ capacityReservation }: AwsSpec, addIssue: AddIssue): void {
  if (capacityReservation === undefined) return;
  const { capacityReservationPreference, capacityReservationId, capacityReservationResourceGroupArn } =
    capacityReservation;
  if (capacityReservationPreference !== undefined) {
    if (capacityReservationId !== undefined || capacityReservationResourceGroupArn !== undefined) {
      addIssue(["capacityReservation"], "must not have an id or a group beside capacityReservationPreference");
    }
  } else if (capacityReservationId !== undefined && capacityReservationResourceGroupArn !== undefined) {
    addIssue(
      ["capacityReservation"],
      "must have either capacityReservationId or capacityReservationResourceGroupArn, not both",
    );
  }
}

function checkCpuOptions({ cpuOptions }: AwsSpec, addIssue: AddIssue): void {
  if (cpuOptions === undefined) return;
  if ((cpuOptions.coreCount === undefined) !== (cpuOptions.threadsPerCore === undefined)) {
    addIssue(["cpuOptions"], "must have both coreCount and threadsPerCore, or neither");
  }
}

function checkMarket({ instanceMarketOptions }: AwsSpec, addIssue: AddIssue): void {
  if (instanceMarketOptions?.maxPrice !== undefined && instanceMarketOptions.marketType !== "spot") {
    addIssue(["instanceMarketOptions", "maxPrice"], 'may only be given with marketType "spot"');
  }
}
