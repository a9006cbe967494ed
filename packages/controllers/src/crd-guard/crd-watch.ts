import { orAborted } from "@millwright/base";
import { annotationKeys, type MachineKind } from "@millwright/core/machine-api";
import {
  createInformer,
  customResourceDefinitionResource as type,
  equalJson,
  isApiError,
  isForbidden,
  isNotFound,
  type KubeObject,
  noLog,
} from "@millwright/kube";
import type { CacheOptions } from "../cluster/caches.ts";
import type { CrdStates } from "../model/crd-guard.ts";
import { type CrdState, crdName, crdStateOf } from "../model/crd-state.ts";
import { createCrdLog, type CrdLog } from "./crd-log.ts";
import { shareFresh } from "./share-fresh.ts";

/** The CustomResourceDefinitions of our kinds, without their schemas: four watches with hardly any events. */
export interface CrdWatch extends CrdStates {
  /**
   * Reads the CRD of a kind from the API server. Concurrent calls share a response that is younger than all of them.
   *
   * @throws ApiError when the API server does not respond; not when the permission to read it is missing
   */
  refresh(kind: MachineKind): Promise<void>;
}

/** Between failed attempts, milliseconds. A missing right is rarely granted within seconds. */
const backoff = { initialMs: 800, maxMs: 60_000 };

/** What is kept of a CRD. kubectl's copy of it in an annotation is as large as the CRD. */
const trim = ({ metadata: { annotations, ...metadata } }: KubeObject): KubeObject => {
  const key = annotationKeys.allowCrdDeletion;
  const allowed = annotations?.[key];
  return { metadata: { ...metadata, ...(allowed === undefined ? {} : { annotations: { [key]: allowed } }) } };
};

/** Whether the API server forbids reading CRDs, or has no such kind. */
const isUnreadable = (error: unknown): boolean => isForbidden(error) || (isApiError(error) && error.status === 404);

interface WatchedCrd {
  readonly state: () => CrdState;
  readonly refresh: () => Promise<void>;
  readonly firstRead: Promise<void>;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

function watchCrd(
  kind: MachineKind,
  { api, clock, random }: CacheOptions,
  log: CrdLog,
  changed: () => void,
): WatchedCrd {
  const name = crdName(kind);
  const firstRead = Promise.withResolvers<void>();
  let wasSeen = false;

  const refresh = shareFresh(async () => {
    const uid = informer.store.getByRef({ name })?.metadata.uid;
    try {
      const crd = await api.get(type, { name }, { metadataOnly: true });
      informer.store.applyWrite(crd);
      if (informer.hasSynced()) log.readable(kind);
    } catch (error) {
      if (isNotFound(error)) informer.store.applyDelete({ name, uid });
      else if (isUnreadable(error)) log.unreadable(kind, error);
      else throw error;
    }
  });
  const informer = createInformer({
    api,
    type,
    fieldSelector: `metadata.name=${name}`,
    metadataOnly: true,
    trim,
    backoff,
    clock,
    random,
    onError(failure) {
      if (!isUnreadable(failure)) return;
      log.unreadable(kind, failure);
      // The permission to get may exist without those to list and watch: then the CRD is read whenever a deletion needs it.
      void refresh()
        .catch(() => undefined)
        .then(firstRead.resolve);
    },
  });
  void informer.synced().then(firstRead.resolve);
  informer.connectivity.onRegained(() => log.readable(kind));

  const state = (): CrdState => {
    const object = informer.store.get(name);
    if (object !== undefined) return crdStateOf(object, name);
    return { name, state: wasSeen ? "deleted" : "unknown" };
  };
  let before = state();
  informer.store.subscribe((_, current) => {
    if (current?.metadata.name === name) wasSeen = true;
    const now = state();
    if (equalJson(now, before)) return;
    log.changed(now, before);
    before = now;
    changed();
  });
  return { state, refresh, firstRead: firstRead.promise, run: (signal) => informer.run(signal) };
}

/** Makes a watch of the CRDs of our kinds. It sends no request before it runs or is refreshed. */
export function createCrdWatch(options: CacheOptions): CrdWatch {
  const log = createCrdLog(options.log ?? noLog);
  const listeners: ((kind: MachineKind) => void)[] = [];
  const watch = (kind: MachineKind): WatchedCrd =>
    watchCrd(kind, options, log, () => {
      for (const listener of listeners) listener(kind);
    });
  const watched: Readonly<Record<MachineKind, WatchedCrd>> = {
    Machine: watch("Machine"),
    MachineClass: watch("MachineClass"),
    MachineDeployment: watch("MachineDeployment"),
    MachineSet: watch("MachineSet"),
  };
  let hasSynced = false;
  const allRead = async (): Promise<void> => {
    await Promise.all(Object.values(watched).map(({ firstRead }) => firstRead));
    hasSynced = true;
  };
  return {
    stateOf: (kind) => watched[kind].state(),
    refresh: (kind) => watched[kind].refresh(),
    onChange: (listener) => void listeners.push(listener),
    hasSynced: () => hasSynced,
    synced: (signal) => orAborted(signal, allRead()),
    async run(signal) {
      await Promise.all(Object.values(watched).map(({ run }) => run(signal)));
    },
  };
}
