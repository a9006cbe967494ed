import { type GceAction, knownParameters } from "./call.ts";
import { labeledFields, readFilter } from "./filter.ts";
import type { Disk } from "./instance.ts";
import { zoneUrl } from "./operation.ts";
import { pageOf } from "./pages.ts";
import { GceRefusal, jsonReply, notFound } from "./refusal.ts";
import { replayed, startOperation } from "./start-operation.ts";
import type { GceWorld } from "./world.ts";

/** Name of the instance that uses a disk. */
const holderOf = ({ instances }: GceWorld, { instanceId }: Disk): string | undefined =>
  [...instances.values()].find(({ id }) => id === instanceId)?.name;

/** The response for a disk. */
function diskJson(world: GceWorld, disk: Disk): { readonly id: string } & Readonly<Record<string, unknown>> {
  const { id, name, project, zone, type, sizeGb, sourceImage, labels } = disk;
  const at = zoneUrl(project, zone);
  const holder = holderOf(world, disk);
  return {
    kind: "compute#disk",
    id,
    name,
    zone: at,
    status: "READY",
    sizeGb: String(sizeGb),
    type: `${at}/diskTypes/${type}`,
    ...(sourceImage === "" ? {} : { sourceImage: `https://www.googleapis.com/compute/v1/${sourceImage}` }),
    labels,
    labelFingerprint: "bGFiZWxz",
    // Google omits the field when it is empty.
    ...(holder === undefined ? {} : { users: [`${at}/instances/${holder}`] }),
    selfLink: `${at}/disks/${name}`,
  };
}

/** `disks.list` */
export const listDisks: GceAction = (call) => {
  const { world, project, zone } = call;
  const parameters = knownParameters(call, "filter", "maxResults", "pageToken");
  const fits = readFilter(parameters.get("filter") ?? "");
  const disks = [...world.disks.values()]
    .filter((disk) => disk.project === project && disk.zone === zone && fits(labeledFields(disk)))
    .toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  const page = pageOf(disks, parameters);
  return jsonReply(200, {
    kind: "compute#diskList",
    id: `projects/${project}/zones/${zone}/disks`,
    ...page,
    ...(page.items === undefined ? {} : { items: page.items.map((disk) => diskJson(world, disk)) }),
    selfLink: `${zoneUrl(project, zone)}/disks`,
  });
};

/** `disks.delete` */
export const deleteDisk: GceAction = (call) => {
  const { world, project, zone, name } = call;
  knownParameters(call, "requestId");
  const known = replayed(call);
  if (known !== undefined) return known;
  const key = `${project}/${zone}/${name}`;
  const path = `projects/${project}/zones/${zone}/disks/${name}`;
  const disk = world.disks.get(key);
  if (disk === undefined) throw notFound(path);
  const holder = holderOf(world, disk);
  if (holder !== undefined) {
    throw new GceRefusal(
      "resourceInUseByAnotherResource",
      `The disk resource '${path}' is already being used by 'projects/${project}/zones/${zone}/instances/${holder}'`,
    );
  }
  return startOperation(call, {
    operationType: "delete",
    collection: "disks",
    targetId: disk.id,
    targetName: name,
    finish: () => void world.disks.delete(key),
  });
};
