import {
  type ApiClient,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  leaseResource,
  nodeResource,
} from "@millwright/kube";
import type { Clock } from "@millwright/base";
import { rfc3339Micro } from "../objects/timestamps.ts";
import { type DesiredNode, newNode, nodeStatus, type NodeState } from "./node-object.ts";

/** The namespace of the leases of nodes. */
export const leaseNamespace = "kube-node-lease";

/** A kubelet's calls to the API server. Each can be repeated. */
export interface Kubelet {
  /** Registers the node, or adopts the existing Node object, and posts its status. */
  register(desired: DesiredNode, state: NodeState, signal: AbortSignal): Promise<void>;
  /** Posts the status of a registered node. Resolves with false when the Node object does not exist. */
  postStatus(desired: DesiredNode, state: NodeState, signal: AbortSignal): Promise<boolean>;
  /** Renews the lease of the node. */
  renewLease(nodeName: string, durationSeconds: number, signal: AbortSignal): Promise<void>;
}

/** Creates a kubelet. */
export function createKubelet(api: ApiClient, clock: Clock): Kubelet {
  const postStatus = async (desired: DesiredNode, state: NodeState, signal: AbortSignal): Promise<boolean> => {
    const ref = { name: desired.nodeName };
    try {
      const present = await api.get(nodeResource, ref, { signal });
      const status = nodeStatus(desired, state, present, clock.now());
      await api.patch(nodeResource, ref, { status }, { kind: "strategic", subresource: "status", signal });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  };
  return {
    async register(desired, state, signal) {
      try {
        await api.create(nodeResource, newNode(desired), { signal });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const { metadata } = newNode(desired);
        // A kubelet without a provider ID leaves the provider ID and the taints of an existing Node as they are.
        const spec = desired.providerId === undefined ? {} : { providerID: desired.providerId };
        const patch = { metadata, spec };
        await api.patch(nodeResource, { name: desired.nodeName }, patch, { kind: "merge", signal });
      }
      await postStatus(desired, state, signal);
    },
    postStatus,
    async renewLease(nodeName, durationSeconds, signal) {
      const ref = { namespace: leaseNamespace, name: nodeName };
      const renewTime = rfc3339Micro(clock.now());
      try {
        await api.patch(leaseResource, ref, { spec: { renewTime } }, { kind: "merge", signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await api.create(leaseResource, await newLease(nodeName, renewTime, durationSeconds, signal), { signal });
      }
    },
  };

  async function newLease(
    nodeName: string,
    renewTime: string,
    leaseDurationSeconds: number,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const node = await api.get(nodeResource, { name: nodeName }, { signal });
    const { uid = "" } = node.metadata;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name: nodeName,
        namespace: leaseNamespace,
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }],
      },
      spec: { holderIdentity: nodeName, leaseDurationSeconds, renewTime },
    };
  }
}
