import { isConflict } from "@millwright/kube";
import type { ControllerContext } from "../../cluster/context.ts";
import { createNodeWriter } from "../../cluster/control-writer.ts";
import { setNodeCondition } from "../../model/node-condition.ts";
import type { NodeChange } from "../state/node-patch.ts";

/** Concurrent writes to nodes: a large deployment neither waits for one after another nor floods the API server. */
const AT_ONCE = 16;

/** Writes changes of nodes; resolves with whether some nodes had changed meanwhile and were skipped: then the cache has their new state. */
export type NodePatcher = (changes: readonly NodeChange[]) => Promise<boolean>;

/**
 * Creates the writer for the nodes of a deployment. It attempts all nodes, then throws the first error.
 * Without a target cluster there are no nodes to write to.
 */
export function createNodePatcher(context: ControllerContext): NodePatcher {
  const { target, clock } = context;
  if (target === undefined) return async () => false;
  const store = target.caches.nodes.store;
  const nodes = createNodeWriter({ ...context, target });

  const write = async ({ name, patch, condition }: NodeChange): Promise<void> => {
    if (patch !== undefined) await nodes.patch({ name }, patch);
    const node = store.get(name);
    if (condition === undefined || node === undefined) return;
    for (const action of setNodeCondition(node, condition, clock.now())) {
      if (action.kind === "PatchNodeStatus") await nodes.patchStatus({ name }, action.patch);
    }
  };

  return async (changes) => {
    let hasConflict = false;
    const errors: unknown[] = [];
    const left = changes.values();
    const work = async (): Promise<void> => {
      for (const change of left) {
        try {
          await write(change);
        } catch (error) {
          if (isConflict(error)) hasConflict = true;
          else errors.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, changes.length) }, work));
    if (errors.length > 0) throw errors[0];
    return hasConflict;
  };
}
