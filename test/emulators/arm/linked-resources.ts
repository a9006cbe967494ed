import type { ArmCall } from "./call.ts";
import { authorizeLink } from "./permissions.ts";
import type { VmBody } from "./virtual-machine-body.ts";

const imageTypes: readonly (readonly [RegExp, string])[] = [
  [/\/providers\/Microsoft\.Compute\/images\/[^/]+$/i, "Microsoft.Compute/images/read"],
  [
    /\/providers\/Microsoft\.Compute\/galleries\/[^/]+\/images\/[^/]+\/versions\/[^/]+$/i,
    "Microsoft.Compute/galleries/images/versions/read",
  ],
];

/** Rejects a VM with a linked resource that the role of the caller may not use. */
export function authorizeVmLinks(call: ArmCall, { identity, properties }: VmBody): void {
  const { networkProfile, storageProfile, availabilitySet, virtualMachineScaleSet, capacityReservation } = properties;
  const links: readonly (readonly [string, string | undefined])[] = [
    ...networkProfile.networkInterfaces.map(
      ({ id }) => ["Microsoft.Network/networkInterfaces/join/action", id] as const,
    ),
    ["Microsoft.Compute/disks/write", storageProfile.osDisk.name],
    ...Object.keys(identity?.userAssignedIdentities ?? {}).map(
      (id) => ["Microsoft.ManagedIdentity/userAssignedIdentities/assign/action", id] as const,
    ),
    ["Microsoft.Compute/availabilitySets/write", availabilitySet?.id],
    ["Microsoft.Compute/virtualMachineScaleSets/write", virtualMachineScaleSet?.id],
    ["Microsoft.Compute/capacityReservationGroups/deploy/action", capacityReservation?.capacityReservationGroup.id],
    ...imageTypes.map(
      ([pattern, action]) =>
        [
          action,
          pattern.test(storageProfile.imageReference?.id ?? "") ? storageProfile.imageReference?.id : undefined,
        ] as const,
    ),
  ];
  for (const [action, id] of links) if (id !== undefined) authorizeLink(call, action, id);
}
