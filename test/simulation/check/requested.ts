import type { Machine, MachineDeployment } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import type { Truth } from "../world/truth.ts";
import type { TimedRequest, World } from "../world/world.ts";

/** Follows whose deletion was requested, by people or by controllers: by name, or with an owner or a namespace. */
export interface RequestedDeletions {
  /** Whether people requested the deletion of a machine, of one of its owners or of its namespace. */
  isByPeople(uid: string): boolean;
  /** Whether a process requested it by name. */
  isByController(uid: string): boolean;
}

/** The deployment that a machine is one of. */
export const poolOf = (truth: Truth, { metadata: { namespace, labels } }: Machine): MachineDeployment | undefined =>
  truth.pools().find(({ metadata }) => metadata.namespace === namespace && metadata.name === labels?.["name"]);

/** The spec of an object: what people approve ends with it. */
export const generationOf = ({ uid, generation }: ApiObject["metadata"]): string => `${uid}/${generation}`;

/** The Machine whose deletion a process has requested by name. */
export function requestedMachine(truth: Truth, { method, path, status }: TimedRequest): Machine | undefined {
  if (method !== "DELETE" || status >= 300) return undefined;
  const [, namespace, name] = /\/namespaces\/([^/]+)\/machines\/([^/?]+)(?:\?|$)/.exec(path) ?? [];
  return truth.machines().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
}

/** UIDs of all owners that an object ever had, and theirs. */
function followOwners({ server }: World): (uid: string) => readonly string[] {
  const owners = new Map<string, Set<string>>();
  const learn = ({ metadata }: ApiObject): void => {
    const { uid = "", namespace = "", ownerReferences = [] } = metadata;
    const known = owners.get(uid) ?? new Set([`namespace/${namespace}`]);
    owners.set(uid, known);
    for (const { uid: owner } of ownerReferences) known.add(owner);
  };
  server.objects.subscribe(undefined, ({ collection, object }) => {
    // The schemas of the CRDs vouch for what is stored.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (/^machine(?:s|sets|deployments)\./.test(collection)) learn(object as unknown as ApiObject);
  });
  const of = (uid: string): readonly string[] => [...(owners.get(uid) ?? [])].flatMap((owner) => [owner, ...of(owner)]);
  return of;
}

/** Follows what is requested in a world from now on. */
export function followRequests(world: World): RequestedDeletions {
  const ownersOf = followOwners(world);
  const byController = new Set<string>();
  // Also what the garbage collector requests, while people approve everything.
  world.server.objects.subscribe(undefined, ({ collection, object: { metadata } }) => {
    const isApproved = world.scheduler.nowMs() < world.approvals.untilMs;
    if (isApproved && collection.startsWith("machines.") && metadata.deletionTimestamp !== undefined)
      world.requested.add(metadata.uid);
  });
  world.listen({
    onRequest({ method, path, status }) {
      const [, namespace = "", name = ""] =
        /\/namespaces\/([^/]+)\/machines\/([^/?]+)(?:\?|$)/.exec(method === "DELETE" && status < 300 ? path : "") ?? [];
      const uid = world.server.objects.get("machines.machine.sapcloud.io", namespace, name)?.metadata.uid;
      if (uid !== undefined) byController.add(uid);
    },
  });
  return {
    isByPeople: (uid) => [uid, ...ownersOf(uid)].some((each) => world.requested.has(each)),
    isByController: (uid) => byController.has(uid),
  };
}
