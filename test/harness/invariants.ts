import { type Machine, machineResource, systemClock, systemRandom } from "@millwright/core";
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

/** What must hold whatever goes wrong; I1 to I8 are those of the list of fault scenarios. */
export interface InvariantOptions {
  readonly fleet: Pick<Fleet, "api" | "cloud"> & {
    /** I5, I7: what the controllers asked the API server for. Absent: nobody counts. */
    readonly requests?: () => readonly RequestRecord[];
  };
  /** I2: desired + surge + margin. */
  readonly maxVms: number;
  /** I6: a text that only secrets hold. Absent: there is none. */
  readonly canary?: string;
  /** I7: processes that nobody killed on purpose. */
  readonly alive: () => readonly MillwrightProcess[];
  /** I6: whose output is searched. */
  readonly started: () => readonly MillwrightProcess[];
}

/** Watches a run from its start, so that what was wrong for a moment is found at the end. */
export interface InvariantWatch {
  /**
   * I4: so many pods with the label `app` are ready from now on, unless the returned function was called. Counts from when the
   * watch, which may lag behind the caller, has seen so many.
   */
  requireReadyPods(app: string, atLeast: number): () => void;
  /** So many volumes are attached from now on: what leaves with its volumes leaves one after another. Counts as `requireReadyPods` does. */
  requireAttachedVolumes(atLeast: number): void;
  /**
   * So many machines run and stay, and so many VMs live, unless the returned function was called: the availability that a rollout keeps. Counts as `requireReadyPods` does.
   */
  requireRunningMachines(atLeast: number): () => void;
  /** I2: from now on as many VMs may live. */
  allowVms(most: number): void;
  /** I5: from now on pods may be deleted past their budgets, because a deadline has passed or somebody asked for it. */
  allowForce(): void;
  /** Fails with everything that was wrong. */
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

const namespace = "default";

/** More equal calls in one second are a hot loop. */
const MAX_EQUAL_CALLS = 10;

/** The greatest number of equal calls within a second. Events differ in their bodies, which the log does not show. */
function hottest(requests: readonly RequestRecord[]): readonly string[] {
  const byCall = Map.groupBy(
    requests.filter(({ resource, verb }) => resource !== "events" && verb !== "watch"),
    ({ verb, path }) => `${verb} ${path}`,
  );
  return [...byCall].flatMap(([call, records]) => {
    const times = records.map(({ time }) => time.getTime()).toSorted((a, b) => a - b);
    const isHot = times.some(
      (time, index) => (times[index + MAX_EQUAL_CALLS] ?? Number.POSITIVE_INFINITY) - time < 1_000,
    );
    return isHot ? [`I7: more than ${MAX_EQUAL_CALLS} times in a second: ${call}`] : [];
  });
}

const isReady = ({ metadata, status }: PodObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

const isAttached = ({ status }: AttachmentObject): boolean => status?.attached === true;

/** Something of which there have to be so many. */
interface Requirement {
  readonly what: string;
  readonly count: () => number;
  readonly atLeast: number;
  wasSeen: boolean;
}

/** Starts watching. */
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
    for (const [name, vms] of byName) if (vms.length > 1) wrong.add(`I1: machine ${name} has ${vms.length} live VMs`);
    if (live.length > mostVms) wrong.add(`I2: ${live.length} live VMs, at most ${mostVms} are allowed`);
    checkRequirements();
  });

  const options = { api, clock: systemClock, random: systemRandom };
  const pods = createInformer<PodObject>({ ...options, type: podResource });
  const attachments = createInformer<AttachmentObject>({ ...options, type: volumeAttachmentResource });
  const machines = createInformer<Machine>({ ...options, type: machineResource, namespace });
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
    const lists = await Promise.all([
      api.list(machineResource, { namespace }),
      api.list(eventResource),
      api.list(nodeResource),
    ]);
    return JSON.stringify(lists);
  };

  return {
    requireReadyPods: (app, atLeast) => require(`I4: ready pods of ${app}`, () => readyPods(app), atLeast),
    requireRunningMachines(atLeast) {
      // Each by its own history: the watch may be late, the cloud is not.
      const releases = [
        require("machines that run", runningMachines, atLeast),
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
      const { items } = await api.list<Machine>(machineResource, { namespace });
      const names = new Set(items.map(({ metadata }) => metadata.name));
      const orphans = cloud.vms().filter(({ name, state }) => state !== "terminating" && !names.has(name));
      for (const { name, id } of orphans) wrong.add(`I3: VM ${id} of machine ${name}, which is gone`);
      const deletions = requests().filter(
        ({ verb, resource, status }) => verb === "delete" && resource === "pods" && status < 300,
      );
      for (const { name, time } of deletions)
        if (time.getTime() < forcedFrom) wrong.add(`I5: pod ${name} was deleted, not evicted, before any deadline`);
      const secrets = canary === undefined ? [] : [canary, Buffer.from(canary).toString("base64")];
      const sinks = [await objects(), ...started().map((process) => process.output())];
      if (sinks.some((text) => secrets.some((secret) => text.includes(secret)))) wrong.add("I6: a secret was told");
      // Wrong as long as it is so: the watch may be late.
      const unseen = [...requirements].filter(({ wasSeen }) => !wasSeen);
      for (const problem of hottest(requests())) wrong.add(problem);
      for (const { child, output } of alive())
        if (child.exitCode !== null) wrong.add(`I7: a process ended with ${child.exitCode}: ${output().slice(-2_000)}`);
      const all = [...wrong, ...unseen.map(({ what, atLeast }) => `${what}: there never were ${atLeast}`)];
      expect(all, all.join("\n")).toEqual([]);
      // A machine that was made just now has its first words ahead of it.
      await eventually(async () => {
        const now = await api.list<Machine>(machineResource, { namespace });
        const silent = now.items.filter(
          ({ status }) =>
            status?.currentStatus?.phase !== "Running" && (status?.lastOperation?.description ?? "") === "",
        );
        expect(silent.map(({ metadata }) => `I8: ${metadata.name} says nothing`)).toEqual([]);
      });
    },
    async close() {
      unfollow();
      stop.abort(new Error("the test ends"));
      await Promise.allSettled(running);
    },
  };
}
