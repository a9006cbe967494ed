import { allPages, type Asking, createBatch, type PooledSession } from "@millwright/core/driver-kit";
import type { Operation } from "../api/operation.ts";
import { createOperationWatch, type OperationWatch, type OperationWatchOptions } from "../api/operation-watch.ts";
import type { DiskResource, GceApi, InstanceResource, Place } from "../api/requests.ts";
import { ownDiskLabel } from "./owner-tags.ts";
import { providerIdOf } from "./provider-id.ts";
import { readVm, type Vm } from "./vm.ts";

/** One project seen with one credential: the requests, and the questions that many machines ask at once. */
export interface Session extends PooledSession {
  readonly api: GceApi;
  /** Of the credentials; that of a VM is in its provider id. */
  readonly project: string;
  /** The VM with a name in a zone; undefined when there is none. Many that are asked for at about the same time come from one list of the zone. */
  find(place: Place, name: string, asking: Asking): Promise<Vm | undefined>;
  /** All VMs of a zone. Who asks at about the same time shares one list. */
  all(place: Place, asking: Asking): Promise<readonly Vm[]>;
  /** The disks of a zone that the driver has made. Shared as lists are. */
  disks(place: Place, asking: Asking): Promise<readonly DiskResource[]>;
  /** Operations by which Compute Engine has taken VMs of a zone back, as far as it remembers them. Shared as lists are. */
  reclamations(place: Place, asking: Asking): Promise<readonly Operation[]>;
  /** Operations that have made VMs of a zone, or still do. Shared as lists are. */
  insertions(place: Place, asking: Asking): Promise<readonly Operation[]>;
  /** Waits until an operation of a zone is done, by its name. All who wait share one poll. */
  awaitOperation(place: Place, name: string, asking: Asking): Promise<Operation>;
}

/** How long the first question waits for others: not noticed beside a request, and enough for a set that starts its machines. */
const windowMs = 10;
/** So many names are asked for one by one, as long as a list has one page. */
const fewNames = 3;
const maxKeys = 10_000;
/** In messages. */
const cloud = "Compute Engine";
const operationTypes = { reclamation: "compute.instances.preempted", insertion: "insert" } as const;

interface ZoneQuestions {
  readonly find: ReturnType<typeof createBatch<Vm>>;
  readonly all: ReturnType<typeof createBatch<readonly Vm[]>>;
  readonly disks: ReturnType<typeof createBatch<readonly DiskResource[]>>;
  /** By their type. */
  readonly operations: ReturnType<typeof createBatch<readonly Operation[]>>;
  readonly awaitOperation: OperationWatch;
}

function createZoneQuestions(api: GceApi, place: Place, options: OperationWatchOptions): ZoneQuestions {
  let pagesOfList = 1;

  const read = (instances: readonly InstanceResource[]): readonly Vm[] =>
    instances.flatMap((instance) => readVm(instance, place) ?? []);

  const list = async (signal: AbortSignal): Promise<readonly Vm[]> => {
    const pages = await allPages(cloud, (token) => api.listInstances(place, token, signal));
    pagesOfList = pages.length;
    return pages.flatMap(read);
  };

  const getEach = async (names: readonly string[], signal: AbortSignal): Promise<readonly Vm[]> => {
    const found = await Promise.all(names.map((name) => api.getInstance(place, name, signal)));
    return read(found.filter((instance) => instance !== undefined));
  };

  return {
    find: createBatch<Vm>({
      maxKeys,
      windowMs,
      ask: async (names, signal) => {
        const isFew = names.length <= fewNames * pagesOfList;
        const vms = isFew ? await getEach(names, signal) : await list(signal);
        return new Map(vms.map((vm) => [vm.name, vm]));
      },
    }),
    all: createBatch<readonly Vm[]>({
      maxKeys,
      windowMs,
      ask: async ([key = ""], signal) => new Map([[key, await list(signal)]]),
    }),
    disks: createBatch<readonly DiskResource[]>({
      maxKeys,
      windowMs,
      ask: async ([key = ""], signal) =>
        new Map([[key, (await allPages(cloud, (token) => api.listDisks(place, ownDiskLabel, token, signal))).flat()]]),
    }),
    operations: createBatch<readonly Operation[]>({
      maxKeys,
      windowMs,
      ask: async (types, signal) => {
        const ofType = (type: string) =>
          allPages(cloud, (token) => api.listOperations(place, `operationType="${type}"`, token, signal));
        return new Map(await Promise.all(types.map(async (type) => [type, (await ofType(type)).flat()] as const)));
      },
    }),
    awaitOperation: createOperationWatch(api, place, options),
  };
}

/** Starts a session. */
export function createSession(api: GceApi, project: string, options: OperationWatchOptions): Session {
  const zones = new Map<string, ZoneQuestions>();
  const questionsOf = (place: Place): ZoneQuestions => {
    const key = providerIdOf(place, "");
    const known = zones.get(key) ?? createZoneQuestions(api, place, options);
    zones.set(key, known);
    return known;
  };
  const operationsOf = async (place: Place, type: string, asking: Asking): Promise<readonly Operation[]> =>
    (await questionsOf(place).operations(type, asking)) ?? [];
  return {
    api,
    project,
    find: (place, name, asking) => questionsOf(place).find(name, asking),
    all: async (place, asking) => (await questionsOf(place).all("", asking)) ?? [],
    disks: async (place, asking) => (await questionsOf(place).disks("", asking)) ?? [],
    reclamations: (place, asking) => operationsOf(place, operationTypes.reclamation, asking),
    insertions: (place, asking) => operationsOf(place, operationTypes.insertion, asking),
    awaitOperation: (place, name, asking) => questionsOf(place).awaitOperation(name, asking),
    close: () => api.close(),
  };
}
