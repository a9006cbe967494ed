import type { Choices } from "./streams.ts";
import { type ApiClient, isNotFound, type KubeObject, nodeResource } from "@millwright/kube";
import type { Clock } from "@millwright/base";
import type { ApiServer } from "@millwright/devcluster";
import type { SimulatedCloud, Vm } from "@millwright/provider-mock";
import type { Scope } from "./scheduler.ts";

/** Nodes of the VMs of a cloud: kubelets, the node lifecycle controller and the cloud controller manager. */
export interface Kubelets {
  start(): void;
  /** The kubelet of a node reports that it is not ready until this time of the scope's clock. */
  makeUnready(nodeName: string, ms: number): void;
  /** The kubelet sends nothing for so long: its node becomes Unknown. */
  silence(nodeName: string, ms: number): void;
  isSilent(nodeName: string): boolean;
  /** Kubelets that start within this time never join. */
  preventJoins(ms: number): void;
  /** The Node registers again that someone deleted. */
  registerAgain(nodeName: string): void;
  /** The API server was restored: Nodes that are lost register again, and those that are back without their VMs are removed. */
  restored(nodeNames: readonly string[]): void;
}

/** The life of one kubelet. */
interface Kubelet {
  readonly vm: Vm;
  readonly joinsAtMs: number;
  hasJoined: boolean;
  readiness: "" | "True" | "False" | "Unknown";
  postedAtMs: number;
  silentSinceMs: number | undefined;
}

/** Whether a VM has a kubelet that joins this cluster. */
const runs = ({ state, tags }: Vm): boolean =>
  (state === "running" || state === "stopping") && "millwright.dev/machine-uid" in tags;

const ignore = (): undefined => undefined;

const tickMs = 5_000;
const heartbeatMs = 300_000;
/** After so long without a heartbeat a node is Unknown. */
const graceMs = 40_000;
/** After so long the cloud controller manager deletes the Node of a VM that is gone. */
const removalMs = 120_000;

const reasons = { True: "KubeletReady", False: "KubeletNotReady", Unknown: "NodeStatusUnknown" } as const;

/** Other conditions that a kubelet reports. */
const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** The time of a heartbeat. */
const heartbeatTime = (clock: Clock): string =>
  clock
    .now()
    .toISOString()
    .replace(/\.\d+Z/, "Z");

/** A condition of a Node, as JSON. */
type NodeCondition = Readonly<Record<string, string>>;

/**
 * Refreshes the times in the conditions of a Node, and nothing else: that is most of what kubelets of a quiet cluster write, and nothing here depends on how. So it takes neither a request nor a patch,
 * which are most of the CPU of a simulated day.
 *
 * @returns false when the Node does not report this readiness
 */
function refresh(
  objects: ApiServer["objects"],
  { vm }: Kubelet,
  readiness: string,
  lastHeartbeatTime: string,
): boolean {
  const node = objects.get("nodes.", "", vm.nodeName);
  const status = node?.["status"] as { readonly conditions?: readonly NodeCondition[] } | undefined;
  const conditions = status?.conditions;
  if (node === undefined || conditions?.find(({ type }) => type === "Ready")?.["status"] !== readiness) return false;
  const refreshed = conditions.map((each) => ("lastHeartbeatTime" in each ? { ...each, lastHeartbeatTime } : each));
  objects.put("nodes.", { ...node, status: { ...status, conditions: refreshed } });
  return true;
}

/** The requests of kubelets. What fails is tried again with the next heartbeat. */
function createCalls(clock: Clock, api: ApiClient, objects: ApiServer["objects"], others: readonly string[]) {
  async function post(kubelet: Kubelet, readiness: "True" | "False" | "Unknown"): Promise<void> {
    const time = heartbeatTime(clock);
    const isNew = kubelet.readiness !== readiness;
    kubelet.readiness = readiness;
    kubelet.postedAtMs = clock.monotonicMs();
    if (!isNew && refresh(objects, kubelet, readiness, time)) return;
    const condition = {
      type: "Ready",
      status: readiness,
      reason: reasons[readiness],
      message: "",
      lastHeartbeatTime: time,
      ...(isNew ? { lastTransitionTime: time } : {}),
    };
    const good = others.map((type) => ({ ...condition, type, status: "False", reason: "KubeletHasNoPressure" }));
    const patch = { status: { conditions: [condition, ...good] } };
    await api
      .patch(nodeResource, { name: kubelet.vm.nodeName }, patch, { kind: "strategic", subresource: "status" })
      .catch(ignore);
  }

  async function register(kubelet: Kubelet): Promise<void> {
    const { vm } = kubelet;
    const node: KubeObject = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: vm.nodeName, labels: { ...vm.labels, "kubernetes.io/hostname": vm.nodeName } },
      spec: { providerID: vm.providerId },
      status: { capacity: { cpu: "4", memory: "16Gi", pods: "110" } },
    };
    await api.create(nodeResource, node).catch(ignore);
    kubelet.hasJoined = true;
    kubelet.readiness = "";
    await post(kubelet, "True");
  }

  /** Whether the Node is gone. A cloud controller manager repeats the request until it is. */
  const remove = ({ vm }: Kubelet): Promise<boolean> =>
    api.delete(nodeResource, { name: vm.nodeName }).then(
      () => true,
      (error: unknown) => isNotFound(error),
    );
  return { post, register, remove };
}

