import { annotationKeys, machineSetResource } from "@millwright/core/machine-api";
import type { RequestEffect } from "@millwright/devcluster";
import type { LineFate, NetworkFault, RequestFate, SentRequest } from "../network/fates.ts";
import type { Choices } from "../world/streams.ts";
import { truthOf } from "../world/truth.ts";
import type { World } from "../world/world.ts";
import type { FaultKind, FaultStage } from "./fault.ts";

const MINUTE = 60_000;

const isOfController = ({ sender }: SentRequest): boolean => /^(?:[abc]|rogue)\d/.test(sender);

/** All processes, or one of them. */
function someSenders({ world, choices }: FaultStage): {
  readonly who: string;
  readonly has: (request: SentRequest) => boolean;
} {
  const one = choices.chance(0.5) ? choices.anyOf(world.processes)?.name : undefined;
  if (one === undefined) return { who: "all processes", has: isOfController };
  return { who: one, has: ({ sender }) => sender.startsWith(one) };
}

/** A window in which requests have a fate with some probability. */
const requests = (
  maxMs: number,
  name: string,
  fateOf: (choices: Choices, request: SentRequest) => RequestFate,
): FaultKind => ({
  maxMs,
  begin(stage) {
    const { world, choices } = stage;
    const { who, has } = someSenders(stage);
    const share = choices.oneOf([0.05, 0.2, 0.6]);
    const ofRequest: NetworkFault["ofRequest"] = (request) =>
      has(request) && choices.chance(share) ? fateOf(choices, request) : undefined;
    const end = world.networkFaults.add({ ofRequest });
    return { what: `${name}: ${share * 100} % of the requests of ${who}`, end };
  },
});

/** A window in which lines of watches have a fate with some probability. */
const lines = (maxMs: number, name: string, fateOf: (choices: Choices) => LineFate): FaultKind => ({
  maxMs,
  begin(stage) {
    const { world, choices } = stage;
    const { who, has } = someSenders(stage);
    const share = choices.oneOf([0.1, 0.4, 0.9]);
    const ofLine: NetworkFault["ofLine"] = (request) =>
      has(request) && choices.chance(share) ? fateOf(choices) : undefined;
    return { what: `${name}: ${share * 100} % of the events for ${who}`, end: world.networkFaults.add({ ofLine }) };
  },
});

const refusals: readonly [RequestFate, ...RequestFate[]] = [
  { kind: "refused", status: 409, reason: "Conflict" },
  { kind: "refused", status: 429, reason: "TooManyRequests", retryAfterSeconds: 1 },
  { kind: "refused", status: 500, reason: "InternalError" },
  { kind: "refused", status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 2 },
  { kind: "refused", status: 504, reason: "Timeout" },
];

/** A read cannot conflict. */
const refusal = (choices: Choices, { method }: SentRequest): RequestFate => {
  const fate = choices.oneOf(refusals);
  return method === "GET" && fate.kind === "refused" && fate.status === 409
    ? { kind: "refused", status: 503, reason: "ServiceUnavailable" }
    : fate;
};

/** People let sets create machines that the backup lacked: docs/operations/objects-were-lost.md#what-happens-by-itself. */
async function releaseSets(world: World): Promise<void> {
  const patch = { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } };
  for (const { metadata } of truthOf(world).sets()) {
    if (metadata.annotations?.[annotationKeys.expectedReplicas] === undefined) continue;
    world.transcript.add("note", "people", `machine set ${metadata.name} may create machines again`);
    const ref = { namespace: metadata.namespace, name: metadata.name };
    await world.people.patch(machineSetResource, ref, patch, { kind: "merge" }).catch(() => undefined);
  }
}

async function restore({ world, choices, durationMs }: FaultStage): Promise<string> {
  const backup = choices.anyOf(world.backups());
  if (backup === undefined) return "nothing to restore";
  const ageMs = world.scheduler.nowMs() - backup.atMs;
  await world.restore(backup, { downMs: durationMs, addedRevisions: choices.oneOf([0, 0, 1_000_000]) });
  for (const minutes of [15, 30, 60, 120])
    world.outside.clock.setTimer(minutes * MINUTE, () => void releaseSets(world));
  return `the API server comes back from a backup that is ${Math.round(ageMs / 1000)} s old`;
}

