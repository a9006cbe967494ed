import { type GceAction, knownParameters } from "./call.ts";
import { zoneUrl } from "./operation.ts";
import { jsonReply, notFound } from "./refusal.ts";

/** `machineTypes.get` */
export const getMachineType: GceAction = (call) => {
  const { world, project, zone, name } = call;
  knownParameters(call);
  const type = world.machineTypes.get(name);
  if (type === undefined || type.zones?.includes(zone) === false) {
    throw notFound(`projects/${project}/zones/${zone}/machineTypes/${name}`);
  }
  return jsonReply(200, {
    kind: "compute#machineType",
    id: "3002",
    name,
    guestCpus: type.guestCpus,
    memoryMb: type.memoryMb,
    architecture: type.architecture,
    ...(type.accelerators === undefined
      ? {}
      : {
          accelerators: type.accelerators.map(({ type: guestAcceleratorType, count }) => ({
            guestAcceleratorType,
            guestAcceleratorCount: count,
          })),
        }),
    zone,
    selfLink: `${zoneUrl(project, zone)}/machineTypes/${name}`,
  });
};
