import { readQuarantine } from "@millwright/controllers";
import { labelKeys, type Machine, type MachineClass } from "@millwright/core/machine-api";
import { isLive } from "@millwright/provider-mock";
import { machineSettings } from "../world/controller-process.ts";
import { simulationStart } from "../world/scheduler.ts";
import type { PodObject, Truth } from "../world/truth.ts";
import type { World } from "../world/world.ts";

/** Volumes of evicted pods have at least this time to be detached. */
const detachForMs = 60_000;
/** Controllers may learn so late that a node is ready again. */
const readyGraceMs = 15_000;

/** A container that really runs, whatever the API server knows of it. */
interface Container {
  readonly pod: string;
  readonly vm: string;
  readonly nodeName: string;
  readonly claims: readonly string[];
  /** The Pod is gone, but its kubelet has not learnt that. */
  isForgotten: boolean;
}

const claimsOf = ({ spec }: PodObject): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);

/** Reports each volume that containers of two VMs write. */
function watchWriters(world: World, report: (text: string) => void): void {
  const { cloud, kubelets } = world;
  const containers = new Map<string, Container>();
  const vmOn = (nodeName: string): string | undefined =>
    cloud.vms().find((vm) => vm.nodeName === nodeName && vm.state === "running")?.id;
  const isRunning = ({ vm, nodeName, isForgotten }: Container): boolean =>
    cloud.vms().some(({ id, state }) => id === vm && state !== "terminated" && state !== "stopped") &&
    (!isForgotten || kubelets.isSilent(nodeName));

  world.server.objects.subscribe("pods.", ({ type, object }) => {
    // The store holds what its schemas allow.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const pod = object as unknown as PodObject;
    const { uid, name } = pod.metadata;
    const nodeName = pod.spec?.nodeName ?? "";
    const known = containers.get(uid);
    if (type === "DELETED") {
      if (known !== undefined && kubelets.isSilent(nodeName)) known.isForgotten = true;
      else containers.delete(uid);
      return;
    }
    if (known !== undefined || pod.status?.phase !== "Running") return;
    const vm = vmOn(nodeName);
    if (vm === undefined) return;
    const started: Container = { pod: name, vm, nodeName, claims: claimsOf(pod), isForgotten: false };
    for (const [key, other] of containers) {
      if (!isRunning(other)) containers.delete(key);
      else if (other.vm !== vm)
        for (const claim of started.claims.filter((each) => other.claims.includes(each)))
          report(`two writers of claim ${claim}: VM ${other.vm} still runs pod ${other.pod}, VM ${vm} runs ${name}`);
    }
    containers.set(uid, started);
  });
}

/** Watches what happens to Pods, their budgets and their volumes. */
export function watchPodInvariants(world: World, truth: Truth, report: (text: string) => void): void {
  const nowMs = (): number => simulationStart.getTime() + world.scheduler.nowMs();
  const ageMs = (time: string | undefined): number => (time === undefined ? 0 : nowMs() - Date.parse(time));
  const machineOn = (nodeName: string): Machine | undefined =>
    truth.machines().find(({ metadata }) => metadata.labels?.[labelKeys.node] === nodeName);
  const isForced = ({ metadata }: Machine): boolean => metadata.labels?.[labelKeys.forceDeletion] === "True";
  /** Whether the drain of a healthy node is not over yet, so that nothing may be forced. */
  const isGentle = (machine: Machine, forMs: number): boolean =>
    !isForced(machine) && ageMs(machine.metadata.deletionTimestamp) < forMs;

  /** Since when each node is ready, by name. */
  const readySinceMs = new Map<string, number>();
  world.server.objects.subscribe("nodes.", ({ object: { metadata } }) => {
    if (!truth.isReady(metadata.name)) readySinceMs.delete(metadata.name);
    else if (!readySinceMs.has(metadata.name)) readySinceMs.set(metadata.name, world.scheduler.nowMs());
  });
  const isHealthy = (nodeName: string): boolean =>
    world.scheduler.nowMs() - (readySinceMs.get(nodeName) ?? Number.POSITIVE_INFINITY) > readyGraceMs;

  const places = new Map<string, string>();
  world.server.objects.subscribe("pods.", ({ object }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { metadata, spec } = object as unknown as PodObject;
    if (spec?.nodeName !== undefined) places.set(metadata.name, spec.nodeName);
  });
  watchWriters(world, report);

  /**
   * When the drain of the node of a VM without machine began, by name: at its first eviction, or when the class was first seen to name it, since no pod is evicted while a budget allows none.
   */
  const evictedSinceMs = new Map<string, number>();
  world.server.objects.subscribe("machineclasses.machine.sapcloud.io", ({ object }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    for (const { draining, nodes = [] } of readQuarantine(object as unknown as MachineClass).vms.values())
      if (draining !== undefined)
        for (const name of nodes) if (!evictedSinceMs.has(name)) evictedSinceMs.set(name, world.scheduler.nowMs());
  });
  const evictedForMs = (nodeName: string): number =>
    world.scheduler.nowMs() - (evictedSinceMs.get(nodeName) ?? Number.POSITIVE_INFINITY);

  const onPodWrite = (sender: string, method: string, name: string, isEviction: boolean): void => {
    const nodeName = places.get(name) ?? "";
    if (isEviction && !evictedSinceMs.has(nodeName)) evictedSinceMs.set(nodeName, world.scheduler.nowMs());
    if (method === "POST" && isEviction && truth.node(nodeName) !== undefined && !truth.isCordoned(nodeName))
      report(`${sender} evicts pod ${name} from ${nodeName}, which is not cordoned`);
    if (method !== "DELETE" || !isHealthy(nodeName)) return;
    const machine = machineOn(nodeName);
    // The record of such a drain has whole seconds.
    if (machine === undefined && evictedForMs(nodeName) >= machineSettings.drainTimeoutMs - 1_000) return;
    if (machine === undefined || isGentle(machine, machineSettings.drainTimeoutMs))
      report(`${sender} deletes pod ${name} on ${nodeName} before the deadline of its drain, whatever its budget`);
  };

  world.listen({
    onRequest({ sender, method, path, status }) {
      const match = /^\/api\/v1\/namespaces\/[^/]+\/pods\/([^/?]+)(\/eviction)?/.exec(path);
      if (match !== null && status < 300) onPodWrite(sender, method, match[1] ?? "", match[2] !== undefined);
    },
    onCloudCall({ sender, operation, subject }) {
      if (operation !== "deleteVm" || world.restores() > 0) return;
      const vm = world.cloud.vms().find(({ id }) => id === subject);
      if (vm === undefined || !isLive(vm) || !isHealthy(vm.nodeName)) return;
      const own = truth.machinesOf(vm);
      const isEarly = (forMs: number): boolean =>
        own.length === 0 ? evictedForMs(vm.nodeName) < forMs : own.every((machine) => isGentle(machine, forMs));
      const left = truth
        .pods()
        .filter(({ spec, status }) => spec?.nodeName === vm.nodeName && status?.phase === "Running");
      if (left.length > 0 && isEarly(machineSettings.drainTimeoutMs))
        report(`${sender} deletes VM ${subject} while pod ${left[0]?.metadata.name} runs on it`);
      const volumes = truth.attachmentsOn(vm.nodeName);
      if (volumes > 0 && isEarly(detachForMs))
        report(`${sender} deletes VM ${subject} while ${volumes} volumes are attached to it`);
    },
  });
}
