import { annotationKeys, type MachineKind, orAborted } from "@millwright/core";
import {
  type ApiClient,
  type ApiObject,
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
import { type CrdState, definitionName, stateOfDefinition } from "../model/crd-state.ts";
import { createComplaint } from "./report-crd-failure.ts";
import { shareFresh } from "./fresh-answer.ts";
import { logCrdChange } from "./log-crd-change.ts";

/** The CustomResourceDefinitions of our kinds, without their schemas: four watches in which next to nothing happens. */
export interface CrdWatch {
  stateOf(kind: MachineKind): CrdState;
  /**
   * Asks the API server how the definition of a kind stands now. Questions that come together share an answer that is younger than all of them.
   *
   * @throws ApiError when it does not answer; a refusal to tell is an answer
   */
  look(kind: MachineKind): Promise<void>;
  /** Calls `listener` after each change of a state. */
  onChange(listener: (kind: MachineKind) => void): void;
  /** Resolves when the first answer about each definition is there, be it a refusal; rejects with the reason of the signal when that aborts first. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Whether that is so. */
  hasSynced(): boolean;
  /** Runs until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Between failed attempts, milliseconds. A missing right is rarely granted within seconds. */
const backoff = { initialMs: 800, maxMs: 60_000 };

/** What is kept of a definition. kubectl's copy of it in an annotation is as large as the definition. */
const trim = ({ metadata }: KubeObject): KubeObject => {
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, annotations } = metadata;
  const meant = annotations?.[annotationKeys.allowCrdDeletion];
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(meant === undefined ? {} : { annotations: { [annotationKeys.allowCrdDeletion]: meant } }),
    },
  };
};

/** Whether the server has said that it will not tell, or knows nothing of definitions. */
const isRefusal = (error: unknown): boolean => isForbidden(error) || (isApiError(error) && error.status === 404);

/** Passes refusals of lists and watches on to `refused`. */
const noticing = (
  api: ApiClient,
  refused: (error: unknown) => void,
): Pick<ApiClient, "list" | "watch" | "connectivity"> => ({
  async list<T extends ApiObject>(...args: Parameters<ApiClient["list"]>) {
    try {
      return await api.list<T>(...args);
    } catch (error) {
      refused(error);
      throw error;
    }
  },
  async *watch(...args) {
    try {
      yield* api.watch(...args);
    } catch (error) {
      refused(error);
      throw error;
    }
  },
  ...(api.connectivity === undefined ? {} : { connectivity: api.connectivity }),
});

interface WatchedDefinition {
  readonly state: () => CrdState;
  readonly look: () => Promise<void>;
  readonly first: Promise<void>;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

function watchDefinition(
  kind: MachineKind,
  { api, clock, random }: CacheOptions,
  complaint: ReturnType<typeof createComplaint>,
  changed: (now: CrdState, before: CrdState) => void,
): WatchedDefinition {
  const name = definitionName(kind);
  const first = Promise.withResolvers<void>();
  let wasSeen = false;

  const look = shareFresh(async () => {
    try {
      const answer = await api.get(type, { name }, { metadataOnly: true });
      informer.store.applyWrite(answer);
      if (informer.hasSynced()) complaint.sees(kind);
    } catch (error) {
      if (isNotFound(error)) informer.store.applyDelete({ name });
      else if (isRefusal(error)) complaint.blind(kind, error);
      else throw error;
    }
  });
  const lookAnyway = async (): Promise<void> => {
    await look().catch(() => undefined);
    first.resolve();
  };
  const refused = (refusal: unknown): void => {
    if (!isRefusal(refusal)) return;
    complaint.blind(kind, refusal);
    // The right to get may be there where those to list and watch are not: then it is seen when it matters.
    void lookAnyway();
  };
  const informer = createInformer({
    api: noticing(api, refused),
    type,
    fieldSelector: `metadata.name=${name}`,
    metadataOnly: true,
    trim,
    backoff,
    clock,
    random,
  });
  void informer.synced().then(first.resolve);
  informer.connectivity.onRegained(() => complaint.sees(kind));

  const state = (): CrdState => {
    const object = informer.store.get(name);
    if (object !== undefined) return stateOfDefinition(object, name);
    return { name, state: wasSeen ? "gone" : "unguarded" };
  };
  let before = state();
  informer.store.subscribe((_, current) => {
    if (current?.metadata.name === name) wasSeen = true;
    const now = state();
    if (equalJson(now, before)) return;
    changed(now, before);
    before = now;
  });
  return { state, look, first: first.promise, run: (signal) => informer.run(signal) };
}

/** Makes a watch of the definitions of our kinds. Nothing is asked before it runs, or before somebody looks. */
export function createCrdWatch(options: CacheOptions): CrdWatch {
  const complaint = createComplaint(options.log ?? noLog);
  const listeners: ((kind: MachineKind) => void)[] = [];
  const watch = (kind: MachineKind): WatchedDefinition =>
    watchDefinition(kind, options, complaint, (now, before) => {
      logCrdChange(options.log ?? noLog, now, before);
      for (const listener of listeners) listener(kind);
    });
  const watched: Readonly<Record<MachineKind, WatchedDefinition>> = {
    Machine: watch("Machine"),
    MachineClass: watch("MachineClass"),
    MachineDeployment: watch("MachineDeployment"),
    MachineSet: watch("MachineSet"),
  };
  let hasSynced = false;
  const allFirst = async (): Promise<void> => {
    await Promise.all(Object.values(watched).map(({ first }) => first));
    hasSynced = true;
  };
  return {
    stateOf: (kind) => watched[kind].state(),
    look: (kind) => watched[kind].look(),
    onChange: (listener) => void listeners.push(listener),
    hasSynced: () => hasSynced,
    synced: (signal) => orAborted(signal, allFirst()),
    async run(signal) {
      await Promise.all(Object.values(watched).map(({ run }) => run(signal)));
    },
  };
}
