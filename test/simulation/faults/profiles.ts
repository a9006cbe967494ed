import { createChoices, streamOf } from "../world/streams.ts";
import { apiFaults } from "./api-faults.ts";
import { approvalFaults } from "./approvals.ts";
import { cloudFaults } from "./cloud-faults.ts";
import type { FaultKind, ScheduledFault } from "./fault.ts";
import { lostObjectFaults } from "./lost-objects.ts";
import { manifestFaults } from "./manifests.ts";
import { namespaceFaults } from "./namespaces.ts";
import { people } from "./people.ts";
import { podFaults } from "./pod-faults.ts";
import { processFaults } from "./process-faults.ts";

/** All kinds of faults, by name. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
  ...apiFaults,
  ...processFaults,
  ...cloudFaults,
  ...people,
  ...podFaults,
  ...lostObjectFaults,
  ...manifestFaults,
  ...namespaceFaults,
  ...approvalFaults,
};

/** Which faults there are, and how many. */
export interface Profile {
  readonly description: string;
  /** How often each kind is chosen, as a weight. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Kinds that happen once in each run, besides. */
  readonly always?: readonly string[];
  readonly minFaults: number;
  readonly maxFaults: number;
  /** Within so many milliseconds of virtual time faults begin. */
  readonly faultsMs: number;
  readonly processes: number;
  /** Whether Pods run on the Nodes, with budgets and volumes. */
  readonly hasPods: boolean;
  /** Whether a second deployment has the same class, and a namespace with controllers of its own the same cloud. */
  readonly hasNeighbours?: boolean;
  /** Lists of the cloud always lack VMs that are younger than this. Default 0. */
  readonly listLagMs?: number;
  /** Whether no fault takes machines away: then the promised number of them is always available. */
  readonly keepsAvailable?: boolean;
  /** The machines come up before the first fault. Default: 3 minutes. */
  readonly firstFaultMs?: number;
  /** Whether people approve what is still held when the faults have ended. */
  readonly approvesInTheEnd?: boolean;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

const weights = (kinds: object, weight: number): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.keys(kinds).map((kind) => [kind, weight]));

const HOUR = 3_600_000;

/** Few machines and an hour at most: many short runs find more than one that is long. */
const common = {
  minFaults: 3,
  maxFaults: 10,
  faultsMs: HOUR / 4,
  processes: 2,
  hasPods: false,
  minReplicas: 1,
  maxReplicas: 4,
};

