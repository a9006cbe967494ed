import { systemClock } from "@millwright/base";
import type { NodeIdentity } from "@millwright/core";
import type { CloudInstance } from "../cloud-controller-manager/cloud-instance.ts";

const waitMs = 10;

/**
 * The Node of an instance with the provider id that the cloud controller manager writes, and with that of the Machine, which other installers write. Waits until the instance is shown.
 *
 * @param find the instance, as the cloud controller manager sees it
 * @param machineIdOf the provider id of its Machine
 */
export async function nodeForms(
  find: () => CloudInstance | undefined,
  machineIdOf: (instance: CloudInstance) => string,
): Promise<Readonly<Record<string, NodeIdentity>>> {
  let instance = find();
  for (; instance === undefined; instance = find()) await systemClock.sleep(waitMs);
  const { nodeName: name, systemUuid, addresses, providerId } = instance;
  const node = { name, systemUuid, addresses };
  return {
    "id of the cloud controller manager": { ...node, providerId },
    "id of the Machine": { ...node, providerId: machineIdOf(instance) },
  };
}