/** A window in which lists are wrong: those of all kinds or of one. */
const lists = (maxMs: number, name: string, effectOf: (choices: Choices) => RequestEffect): FaultKind => ({
  maxMs,
  begin(stage) {
    const { world, choices } = stage;
    const { who, has } = someSenders(stage);
    const probability = choices.oneOf([0.3, 0.7, 1]);
    const resource = choices.oneOf(["machines", "machinesets", "machinedeployments", "nodes", "all"]);
    const effect = effectOf(choices);
    const match = {
      verbs: ["list", "watch"],
      userAgent: who === "all processes" ? "millwright-" : `millwright-${who}`,
      ...(resource === "all" ? {} : { resources: [resource] }),
    };
    const { remove } = world.server.faults.add({ match, effect, probability });
    let end = (): void => undefined;
    // Watches end, or a process starts, so that there are lists.
    if (choices.chance(0.5)) {
      const ofLine: NetworkFault["ofLine"] = (request) =>
        has(request) && choices.chance(0.3) ? { kind: "expired" } : undefined;
      end = world.networkFaults.add({ ofLine });
    } else (world.processes.find((process) => process.name === who) ?? choices.anyOf(world.processes))?.crash();
    return {
      what: `${name} (${JSON.stringify(effect)}): ${probability * 100} % of the lists of ${resource} for ${who}`,
      end: () => {
        remove();
        end();
      },
    };
  },
});

/** Faults of the API server, and of the network between it and the controllers. */
export const apiFaults = {
  "api-errors": requests(5 * MINUTE, "refused", refusal),
  "api-lost": requests(3 * MINUTE, "no response", (choices) => ({ kind: "lost", served: choices.chance(0.5) })),
  "api-resets": requests(5 * MINUTE, "connection reset", (choices) => ({ kind: "reset", served: choices.chance(0.5) })),
  "api-slow": requests(5 * MINUTE, "slow", (choices) => ({ kind: "slow", ms: choices.between(100, 20_000) })),
  "watch-late": lines(5 * MINUTE, "late", (choices) => ({ kind: "late", ms: choices.between(500, 30_000) })),
  "watch-twice": lines(10 * MINUTE, "doubled", () => ({ kind: "twice" })),
  "watch-cut": lines(5 * MINUTE, "truncated", () => ({ kind: "cut" })),
  "watch-lost": lines(5 * MINUTE, "lost, and the watch ends", () => ({ kind: "lost" })),
  "watch-silence": lines(3 * MINUTE, "half-open", () => ({ kind: "silence" })),
  "watch-expired": lines(3 * MINUTE, "410 Gone", () => ({ kind: "expired" })),
  "list-stale": lists(4 * MINUTE, "from the past", (choices) => ({
    kind: "stale-list",
    versions: choices.oneOf([1, 5, 20, 100]),
  })),
  "list-empty": lists(2 * MINUTE, "without objects", () => ({ kind: "empty-list" })),
  partition: {
    maxMs: 6 * MINUTE,
    begin(stage) {
      const { world, choices } = stage;
      const { who, has } = someSenders(stage);
      const isSilent = choices.chance(0.5);
      const end = world.networkFaults.add({
        ofRequest: (request) => {
          if (!has(request)) return undefined;
          return isSilent ? { kind: "lost", served: false } : { kind: "unreachable" };
        },
        ofLine: (request) => (has(request) ? { kind: "silence" } : undefined),
      });
      return { what: `${who} cannot reach the API server (${isSilent ? "no response" : "refused"})`, end };
    },
  },
  compaction: {
    maxMs: 0,
    begin({ world }) {
      world.server.compactHistory();
      return "the API server forgets the history of changes";
    },
  },
  "server-restart": {
    maxMs: 2 * MINUTE,
    async begin({ world, durationMs }) {
      void world.server.restart({ downMs: durationMs });
      return "the API server restarts";
    },
  },
  "server-restored": { maxMs: MINUTE, begin: restore },
} as const satisfies Readonly<Record<string, FaultKind>>;
