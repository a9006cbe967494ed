import { get, mergePatch, post, subject } from "../request-script.ts";
import {
  budget,
  budgets,
  configMap,
  configMaps,
  crds,
  lease,
  leases,
  node,
  nodes,
  pod,
  pods,
  secrets,
} from "./sample-objects.ts";

const accept = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1,application/json" };
const table = (name: string, path: string) => get(name, path, accept);

/** Tables, as kubectl requests them. */
export const tables = subject("tables", [
  post("prepare a config map", configMaps, configMap("a", { a: "1", b: "2" })),
  post("prepare a secret", secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
    stringData: { a: "b" },
  }),
  post("prepare a pod", pods, pod("p")),
  post(
    "prepare a pod of two containers",
    pods,
    pod("p2", {
      containers: [
        { name: "a", image: "i" },
        { name: "b", image: "i" },
      ],
      nodeName: "compat-somewhere",
    }),
  ),
  mergePatch("prepare its status", `${pods}/p2/status`, {
    status: {
      phase: "Running",
      podIP: "10.0.0.1",
      podIPs: [{ ip: "10.0.0.1" }],
      containerStatuses: [
        {
          name: "a",
          ready: true,
          restartCount: 2,
          image: "i",
          imageID: "",
          state: { running: { startedAt: "2010-01-01T00:00:00Z" } },
        },
        {
          name: "b",
          ready: false,
          restartCount: 0,
          image: "i",
          imageID: "",
          state: { waiting: { reason: "CrashLoopBackOff" } },
        },
      ],
    },
  }),
  post(
    "prepare a node",
    nodes,
    node("compat-tables", { unschedulable: true }, { labels: { "node-role.kubernetes.io/worker": "" } }),
  ),
  mergePatch("prepare the status of the node", `${nodes}/compat-tables/status`, {
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          lastHeartbeatTime: "2010-01-01T00:00:00Z",
          lastTransitionTime: "2010-01-01T00:00:00Z",
        },
      ],
      addresses: [{ type: "InternalIP", address: "10.0.0.9" }],
      nodeInfo: {
        kubeletVersion: "v1.35.0",
        osImage: "Linux",
        kernelVersion: "6",
        containerRuntimeVersion: "containerd://2",
        architecture: "amd64",
        bootID: "",
        kubeProxyVersion: "",
        machineID: "",
        operatingSystem: "linux",
        systemUUID: "",
      },
    },
  }),
  post("prepare a node without a status", nodes, node("compat-tables-2")),
  post("prepare a lease", leases, lease("l", { holderIdentity: "me" })),
  post("prepare a budget", budgets, budget("b", { minAvailable: 1, selector: { matchLabels: { app: "x" } } })),
  post("prepare a budget in percent", budgets, budget("b2", { maxUnavailable: "30%" })),
  table("config maps", configMaps),
  table("one config map", `${configMaps}/a`),
  table("one config map that is missing", `${configMaps}/missing`),
  table("with whole objects", `${configMaps}/a?includeObject=Object`),
  table("without objects", `${configMaps}/a?includeObject=None`),
  table("with an unknown kind of objects", `${configMaps}/a?includeObject=Some`),
  table("a page", `${configMaps}?limit=1`),
  table("nothing", `${configMaps}?labelSelector=a%3Db`),
  table("secrets", secrets),
  table("pods", pods),
  table("one node", `${nodes}/compat-tables`),
  table("one node without a status", `${nodes}/compat-tables-2`),
  table("leases", leases),
  table("budgets", budgets),
  table("namespace", "/api/v1/namespaces/{ns}"),
  table("service accounts", "/api/v1/namespaces/{ns}/serviceaccounts"),
  table("definitions", `${crds}?labelSelector=none%3Dsuch`),
  table("claims", "/api/v1/namespaces/{ns}/persistentvolumeclaims"),
  table("volumes", "/api/v1/persistentvolumes?labelSelector=none%3Dsuch"),
  table("attachments", "/apis/storage.k8s.io/v1/volumeattachments?labelSelector=none%3Dsuch"),
  table("storage classes", "/apis/storage.k8s.io/v1/storageclasses?labelSelector=none%3Dsuch"),
  table("events", "/api/v1/namespaces/{ns}/events"),
  get("the old version of tables", configMaps, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1beta1" }),
]);