/** The mixes of faults. */
export const profiles: Readonly<Record<string, Profile>> = {
  mixed: {
    ...common,
    description: "all kinds of faults; people scale, roll, edit and delete meanwhile",
    kinds: {
      ...weights(apiFaults, 2),
      ...weights(processFaults, 3),
      ...weights(cloudFaults, 2),
      ...weights(people, 2),
      ...weights(manifestFaults, 1),
      "objects-lost": 3,
      "approve-for-a-time": 1,
      "server-restored": 1,
    },
  },
  api: {
    ...common,
    description: "the API server and the network fail; people scale and roll",
    kinds: { ...weights(apiFaults, 3), scale: 3, roll: 3, "server-restored": 1 },
  },
  lists: {
    ...common,
    description: "lists are of the past or empty, while controllers start; people scale, roll and delete",
    kinds: {
      "list-stale": 8,
      "list-empty": 3,
      "watch-late": 1,
      "watch-expired": 2,
      compaction: 1,
      "crash-at-write": 3,
      crash: 2,
      scale: 6,
      roll: 6,
      "delete-machine": 3,
      "vm-dies": 2,
      "server-restart": 1,
    },
    minFaults: 5,
  },
  neighbours: {
    ...common,
    description: "two deployments have one class, and two namespaces one cloud; all kinds of faults",
    kinds: {
      ...weights(apiFaults, 1),
      ...weights(processFaults, 2),
      ...weights(cloudFaults, 2),
      ...weights(people, 3),
    },
    hasNeighbours: true,
    maxReplicas: 3,
  },
  processes: {
    ...common,
    description: "controllers crash, stop, are paused, lose their leases, or two of them act",
    kinds: { ...weights(processFaults, 3), scale: 4, roll: 4, "delete-machine": 2 },
  },
  cloud: {
    ...common,
    description: "the cloud fails, loses answers and lists late; VMs die, nodes flap",
    kinds: { ...weights(cloudFaults, 3), scale: 4, roll: 4, crash: 2, "crash-at-write": 2 },
  },
  drains: {
    ...common,
    description:
      "pods with budgets and volumes move, while budgets block, pods and volumes hang, nodes and controllers fail",
    kinds: {
      ...weights(podFaults, 3),
      scale: 4,
      roll: 6,
      "delete-machine": 4,
      crash: 2,
      "crash-at-write": 2,
      "kubelet-stops": 3,
      "node-flaps": 2,
      "vm-dies": 2,
      "watch-late": 1,
      "watch-lost": 1,
      "api-errors": 1,
      "api-lost": 1,
    },
    hasPods: true,
    minReplicas: 2,
  },
  creation: {
    ...common,
    description: "the cloud always lists late, and creations are accepted without an answer while controllers crash",
    kinds: {
      "creation-accepted": 10,
      "cloud-accepted": 3,
      "cloud-lost": 2,
      "cloud-slow": 2,
      "crash-at-write": 5,
      crash: 3,
      terminate: 2,
      scale: 8,
      roll: 6,
      "delete-machine": 3,
    },
    minFaults: 5,
    listLagMs: 45_000,
  },
  restores: {
    ...common,
    description: "objects are lost and restored from an export, while pods run and people scale, roll and delete",
    kinds: {
      "objects-lost": 10,
      scale: 3,
      roll: 3,
      "delete-machine": 2,
      crash: 2,
      "crash-at-write": 2,
      "watch-late": 1,
      "server-restart": 1,
    },
    hasPods: true,
    minFaults: 1,
    maxFaults: 5,
    minReplicas: 2,
  },
  manifests: {
    ...common,
    description: "people copy, rename, edit and delete machines, while pods run",
    kinds: {
      ...weights(manifestFaults, 4),
      "remove-finalizers": 3,
      "delete-machine": 2,
      scale: 2,
      roll: 2,
      crash: 2,
      "watch-late": 1,
    },
    hasPods: true,
    minFaults: 1,
    maxFaults: 6,
    minReplicas: 2,
  },
  namespaces: {
    ...common,
    description: "a namespace is deleted at any moment, while pods run on its nodes and its process fails",
    kinds: {
      crash: 3,
      "crash-at-write": 3,
      terminate: 2,
      stall: 1,
      "leases-deleted": 1,
      scale: 4,
      roll: 3,
      "delete-machine": 2,
      "budget-blocks": 2,
      "pod-never-ends": 1,
      "api-lost": 1,
      "watch-late": 1,
      "watch-cut": 1,
      "cloud-slow": 1,
      "server-restart": 1,
    },
    always: ["namespace-deleted"],
    hasPods: true,
    hasNeighbours: true,
    minFaults: 1,
    maxFaults: 6,
    maxReplicas: 2,
  },
  fleet: {
    ...common,
    description:
      "a larger fleet: objects are lost for long, deletions are approved and forgotten, people and autoscaler scale far",
    kinds: {
      "scale-far": 5,
      "scale-in-error": 4,
      approve: 5,
      "approve-for-a-time": 2,
      "approval-forgotten": 8,
      "approval-in-manifest": 3,
      "lower-replicas": 3,
      "objects-lost": 3,
      "objects-lost-for-long": 3,
      "most-machines-lost": 4,
      roll: 2,
      recreate: 1,
      crash: 2,
    },
    minFaults: 1,
    maxFaults: 6,
    faultsMs: HOUR / 2,
    // The deletion budget subtracts the machines of the last hour.
    firstFaultMs: HOUR + HOUR / 12,
    approvesInTheEnd: true,
    minReplicas: 12,
    maxReplicas: 16,
  },
  rollout: {
    ...common,
    description:
      "people scale, roll, roll back and pause while the API server and the controllers fail; no machine fails",
    kinds: {
      scale: 4,
      roll: 8,
      "roll-back": 3,
      pause: 3,
      crash: 3,
      "crash-at-write": 3,
      terminate: 2,
      stall: 2,
      "api-errors": 1,
      "api-lost": 1,
      "watch-late": 2,
      "watch-cut": 1,
      "watch-expired": 1,
      compaction: 1,
    },
    keepsAvailable: true,
    minReplicas: 3,
    maxReplicas: 5,
  },
  people: { ...common, description: "people change everything at once, and nothing fails", kinds: weights(people, 1) },
  calm: {
    ...common,
    description: "nothing fails and no one does anything, for a day",
    kinds: {},
    minFaults: 0,
    maxFaults: 0,
    faultsMs: 24 * HOUR,
    processes: 1,
    minReplicas: 50,
    maxReplicas: 50,
  },
};

/** A schedule: what happens in a run, apart from what its seed decides. */
export interface Schedule {
  readonly seed: number;
  readonly profile: string;
  readonly replicas: number;
  readonly faults: readonly ScheduledFault[];
}

/** Before the first fault the machines come up. */
const usualFirstFaultMs = 3 * 60_000;

/** The schedule of a seed. */
export function scheduleOf(seed: number, profileName: string): Schedule {
  const profile = profiles[profileName];
  if (profile === undefined) throw new Error(`no profile ${profileName}`);
  const choices = createChoices(streamOf(seed, `schedule/${profileName}`));
  const bag = Object.entries(profile.kinds).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));
  const count = choices.between(profile.minFaults, profile.maxFaults);
  const { always = [], firstFaultMs = usualFirstFaultMs } = profile;
  const faults = Array.from({ length: count + always.length }, (_, index): ScheduledFault => {
    const kind = always[index - count] ?? choices.anyOf(bag) ?? "crash";
    const maxMs = faultKinds[kind]?.maxMs ?? 0;
    return {
      // Half of them follow closely on each other, near the beginning.
      atMs: firstFaultMs + choices.below(choices.chance(0.5) ? profile.faultsMs / 4 : profile.faultsMs),
      kind,
      durationMs: maxMs === 0 ? 0 : choices.between(1_000, maxMs),
      seed: choices.below(2 ** 31),
    };
  });
  return {
    seed,
    profile: profileName,
    replicas: choices.between(profile.minReplicas, profile.maxReplicas),
    faults: faults.toSorted((a, b) => a.atMs - b.atMs),
  };
}
