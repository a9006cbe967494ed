/** Number of objects of the measured cluster. */
export const fleet = { machines: 10_000, nodes: 10_000, pods: 50_000 } as const;

const zones = ["europe-west1-b", "europe-west1-c", "europe-west1-d"];
const created = "2026-10-01T08:00:00Z";
const uid = (kind: string, index: number) => `${kind}0000-0000-4000-8000-${String(index).padStart(12, "0")}`;

/** Fields of about 40 paths, as each writer of an object leaves them: most of the bytes of real objects. */
const managedFields = ["kubelet", "kube-controller-manager", "kubectl"].map((manager) => ({
  manager,
  operation: "Update",
  apiVersion: "v1",
  time: created,
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:metadata": Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `f:${manager}-${index}`,
        { ".": {}, "f:kubernetes.io/some-label": {} },
      ]),
    ),
    "f:status": Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `f:condition-${index}`,
        { ".": {}, "f:lastHeartbeatTime": {}, "f:status": {} },
      ]),
    ),
  },
}));

const conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Ready"].map((type) => ({
  type,
  status: type === "Ready" ? "True" : "False",
  lastHeartbeatTime: "2026-11-21T10:00:00Z",
  lastTransitionTime: created,
  reason: `Kubelet${type}`,
  message: `kubelet reports on ${type}, in a sentence of the usual length`,
}));

/** A Node as kubelets write it: 11 KiB, most of it managed fields and images. */
export function makeNode(index: number, version: number): object {
  const name = `shoot--project--cluster-worker-${zones[index % 3]}-${String(index).padStart(5, "0")}`;
  return {
    metadata: {
      name,
      uid: uid("aa00", index),
      resourceVersion: String(version),
      creationTimestamp: created,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "n1-standard-8",
        "topology.kubernetes.io/zone": zones[index % 3],
        "worker.gardener.cloud/pool": "worker-pool-one",
      },
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
      managedFields,
    },
    spec: { podCIDR: `10.${index >> 8}.${index & 255}.0/24`, providerID: `gce:///project/${zones[index % 3]}/${name}` },
    status: {
      capacity: { cpu: "8", memory: "30851452Ki", pods: "110", "ephemeral-storage": "51286024Ki" },
      allocatable: { cpu: "7910m", memory: "27705724Ki", pods: "110", "ephemeral-storage": "49891044142" },
      conditions,
      addresses: [
        { type: "InternalIP", address: `10.250.${index >> 8}.${index & 255}` },
        { type: "Hostname", address: name },
      ],
      images: Array.from({ length: 12 }, (_, image) => ({
        names: [`registry.example.com/system/component-${image}@sha256:${"0123456789abcdef".repeat(4)}`],
        sizeBytes: 10_000_000 * image,
      })),
      nodeInfo: {
        kernelVersion: "6.12.0",
        kubeletVersion: "v1.35.2",
        osImage: "Garden Linux 1592.3",
        architecture: "amd64",
      },
    },
  };
}

/** A Machine as Millwright and MCM write it: 3 KiB. */
export function makeMachine(index: number, version: number): object {
  const name = `shoot--project--cluster-worker-${zones[index % 3]}-${String(index).padStart(5, "0")}`;
  return {
    apiVersion: "machine.sapcloud.io/v1alpha1",
    kind: "Machine",
    metadata: {
      name,
      namespace: "shoot--project--cluster",
      uid: uid("bb00", index),
      resourceVersion: String(version),
      generation: 2,
      creationTimestamp: created,
      finalizers: ["machine.sapcloud.io/machine-controller-manager"],
      labels: { node: name, "machine-template-hash": "1234567890", name: "cluster-worker-pool-one" },
      ownerReferences: [
        {
          apiVersion: "machine.sapcloud.io/v1alpha1",
          kind: "MachineSet",
          name: `cluster-worker-${index % 30}`,
          uid: uid("cc00", index % 30),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields.slice(0, 1),
    },
    spec: {
      class: { kind: "MachineClass", name: `cluster-worker-${zones[index % 3]}` },
      providerID: `gce:///project/${zones[index % 3]}/${name}`,
      nodeTemplate: { metadata: { labels: { "worker.gardener.cloud/pool": "worker-pool-one" } }, spec: {} },
    },
    status: {
      conditions,
      currentStatus: { phase: "Running", lastUpdateTime: created },
      lastOperation: {
        description: `Machine ${name} successfully joined the cluster`,
        lastUpdateTime: created,
        state: "Successful",
        type: "Create",
      },
    },
  };
}

/** A Pod: 6 KiB on the wire. */
export function makePod(index: number, version: number): object {
  const app = `application-${index % 400}`;
  const name = `${app}-7d9c5b6f4-${index.toString(36).padStart(5, "0")}`;
  const node = index % fleet.nodes;
  return {
    metadata: {
      name,
      namespace: `team-${index % 50}-production`,
      uid: uid("dd00", index),
      resourceVersion: String(version),
      creationTimestamp: created,
      labels: { app, "pod-template-hash": "7d9c5b6f4", "app.kubernetes.io/part-of": `system-${index % 40}` },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: `${app}-7d9c5b6f4`,
          uid: uid("ee00", index % 400),
          controller: true,
        },
      ],
      managedFields: managedFields.slice(0, 2),
    },
    spec: {
      nodeName: `shoot--project--cluster-worker-${zones[node % 3]}-${String(node).padStart(5, "0")}`,
      containers: [
        {
          name: "main",
          image: `registry.example.com/teams/${app}:v1.2.3`,
          env: Array.from({ length: 6 }, (_, variable) => ({
            name: `SETTING_${variable}`,
            value: `value number ${variable}`,
          })),
          resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "512Mi" } },
          volumeMounts: [
            { name: "kube-api-access", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true },
          ],
        },
      ],
      volumes: [
        {
          name: "kube-api-access",
          projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: "token" } }] },
        },
      ],
      serviceAccountName: "default",
      terminationGracePeriodSeconds: 30,
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
        { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
    },
    status: {
      phase: "Running",
      podIP: `100.64.${(index >> 8) & 255}.${index & 255}`,
      conditions: conditions.slice(0, 4),
      containerStatuses: [
        { name: "main", ready: true, restartCount: 0, containerID: `containerd://${uid("ff00", index)}` },
      ],
    },
  };
}
