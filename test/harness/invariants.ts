import { systemClock, systemRandom } from "@millwright/base";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import type { RequestRecord } from "@millwright/devcluster";
import {
  createInformer,
  eventResource,
  type KubeObject,
  nodeResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import type { Fleet } from "./installation.ts";
import type { MillwrightProcess } from "./millwright.ts";

/** What must hold whatever fails. */
export interface InvariantOptions {
  readonly fleet: Pick<Fleet, "api" | "cloud"> & {
    /** Requests of the controllers to the API server. Absent: requests are not checked. */
    readonly requests?: () => readonly RequestRecord[];
  };
  /** Desired + surge + margin. */
  readonly maxVms: number;
  /** A text that only Secrets may contain. Absent: not checked. */
  readonly canary?: string;
  /** Processes that the test did not kill. */
  readonly alive: () => readonly MillwrightProcess[];
  /** Processes whose output is searched for the canary. */
  readonly started: () => readonly MillwrightProcess[];
}

/** Watches a run from its start, so that what was wrong for a moment is found at the end. */
export interface InvariantWatch {
  /**
   * At least this many pods with the label `app` are ready from now on, until the returned function is called. Applies once
   * the watch, which may lag behind the caller, has seen that many.
   */
  requireReadyPods(app: string, atLeast: number): () => void;
  /** At least this many volumes are attached from now on: pods with volumes move one after another. Applies as `requireReadyPods` does. */
  requireAttachedVolumes(atLeast: number): void;
  /**
   * At least this many machines and VMs run, until the returned function is called: the availability that a rollout keeps. Applies as `requireReadyPods` does.
   */
  requireRunningMachines(atLeast: number): () => void;
  /** Changes the maximum number of VMs. */
  allowVms(most: number): void;
  /** From now on pods may be deleted without eviction: the drain timed out, or the deletion is forced. */
  allowForce(): void;
  /** Fails with every violation. */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface PodObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface AttachmentObject extends KubeObject {
  readonly spec?: { readonly source?: { readonly persistentVolumeName?: string } };
  readonly status?: { readonly attached?: boolean };
}

/** More equal requests in one second are a hot loop: a controller reconciles a key ten times at once after a quiet time, and ten times a second from then on. */
const MAX_EQUAL_CALLS = 20;

/** Requests that were sent too often within a second. Events differ in their bodies, which the log does not contain. */
function hottest(requests: readonly RequestRecord[]): readonly string[] {
  const byCall = Map.groupBy(
    requests.filter(({ resource, verb }) => resource !== "events" && verb !== "watch"),
    // A list may select one name.
    ({ verb, path, name }) => `${verb} ${path}${path.endsWith(name) ? "" : ` of ${name}`}`,
  );
  return [...byCall].flatMap(([call, records]) => {
    const times = records.map(({ time }) => time.getTime()).toSorted((a, b) => a - b);
    const isHot = times.some(
      (time, index) => (times[index + MAX_EQUAL_CALLS] ?? Number.POSITIVE_INFINITY) - time < 1_000,
    );
    return isHot ? [`more than ${MAX_EQUAL_CALLS} times in a second: ${call}`] : [];
  });
}

const isReady = ({ metadata, status }: PodObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

const isAttached = ({ status }: AttachmentObject): boolean => status?.attached === true;

/** A minimum count. */
interface Requirement {
  readonly what: string;
  readonly count: () => number;
  readonly atLeast: number;
  wasSeen: boolean;
}

/** Starts the watch. */
export function watchInvariants({ fleet, maxVms, canary, alive, started }: InvariantOptions): InvariantWatch {
  const { api, cloud, requests = () => [] } = fleet;
  const wrong = new Set<string>();
  const stop = new AbortController();
  let forcedFrom = Number.POSITIVE_INFINITY;

  let mostVms = maxVms;
  const liveVms = () => cloud.vms().filter(({ state }) => state !== "terminating");

  const unfollow = cloud.subscribe(() => {
    const live = liveVms();
    const byName = Map.groupBy(live, ({ name }) => name);
    for (const [name, vms] of byName) if (vms.length > 1) wrong.add(`machine ${name} has ${vms.length} live VMs`);
    if (live.length > mostVms) wrong.add(`${live.length} live VMs, at most ${mostVms} are allowed`);
    checkRequirements();
  });

  const options = { api, clock: systemClock, random: systemRandom };
  const pods = createInformer<PodObject>({ ...options, type: podResource });
  const attachments = createInformer<AttachmentObject>({ ...options, type: volumeAttachmentResource });
  const machines = createInformer<Machine>({ ...options, type: machineResource });
  const running = [pods, attachments, machines].map((informer) => informer.run(stop.signal));

  const readyPods = (app: string): number =>
    pods.store.list().filter((pod) => pod.metadata.labels?.["app"] === app && isReady(pod)).length;
  const attachedVolumes = (): number => attachments.store.list().filter(isAttached).length;
  const runs = ({ metadata, status }: Machine): boolean =>
    metadata.deletionTimestamp === undefined && status?.currentStatus?.phase === "Running";
  const runningMachines = (): number => machines.store.list().filter(runs).length;
  const requirements = new Set<Requirement>();
  const require = (what: string, count: () => number, atLeast: number): (() => void) => {
    const requirement = { what, count, atLeast, wasSeen: count() >= atLeast };
    requirements.add(requirement);
    return () => void requirements.delete(requirement);
  };
  const checkRequirements = (): void => {
    for (const requirement of requirements) {
      const { what, atLeast } = requirement;
      const count = requirement.count();
      requirement.wasSeen ||= count >= atLeast;
      if (requirement.wasSeen && count < atLeast) wrong.add(`${what}: only ${count}, at least ${atLeast} are required`);
    }
  };
  for (const { store } of [pods, machines]) store.subscribe(checkRequirements);
  attachments.store.subscribe(checkRequirements);
  attachments.store.subscribe(() => {
    const attached = attachments.store.list().filter(isAttached);
    const byVolume = Map.groupBy(attached, ({ spec }) => spec?.source?.persistentVolumeName ?? "");
    for (const [volume, all] of byVolume)
      if (all.length > 1) wrong.add(`volume ${volume} was attached to ${all.length} nodes at once`);
  });

  const objects = async (): Promise<string> => {
    const lists = await Promise.all([api.list(machineResource), api.list(eventResource), api.list(nodeResource)]);
    return JSON.stringify(lists);
  };

  return {
    requireReadyPods: (app, atLeast) => require(`ready pods of ${app}`, () => readyPods(app), atLeast),
    requireRunningMachines(atLeast) {
      // Separate requirements: the watch may lag, the cloud does not.
      const releases = [
        require("running machines", runningMachines, atLeast),
        require("live VMs", () => liveVms().length, atLeast),
      ];
      return () => releases.forEach((release) => release());
    },
    requireAttachedVolumes: (atLeast) => void require("attached volumes", attachedVolumes, atLeast),
    allowVms(most) {
      mostVms = most;
    },
    allowForce() {
      forcedFrom = Math.min(forcedFrom, Date.now());
    },
    async check() {
      const { items } = await api.list<Machine>(machineResource);
      const names = new Set(items.map(({ metadata }) => metadata.name));
      const orphans = cloud.vms().filter(({ name, state }) => state !== "terminating" && !names.has(name));
      for (const { name, id } of orphans) wrong.add(`VM ${id} of deleted machine ${name}`);
      const deletions = requests().filter(
        ({ verb, resource, status }) => verb === "delete" && resource === "pods" && status < 300,
      );
      for (const { name, time } of deletions)
        if (time.getTime() < forcedFrom) wrong.add(`pod ${name} was deleted without eviction before the drain timeout`);
      const secrets = canary === undefined ? [] : [canary, Buffer.from(canary).toString("base64")];
      const sinks = [await objects(), ...started().map((process) => process.output())];
      if (sinks.some((text) => secrets.some((secret) => text.includes(secret)))) wrong.add("a secret was exposed");
      // Not recorded for good: the watch may lag.
      const unseen = [...requirements].filter(({ wasSeen }) => !wasSeen);
      for (const problem of hottest(requests())) wrong.add(problem);
      for (const { child, output } of alive())
        if (child.exitCode !== null) wrong.add(`a process ended with ${child.exitCode}: ${output().slice(-2_000)}`);
      const all = [...wrong, ...unseen.map(({ what, atLeast }) => `${what}: never reached ${atLeast}`)];
      expect(all, all.join("\n")).toEqual([]);
      // A new machine has no last operation yet.
      await eventually(async () => {
        const now = await api.list<Machine>(machineResource);
        const withoutOperation = now.items.filter(
          ({ status }) =>
            status?.currentStatus?.phase !== "Running" && (status?.lastOperation?.description ?? "") === "",
        );
        expect(withoutOperation.map(({ metadata }) => `machine ${metadata.name} has no last operation`)).toEqual([]);
      });
    },
    async close() {
      unfollow();
      stop.abort(new Error("the test ends"));
      await Promise.allSettled(running);
    },
  };
}
