import * as z from "zod";
import { type ArmAction, type ArmCall, empty, json, operationHeaders, page, readBody, startOperation } from "./call.ts";
import { ArmRefusal } from "./refusal.ts";
import { keyOf, resourceId } from "./resource-path.ts";
import type { Disk } from "./resources.ts";
import type { ArmWorld } from "./world.ts";

/** Type of managed disks. */
export const diskType = "Microsoft.Compute/disks";

const imageSchema = z.strictObject({
  id: z.string().optional(),
  sharedGalleryImageId: z.string().optional(),
  communityGalleryImageId: z.string().optional(),
});

const diskSchema = z.strictObject({
  location: z.string(),
  tags: z.record(z.string(), z.string()).optional(),
  zones: z.array(z.string()).max(1).optional(),
  sku: z.strictObject({ name: z.string() }).optional(),
  properties: z.strictObject({
    osType: z.enum(["Linux", "Windows"]).optional(),
    diskSizeGB: z.int().min(1).optional(),
    creationData: z.strictObject({
      createOption: z.enum(["Empty", "FromImage"]),
      imageReference: imageSchema.optional(),
      galleryImageReference: imageSchema.optional(),
    }),
  }),
});

/** A disk as ARM shows it. */
export function diskAnswer(
  world: ArmWorld,
  { id, name, location, tags, zones, sku, sizeGb, creationData, managedBy, provisioningState }: Disk,
) {
  const isRunning = world.vms.get(keyOf(managedBy ?? ""))?.power !== "deallocated";
  return {
    id,
    name,
    type: diskType,
    location,
    tags,
    ...(zones.length === 0 ? {} : { zones }),
    sku: { name: sku, tier: "Premium" },
    ...(managedBy === undefined ? {} : { managedBy }),
    properties: {
      osType: "Linux",
      creationData,
      ...(sizeGb === undefined ? {} : { diskSizeGB: sizeGb }),
      diskState: managedBy === undefined ? "Unattached" : isRunning ? "Attached" : "Reserved",
      provisioningState,
    },
  };
}

const idOf = ({ path }: ArmCall): string => resourceId(path.subscription, path.group, diskType, path.segments[1] ?? "");

/** GET of a disk. */
export const getDisk: ArmAction = (call) => {
  const disk = call.world.disks.get(keyOf(idOf(call)));
  if (disk === undefined) {
    throw new ArmRefusal(
      "ResourceNotFound",
      `The Resource '${diskType}/${call.path.segments[1] ?? ""}' under resource group '${call.path.group}' was not found.`,
    );
  }
  return json(200, diskAnswer(call.world, disk));
};

/** GET of the disks of a resource group. */
export const listDisks: ArmAction = (call) =>
  page(
    call,
    [...call.world.disks.values()]
      .filter(({ group }) => group === call.path.group.toLowerCase())
      .map((disk) => diskAnswer(call.world, disk)),
  );

/** PUT of a disk. */
export const putDisk: ArmAction = (call) => {
  const { world, path } = call;
  const body = readBody(call, diskSchema);
  const id = idOf(call);
  const { creationData, diskSizeGB } = body.properties;
  if (JSON.stringify(creationData).includes("missing")) {
    throw new ArmRefusal("NotFound", "The referenced image was not found.");
  }
  const known = world.disks.get(keyOf(id));
  const zones = body.zones ?? [];
  if (known !== undefined && JSON.stringify(known.zones) !== JSON.stringify(zones)) {
    throw new ArmRefusal("PropertyChangeNotAllowed", "Changing property 'zones' is not allowed.");
  }
  const disk: Disk = {
    id,
    name: path.segments[1] ?? "",
    group: path.group.toLowerCase(),
    location: body.location,
    tags: body.tags ?? {},
    provisioningState: "Creating",
    createdAtMs: known?.createdAtMs ?? world.nowMs(),
    zones,
    sku: body.sku?.name ?? "Standard_LRS",
    sizeGb: diskSizeGB,
    creationData,
    ...(known?.managedBy === undefined ? {} : { managedBy: known.managedBy }),
  };
  world.disks.set(keyOf(id), disk);
  const operation = startOperation(call, id, world.options.partMs, () => {
    disk.provisioningState = "Succeeded";
    return undefined;
  });
  return json(202, diskAnswer(world, disk), operationHeaders(call, operation, { async: true, location: true }));
};

/** DELETE of a disk. */
export const deleteDisk: ArmAction = (call) => {
  const { world } = call;
  const id = idOf(call);
  const disk = world.disks.get(keyOf(id));
  if (disk === undefined) return empty(204);
  if (disk.managedBy !== undefined) {
    throw new ArmRefusal("OperationNotAllowed", `Disk ${disk.name} is attached to VM ${disk.managedBy}.`);
  }
  disk.provisioningState = "Deleting";
  const operation = startOperation(call, id, world.options.partMs, () => {
    removeDisk(world, disk);
    return undefined;
  });
  return empty(202, operationHeaders(call, operation, { location: true }));
};

/** Deletes a disk. */
export function removeDisk(world: ArmWorld, disk: Disk): void {
  if (world.disks.get(keyOf(disk.id)) !== disk) return;
  world.disks.delete(keyOf(disk.id));
  world.gone.push({ type: diskType, name: disk.name, group: disk.group, tags: disk.tags, goneAtMs: world.nowMs() });
}