/** The kubelets by the ids of their VMs, and the VMs that are gone by the names of their Nodes. */
function createFleet(clock: Clock) {
  const kubelets = new Map<string, Kubelet>();
  const ended = new Map<string, Vm>();
  const add = (vm: Vm, delayMs: number, hasJoined: boolean): void => {
    const postedAtMs = clock.monotonicMs();
    const joinsAtMs = postedAtMs + delayMs;
    kubelets.set(vm.id, { vm, joinsAtMs, hasJoined, readiness: "", postedAtMs, silentSinceMs: undefined });
  };

  const forget = ({ vm }: Kubelet): void => {
    kubelets.delete(vm.id);
    ended.set(vm.nodeName, vm);
  };
  return { kubelets, ended, add, forget };
}

/**
 * Makes the kubelets of a cloud. Their calls are never disturbed: faults are for the controllers.
 *
 * @param reportsPressure whether they report, besides Ready, that memory, disk and PIDs suffice. Default false: fewer writes
 */
export function createKubelets(
  scope: Scope,
  api: ApiClient,
  objects: ApiServer["objects"],
  cloud: Pick<SimulatedCloud, "vms">,
  choices: Choices,
  reportsPressure = false,
): Kubelets {
  const { clock } = scope;
  const calls = createCalls(clock, api, objects, reportsPressure ? pressures : []);
  const { kubelets, ended, add, forget } = createFleet(clock);
  const unreadyUntil = new Map<string, number>();
  const silentUntil = new Map<string, number>();
  let noJoinsUntilMs = 0;
  const isFuture = (ms: number | undefined): boolean => ms !== undefined && ms > clock.monotonicMs();

  async function live(kubelet: Kubelet): Promise<void> {
    const { vm } = kubelet;
    kubelet.silentSinceMs = undefined;
    if (!kubelet.hasJoined) {
      if (clock.monotonicMs() >= kubelet.joinsAtMs) await calls.register(kubelet);
      return;
    }
    if (isFuture(silentUntil.get(vm.nodeName))) {
      if (clock.monotonicMs() - kubelet.postedAtMs > graceMs && kubelet.readiness !== "Unknown")
        await calls.post(kubelet, "Unknown");
      return;
    }
    const readiness = isFuture(unreadyUntil.get(vm.nodeName)) ? "False" : "True";
    if (readiness !== kubelet.readiness || clock.monotonicMs() - kubelet.postedAtMs >= heartbeatMs)
      await calls.post(kubelet, readiness);
  }

  async function die(kubelet: Kubelet): Promise<void> {
    kubelet.silentSinceMs ??= clock.monotonicMs();
    const silentMs = clock.monotonicMs() - kubelet.silentSinceMs;
    if (!kubelet.hasJoined) forget(kubelet);
    else if (silentMs >= removalMs) {
      if (await calls.remove(kubelet)) forget(kubelet);
    } else if (silentMs >= graceMs && kubelet.readiness !== "Unknown") await calls.post(kubelet, "Unknown");
  }

  async function tick(): Promise<void> {
    const running = cloud.vms().filter(runs);
    for (const vm of running) {
      if (kubelets.has(vm.id)) continue;
      add(vm, isFuture(noJoinsUntilMs) ? Number.POSITIVE_INFINITY : choices.between(10_000, 60_000), false);
    }
    const ids = new Set(running.map(({ id }) => id));
    for (const kubelet of kubelets.values()) await (ids.has(kubelet.vm.id) ? live(kubelet) : die(kubelet));
    clock.setTimer(tickMs, () => void tick());
  }

  return {
    start: () => void tick(),
    makeUnready: (nodeName, ms) => void unreadyUntil.set(nodeName, clock.monotonicMs() + ms),
    silence: (nodeName, ms) => void silentUntil.set(nodeName, clock.monotonicMs() + ms),
    isSilent: (nodeName) => isFuture(silentUntil.get(nodeName)),
    preventJoins: (ms) => void (noJoinsUntilMs = clock.monotonicMs() + ms),
    registerAgain(nodeName) {
      for (const kubelet of kubelets.values()) if (kubelet.vm.nodeName === nodeName) kubelet.hasJoined = false;
    },
    restored(nodeNames) {
      const ids = new Set(
        cloud
          .vms()
          .filter(runs)
          .map(({ id }) => id),
      );
      for (const kubelet of kubelets.values()) if (ids.has(kubelet.vm.id)) kubelet.hasJoined = false;
      const known = new Set([...kubelets.values()].map(({ vm }) => vm.nodeName));
      for (const name of nodeNames) {
        const vm = ended.get(name);
        if (vm !== undefined && !known.has(name)) add(vm, 0, true);
      }
    },
  };
}
