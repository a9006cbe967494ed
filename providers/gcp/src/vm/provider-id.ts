import { MachineError } from "@millwright/core";
import type { Place } from "../api/requests.ts";

/** The parts of a provider id. */
export interface InstancePlace extends Place {
  readonly name: string;
}

/** The provider id of an instance, byte for byte as MCM's driver and the cloud provider write it: `gce:///my-project/europe-west1-b/m`. */
export const providerIdOf = ({ project, zone }: Place, name: string): string => `gce:///${project}/${zone}/${name}`;

const pattern = /^gce:\/\/\/((?:[a-z0-9.-]+:)?[a-z0-9-]+)\/([a-z]+(?:-[a-z0-9]+)+)\/([a-z](?:[-a-z0-9]*[a-z0-9])?)$/;

/**
 * Reads a provider id.
 *
 * @throws MachineError InvalidArgument for one that no driver of Compute Engine has written
 */
export function readProviderId(providerId: string): InstancePlace {
  const [, project = "", zone = "", name = ""] = pattern.exec(providerId) ?? [];
  if (name === "") {
    throw new MachineError(
      "InvalidArgument",
      `spec.providerID "${providerId}" must look like gce:///<project>/<zone>/<name>`,
    );
  }
  return { project, zone, name };
}
