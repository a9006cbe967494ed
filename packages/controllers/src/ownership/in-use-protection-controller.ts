import type { ResourceType } from "@millwright/base";
import {
  type ApiObject,
  type Controller,
  createController,
  type Informer,
  keyOf,
  type SyncedCache,
  watchTriggers,
  createOverwriteLimit,
  readAllInto,
  addFinalizerPatch,
  type Finalized,
  removeFinalizerPatch,
} from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import { type Guard, judge } from "../model/hold.ts";
import { ownerPace } from "./owning-controller.ts";
import { decideInUseProtection, type InUseSnapshot } from "./in-use-protection.ts";

/** Objects of one kind that refer to objects of another one by their names. */
export interface Referrers<R extends ApiObject> {
  readonly kind: InUseSnapshot["referrerKind"];
  readonly type: ResourceType;
  readonly cache: Pick<Informer<R>, "store">;
  /** Those that refer to an object. */
  readonly of: (name: string) => readonly R[];
  /** The names that one refers to. */
  readonly namesIn: (referrer: R) => readonly string[];
}

/** Options of a controller that keeps objects while others refer to them. */
export interface InUseProtectionOptions<T extends ApiObject & Finalized, R extends ApiObject> {
  /** For logs and metrics. */
  readonly name: string;
  readonly kind: InUseSnapshot["kind"];
  readonly type: ResourceType;
  readonly finalizer: string;
  readonly workers: number;
  readonly cache: Pick<Informer<T>, "store">;
  readonly waitFor: readonly SyncedCache[];
  readonly referrers: Referrers<R>;
  /** Whether an object is reconciled. Default: all are. */
  readonly isOurs?: (object: T) => boolean;
  /** Why a terminating object is kept, besides what refers to it. Default: for no reason. */
  readonly guards?: readonly Guard<ApiObject>[];
}

const nameOf = ({ metadata: { name = "" } }: ApiObject): string => name;

/** One that cannot be read may refer to any object. */
const isUnreadable = (referrer: ApiObject): boolean => shapeProblemsOf(referrer).length > 0;

/** Enqueues objects when they change, and when other objects refer to them than before. */
function wireTriggers<T extends ApiObject & Finalized, R extends ApiObject>(
  { namespace }: Pick<ControllerContext, "namespace">,
  { cache, referrers, isOurs = () => true }: InUseProtectionOptions<T, R>,
  controller: Controller,
): void {
  const keyFor = (name: string): string => `${namespace}/${name}`;
  const referencesOf = (referrer: R | undefined): string =>
    referrer === undefined ? "" : JSON.stringify([isUnreadable(referrer), ...referrers.namesIn(referrer)]);
  watchTriggers({
    store: cache.store,
    controller,
    keys: (object) => (isOurs(object) ? [keyFor(nameOf(object))] : []),
  });
  watchTriggers({
    store: referrers.cache.store,
    controller,
    when: (old, current) => referencesOf(old) !== referencesOf(current),
    keys: (referrer) => {
      const isAny = isUnreadable(referrer);
      return (isAny ? cache.store.list().filter(isOurs).map(nameOf) : referrers.namesIn(referrer)).map(keyFor);
    },
  });
}

/** Creates a controller that adds a finalizer to objects that others refer to, and removes it with the last reference. */
export function createInUseProtectionController<
  T extends ApiObject & Finalized & { readonly status?: object },
  R extends ApiObject,
>(context: ControllerContext, options: InUseProtectionOptions<T, R>): Controller {
  const { namespace, control, clock, random, log, events } = context;
  const { kind, finalizer, workers, referrers, isOurs = () => true, guards = [] } = options;
  const { store } = options.cache;
  const writer = createControlWriter<T>(context, options.type, store);
  /** Keys of objects whose blocked deletion was reported. */
  const reported = new Set<string>();
  /** Of whether the object has the finalizer: a second process may believe a list that lacks the referrers. */
  const overwrites = createOverwriteLimit<boolean>(clock);
  const referrersOf = (name: string): readonly string[] => referrers.of(name).map(nameOf);
  const unreadable = (): readonly string[] => referrers.cache.store.list().filter(isUnreadable).map(nameOf);
  /** Its deletion cannot be taken back, and the cache may lack what refers to it. */
  const isUnreferenced = async (name: string): Promise<boolean> => {
    await readAllInto(referrers.cache.store, control, referrers.type, { namespace });
    return referrersOf(name).length === 0 && unreadable().length === 0;
  };
  const controller = createController({
    name: options.name,
    workers,
    waitFor: [...options.waitFor, ...guards.flatMap(({ waitFor = [] }) => waitFor)],
    allKeys: () => store.list(namespace).filter(isOurs).map(keyOf),
    clock,
    random,
    log,
    pace: { ...ownerPace, costOf: () => referrers.cache.store.size },
    reconcile: async (key) => {
      const object = store.get(key);
      const { deletionTimestamp, name = "" } = object?.metadata ?? {};
      if (deletionTimestamp == null) reported.delete(key);
      if (object === undefined) {
        overwrites.forget(key);
        return { done: true };
      }
      const names = referrersOf(name);
      const hasFinalizer = object.metadata.finalizers?.includes(finalizer) === true;
      const snapshot: InUseSnapshot = {
        kind,
        name,
        hasFinalizer,
        isTerminating: deletionTimestamp != null,
        isHeld: judge(guards, object).hold !== undefined,
        referrers: names,
        referrerKind: referrers.kind,
        unreadable: hasFinalizer && names.length === 0 ? unreadable() : [],
        isReported: reported.has(key),
      };
      const decision = decideInUseProtection(snapshot);
      const waitMs = overwrites.dueMs(key, hasFinalizer) - clock.monotonicMs();
      if (decision.actions.length > 0 && waitMs > 0) return { requeueAfterMs: waitMs };
      const result = await carryOut(
        decision,
        async (action) => {
          // What was read triggers the next reconcile.
          if (action.kind === "RemoveFinalizer" && snapshot.isTerminating && !(await isUnreferenced(name))) return;
          const patch = action.kind === "AddFinalizer" ? addFinalizerPatch : removeFinalizerPatch;
          await writer.patch({ namespace, name }, patch(object, finalizer));
          overwrites.record(key, hasFinalizer, !hasFinalizer);
        },
        { object, writer, events, log },
      );
      if (decision.because.length > 0) reported.add(key);
      return result;
    },
  });
  for (const guard of guards) guard.onChange?.((object) => controller.enqueue(keyOf(object)));
  wireTriggers(context, options, controller);
  return controller;
}
