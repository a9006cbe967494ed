import { mockCsiDriver } from "@millwright/provider-mock";

/** Manifests of workloads as JSON for `kubectl apply -f -`. All in namespace `default`. */
export type Manifest = Readonly<Record<string, unknown>>;

/** Optional settings of the pods of a workload. */
export interface PodChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Manifest;
}

const podTemplate = (app: string, { labels, spec, ...metadata }: PodChange = {}): Manifest => ({
  metadata: { labels: { app, ...labels }, ...metadata },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "main", image: "pause:1" }], ...spec },
});

const workload = (kind: string, name: string, spec: Manifest, change?: PodChange): Manifest => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name, change), ...spec },
});

/** A Deployment whose pods have the label `app: NAME`. */
export const aDeployment = (name: string, replicas: number, change?: PodChange): Manifest =>
  workload("Deployment", name, { replicas }, change);

/** A DaemonSet whose pods have the label `app: NAME`. */
export const aDaemonSet = (name: string, change?: PodChange): Manifest => workload("DaemonSet", name, {}, change);

/** A StorageClass whose volumes are of the simulated cloud. */
export const storageClass: Manifest = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast" },
  provisioner: mockCsiDriver,
};

/** A StatefulSet whose pods have a volume of the {@link storageClass} each. */
export const aStatefulSet = (name: string, replicas: number, change?: PodChange): Manifest =>
  workload(
    "StatefulSet",
    name,
    {
      replicas,
      serviceName: name,
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: "fast",
            resources: { requests: { storage: "1Gi" } },
          },
        },
      ],
    },
    change,
  );

/** A budget for the pods with the label `app: APP`. */
export const aBudget = (app: string, spec: Manifest, name = app): Manifest => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name },
  spec: { selector: { matchLabels: { app } }, ...spec },
});

/** A pod without a controller, on a node if one is given. */
export const aBarePod = (name: string, nodeName?: string, change: PodChange = {}): Manifest => ({
  apiVersion: "v1",
  kind: "Pod",
  ...podTemplate(name, { ...change, spec: { ...(nodeName === undefined ? {} : { nodeName }), ...change.spec } }),
  metadata: {
    name,
    labels: { app: name, ...change.labels },
    ...(change.annotations === undefined ? {} : { annotations: change.annotations }),
    ...(change.finalizers === undefined ? {} : { finalizers: change.finalizers }),
  },
});

/** Several manifests for one `kubectl apply -f -`. */
export const listOf = (...items: readonly Manifest[]): string =>
  JSON.stringify({ apiVersion: "v1", kind: "List", items });
