import { type Controller, createController, keyOf, type ReadonlyStore, type ApiObject } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { createOverwriteLimit } from "../cluster/overwrite-limit.ts";
import type { Writer } from "../cluster/writer.ts";
import { type Guard, judge } from "../model/hold.ts";
import { addFinalizerPatch, type Finalized, removeFinalizerPatch } from "./finalizer-patch.ts";
import { ownerPace } from "./owning-controller.ts";
import { decideInUseProtection, type InUseSnapshot } from "./in-use-protection.ts";

/** Options of a controller that keeps objects while others refer to them. */
export interface InUseProtectionOptions<T extends ApiObject & Finalized> {
  /** For logs and metrics. */
  readonly name: string;
  readonly kind: InUseSnapshot["kind"];
  readonly referrerKind: InUseSnapshot["referrerKind"];
  readonly finalizer: string;
  readonly workers: number;
  readonly store: ReadonlyStore<T>;
  readonly writer: Writer<T>;
  readonly waitFor: Parameters<typeof createController>[0]["waitFor"];
  /** Whether an object is reconciled when the controller starts. Default: all are. */
  readonly isOurs?: (object: T) => boolean;
  /** Why a terminating object is kept, besides what refers to it. Default: for no reason. */
  readonly guards?: readonly Guard<ApiObject>[];
  /** Names of the objects that refer to one of that name. */
  readonly referrers: (name: string) => readonly string[];
  /** How many they are at most; must be cheap. */
  readonly countReferrers: () => number;
  /** Reads all objects that may refer to one from the API server into the cache. Called only before one that is being deleted is released. */
  readonly readReferrers: () => Promise<void>;
  /** Names of objects whose references cannot be read. Called only before a finalizer is removed. */
  readonly unreadable: () => readonly string[];
}

/** Creates a controller that adds a finalizer to objects that others refer to, and removes it with the last reference. The caller adds the triggers. */
export function createInUseProtectionController<T extends ApiObject & Finalized & { readonly status?: object }>(
  { namespace, clock, random, log, events }: ControllerContext,
  options: InUseProtectionOptions<T>,
): Controller {
  const {
    name: title,
    kind,
    referrerKind,
    finalizer,
    workers,
    store,
    writer,
    isOurs = () => true,
    guards = [],
  } = options;
  /** Keys of objects whose blocked deletion was reported. */
  const reported = new Set<string>();
  /** Of whether the object has the finalizer: a second process may believe a list that lacks the referrers. */
  const overwrites = createOverwriteLimit<boolean>(clock);
  /** Its deletion cannot be taken back, and the cache may lack what refers to it. */
  const isUnreferenced = async (name: string): Promise<boolean> => {
    await options.readReferrers();
    return options.referrers(name).length === 0 && options.unreadable().length === 0;
  };
  const controller = createController({
    name: title,
    workers,
    waitFor: [...(options.waitFor ?? []), ...guards.flatMap(({ waitFor = [] }) => waitFor)],
    allKeys: () => store.list(namespace).filter(isOurs).map(keyOf),
    clock,
    random,
    log,
    pace: { ...ownerPace, costOf: options.countReferrers },
    reconcile: async (key) => {
      const object = store.get(key);
      const { deletionTimestamp, name = "" } = object?.metadata ?? {};
      if (deletionTimestamp == null) reported.delete(key);
      if (object === undefined) {
        overwrites.forget(key);
        return { done: true };
      }
      const referrers = options.referrers(name);
      const hasFinalizer = object.metadata.finalizers?.includes(finalizer) === true;
      const snapshot: InUseSnapshot = {
        kind,
        name,
        hasFinalizer,
        isTerminating: deletionTimestamp != null,
        isHeld: judge(guards, object).hold !== undefined,
        referrers,
        referrerKind,
        unreadable: hasFinalizer && referrers.length === 0 ? options.unreadable() : [],
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
  return controller;
}
