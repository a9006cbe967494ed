import { createHash } from "node:crypto";

/** An address in `status.addresses` of a Node. */
export interface NodeAddress {
  readonly type: "InternalIP" | "ExternalIP" | "InternalDNS" | "Hostname";
  readonly address: string;
}

/** An instance as its kubelet and the cloud controller manager of its cloud see it. */
export interface CloudInstance {
  /** The name under which its kubelet registers. */
  readonly nodeName: string;
  /** `status.nodeInfo.systemUUID`, which its kubelet reads from the firmware. */
  readonly systemUuid: string;
  /** Whether it runs. The kubelet of an instance that its cloud stops reports that its node is not ready. */
  readonly isRunning: boolean;
  /** What the cloud controller manager writes into `spec.providerID` of the Node. */
  readonly providerId: string;
  readonly zone: string;
  readonly region: string;
  readonly instanceType: string;
  readonly addresses: readonly NodeAddress[];
}

/** A UUID that depends on nothing but the seed, and does not contain it. */
export function uuidOf(seed: string): string {
  const hex = createHash("sha256").update(seed).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
