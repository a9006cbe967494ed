import { type Clock, MachineError } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import type { Environment } from "@millwright/core/egress";
import { isProjectId } from "../spec/secret.ts";
import { createEgressFetch } from "./egress-fetch.ts";
import { GceFailure } from "./gce-failure.ts";
import { namingService, parseAnswer, sendRequest } from "./send-request.ts";

/** The metadata server of the VM that this process runs on, or that GKE puts in its place for a pod with a workload identity. */
export interface MetadataServer {
  /** An access token of the service account, and its lifetime in seconds, according to the server. */
  token(signal: AbortSignal): Promise<{ readonly value: unknown; readonly lifeS: unknown }>;
  projectId(signal: AbortSignal): Promise<string>;
}

/** It is on the same computer; that of GKE asks other services before it answers. */
const timeoutMs = 10_000;
/** Its address on Compute Engine and GKE, which needs no DNS. */
const defaultHost = "169.254.169.254";

/** Creates the requests to the metadata server. `GCE_METADATA_HOST` overrides the host, with or without a port, as for Google's libraries. */
export function createMetadataServer(clock: Clock, env: Environment): MetadataServer {
  const host = env["GCE_METADATA_HOST"]?.trim() || defaultHost;
  const service = `the metadata server ${host}`;

  const read = async (path: string, signal: AbortSignal): Promise<string> => {
    const url = `http://${host}/computeMetadata/v1/${path}`;
    const headers = new Headers({ "metadata-flavor": "Google" });
    // Never through a proxy: the answer is about who asks.
    const fetch = createEgressFetch({ env: {}, recorder: () => undefined });
    try {
      return await sendRequest({ url, method: "GET", headers }, { fetch, clock, signal, timeoutMs });
    } finally {
      fetch.close();
    }
  };

  return {
    async token(signal) {
      try {
        const answer = await namingService(service, signal, async () =>
          parseAnswer(await read("instance/service-accounts/default/token", signal)),
        );
        return { value: fieldOf(answer, "access_token"), lifeS: fieldOf(answer, "expires_in") };
      } catch (error) {
        if (!(error instanceof GceFailure) || (error.status !== 404 && error.status !== 403)) throw error;
        throw new MachineError(
          "Unauthenticated",
          `${service} issues no token of a service account (status ${error.status}): attach a service account to the VM of the controller, or let its Kubernetes service account use one (workload identity)`,
          { cause: error },
        );
      }
    },
    async projectId(signal) {
      const text = await namingService(service, signal, () => read("project/project-id", signal));
      const project = text.trim();
      if (isProjectId(project)) return project;
      throw new MachineError("Unavailable", `${service} did not return a project id`);
    },
  };
}
