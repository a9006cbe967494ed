import * as z from "zod";
import { type ArmAction, type ArmCall, empty, json, operationHeaders, page, readBody, startOperation } from "./call.ts";
import { authorizeLink } from "./permissions.ts";
import { ArmRefusal } from "./refusal.ts";
import { keyOf, locationOf, nameOf, resourceId } from "./resource-path.ts";
import type { NetworkInterface } from "./resources.ts";
import type { ArmWorld } from "./world.ts";

const type = "Microsoft.Network/networkInterfaces";

const nicSchema = z.strictObject({
  location: z.string(),
  tags: z.record(z.string(), z.string()).optional(),
  properties: z.strictObject({
    ipConfigurations: z
      .array(
        z.strictObject({
          name: z.string(),
          properties: z.strictObject({
            privateIPAllocationMethod: z.enum(["Dynamic", "Static"]).optional(),
            subnet: z.strictObject({ id: z.string() }),
            primary: z.boolean().optional(),
          }),
        }),
      )
      .length(1),
    enableAcceleratedNetworking: z.boolean().optional(),
    enableIPForwarding: z.boolean().optional(),
    nicType: z.enum(["Standard", "Elastic"]).optional(),
  }),
});

const subnetPattern =
  /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Network\/virtualNetworks\/([^/]+)\/subnets\/([^/]+)$/i;

/** The key of a subnet in the world; undefined for an ID that is not a subnet. */
function subnetKey(world: ArmWorld, id: string): string | undefined {
  const [, group, network, subnet] = subnetPattern.exec(id) ?? [];
  const key = `${group}/${network}/${subnet}`.toLowerCase();
  return [...world.subnets.keys()].find((known) => known.toLowerCase() === key);
}

/** A NIC as ARM shows it. */
export function nicAnswer({
  id,
  name,
  location,
  tags,
  provisioningState,
  properties,
  vmId,
  subnetId,
  address,
}: NetworkInterface) {
  return {
    id,
    name,
    type,
    location,
    tags,
    etag: `W/"${provisioningState}"`,
    properties: {
      ...properties,
      provisioningState,
      macAddress: "00-0D-3A-00-00-01",
      ipConfigurations: [
        {
          name,
          properties: {
            provisioningState,
            privateIPAddress: address,
            privateIPAllocationMethod: "Dynamic",
            subnet: { id: subnetId },
            primary: true,
          },
        },
      ],
      ...(vmId === undefined ? {} : { virtualMachine: { id: vmId } }),
    },
  };
}

const idOf = ({ path }: ArmCall): string => resourceId(path.subscription, path.group, type, path.segments[1] ?? "");

/** GET of a NIC. */
export const getNic: ArmAction = (call) => {
  const nic = call.world.nics.get(keyOf(idOf(call)));
  if (nic === undefined) {
    throw new ArmRefusal(
      "ResourceNotFound",
      `The Resource '${type}/${call.path.segments[1] ?? ""}' under resource group '${call.path.group}' was not found.`,
    );
  }
  return json(200, nicAnswer(nic));
};

/** GET of the NICs of a resource group. */
export const listNics: ArmAction = (call) =>
  page(
    call,
    [...call.world.nics.values()].filter(({ group }) => group === call.path.group.toLowerCase()).map(nicAnswer),
  );

/** PUT of a NIC. */
export const putNic: ArmAction = (call) => {
  const { world, path } = call;
  const body = readBody(call, nicSchema);
  const id = idOf(call);
  const subnetId = body.properties.ipConfigurations[0]?.properties.subnet.id ?? "";
  const subnet = subnetKey(world, subnetId);
  if (subnet === undefined) {
    throw new ArmRefusal(
      "InvalidResourceReference",
      `Resource ${subnetId} referenced by resource ${id} was not found.`,
    );
  }
  authorizeLink(call, "Microsoft.Network/virtualNetworks/subnets/join/action", subnetId);
  if (locationOf(body.location) !== world.location) {
    throw new ArmRefusal("InvalidResourceLocation", `The subnet is not in location '${body.location}'.`);
  }
  const known = world.nics.get(keyOf(id));
  const room = world.subnets.get(subnet)?.addresses ?? Number.POSITIVE_INFINITY;
  const taken = [...world.nics.values()].filter((nic) => subnetKey(world, nic.subnetId) === subnet).length;
  if (known === undefined && taken >= room) {
    throw new ArmRefusal(
      "SubnetIsFull",
      `Subnet ${subnet} with address prefix 10.250.0.0/16 does not have enough capacity.`,
    );
  }
  const sequence = world.nextSequence();
  const nic: NetworkInterface = {
    id,
    name: path.segments[1] ?? "",
    group: path.group.toLowerCase(),
    location: body.location,
    tags: body.tags ?? {},
    provisioningState: "Updating",
    createdAtMs: known?.createdAtMs ?? world.nowMs(),
    subnetId,
    address: known?.address ?? `10.250.${(sequence >> 8) & 0xff}.${sequence & 0xff}`,
    properties: body.properties,
    ...(known?.vmId === undefined ? {} : { vmId: known.vmId }),
    ...(known?.reserved === undefined ? {} : { reserved: known.reserved }),
  };
  world.nics.set(keyOf(id), nic);
  const operation = startOperation(call, id, world.options.partMs, () => {
    nic.provisioningState = "Succeeded";
    return undefined;
  });
  return json(known === undefined ? 201 : 200, nicAnswer(nic), operationHeaders(call, operation, { async: true }));
};

/** DELETE of a NIC. */
export const deleteNic: ArmAction = (call) => {
  const { world } = call;
  const id = idOf(call);
  const nic = world.nics.get(keyOf(id));
  if (nic === undefined) return empty(204);
  if (nic.vmId !== undefined) {
    throw new ArmRefusal("NicInUse", `Network Interface ${id} is used by existing resource ${nic.vmId}.`);
  }
  if (nic.reserved !== undefined && nic.reserved.untilMs > world.nowMs()) {
    throw new ArmRefusal(
      "NicReservedForAnotherVm",
      `Nic(s) in request is reserved for another Virtual Machine for 180 seconds: ${nameOf(nic.reserved.vmId)}.`,
    );
  }
  nic.provisioningState = "Deleting";
  const operation = startOperation(call, id, world.options.partMs, () => {
    removeNic(world, nic);
    return undefined;
  });
  return empty(202, operationHeaders(call, operation, { async: true, location: true }));
};

/** Deletes a NIC. */
export function removeNic(world: ArmWorld, nic: NetworkInterface): void {
  if (world.nics.get(keyOf(nic.id)) !== nic) return;
  world.nics.delete(keyOf(nic.id));
  world.gone.push({ type, name: nic.name, group: nic.group, tags: nic.tags, goneAtMs: world.nowMs() });
}
