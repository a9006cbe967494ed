import type { Placement } from "@aws-sdk/client-ec2";
import { goObject, MachineError, type MachineIdentity } from "@millwright/core";
import * as z from "zod";
import { optionalText } from "../spec/absent-text.ts";

/** Annotation of nodes, by which a machine asks for a placement of its own. Read by MCM's driver too. */
const placementAnnotation = "machine.sapcloud.io/awsPlacement";

const text = optionalText(z.string());

/** An EC2 placement as Go decodes it. */
const placementSchema = goObject({
  affinity: text,
  availabilityZone: text,
  groupId: text,
  groupName: text,
  hostId: text,
  hostResourceGroupArn: text,
  partitionNumber: z.int32().optional(),
  spreadDomain: text,
  tenancy: optionalText(z.enum(["default", "dedicated", "host"])),
});

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/**
 * The placement that a machine asks for in its node annotation; undefined when it asks for none.
 *
 * @throws MachineError InvalidArgument for an annotation that is no placement
 */
export function readPlacementAnnotation({ name, nodeAnnotations }: MachineIdentity): Placement | undefined {
  const annotation = nodeAnnotations?.[placementAnnotation]?.trim() ?? "";
  if (annotation === "") return undefined;
  const read = placementSchema.safeParse(parseJson(annotation));
  if (!read.success) {
    throw new MachineError(
      "InvalidArgument",
      `machine "${name}": annotation ${placementAnnotation} of spec.nodeTemplate must be JSON of an EC2 placement such as {"tenancy":"dedicated"}`,
    );
  }
  const given = read.data;
  const placement = {
    Affinity: given.affinity,
    AvailabilityZone: given.availabilityZone,
    GroupId: given.groupId,
    GroupName: given.groupName,
    HostId: given.hostId,
    HostResourceGroupArn: given.hostResourceGroupArn,
    PartitionNumber: given.partitionNumber,
    SpreadDomain: given.spreadDomain,
    Tenancy: given.tenancy,
  };
  return Object.values(placement).some((value) => value !== undefined) ? placement : undefined;
}
