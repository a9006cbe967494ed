import type { Budget, Claim, Pod, Volume, VolumeAttachment } from "../model/node-objects.ts";

type Metadata = Partial<Pod["metadata"]>;

/** A running, ready pod `web` of a ReplicaSet on node `node`, in namespace `default`; metadata, spec and status are merged. */
export const aPod = (
  name = "web",
  change: { readonly metadata?: Metadata; readonly spec?: Pod["spec"]; readonly status?: Pod["status"] } = {},
): Pod => ({
  metadata: {
    namespace: "default",
    name,
    uid: `uid-${name}`,
    labels: { app: "web" },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "uid-rs", controller: true }],
    ...change.metadata,
  },
  spec: { nodeName: "node", ...change.spec },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...change.status },
});

/** A pod with a claim of its own, `data-<name>`, bound to volume `pv-<name>`. */
export const aPodWithVolume = (name: string, change: Parameters<typeof aPod>[1] = {}): Pod =>
  aPod(name, {
    ...change,
    spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: `data-${name}` } }], ...change.spec },
  });

/** A budget `web` for the pods with label `app=web`, which allows one disruption unless changed. */
export const aBudget = (
  change: { readonly metadata?: Metadata; readonly spec?: Budget["spec"]; readonly status?: Budget["status"] } = {},
): Budget => ({
  metadata: { namespace: "default", name: "web", uid: "uid-budget", generation: 1, ...change.metadata },
  spec: { selector: { matchLabels: { app: "web" } }, minAvailable: 1, ...change.spec },
  status: {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    ...change.status,
  },
});

/** A claim in namespace `default`, bound to that volume. */
export const aClaim = (name: string, volumeName = ""): Claim => ({
  metadata: { namespace: "default", name },
  spec: { volumeName },
});

/** A CSI volume whose handle is `vol-<name>`. */
export const aVolume = (name: string): Volume => ({
  metadata: { name },
  spec: { csi: { driver: "csi.example", volumeHandle: `vol-${name}` } },
});

/** The attachment of a volume to a node. */
export const anAttachment = (volume: string, nodeName: string, attached = true): VolumeAttachment => ({
  metadata: { name: `${volume}-on-${nodeName}`, uid: `uid-${volume}-${nodeName}` },
  spec: { nodeName, attacher: "csi.example", source: { persistentVolumeName: volume } },
  status: { attached },
});
