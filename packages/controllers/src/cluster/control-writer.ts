import type { ResourceType } from "@millwright/base";
import { type ApiObject, createWriter, nodeResource, type Writer, type WriterOptions } from "@millwright/kube";
import type { Node } from "../model/node-objects.ts";
import type { ControllerContext, Target } from "./context.ts";
import { shapeProblemsOf } from "./readable.ts";
import { createReportedWrites } from "./refused-writes.ts";

/** Makes a writer of objects of the control cluster, which backs off refused writes and records the deletions of this process. */
export const createControlWriter = <T extends ApiObject>(
  context: ControllerContext,
  type: ResourceType,
  store: WriterOptions<T>["store"],
): Writer<T> => {
  const { control: api, crdGuard: deletions } = context;
  const isUnreadable = (object: object): boolean => shapeProblemsOf(object).length > 0;
  return createWriter<T>({ api, type, store, deletions, refused: createReportedWrites(context), isUnreadable });
};

/** Makes a writer of Nodes, which backs off refused writes. */
export const createNodeWriter = (context: ControllerContext & { readonly target: Target }): Writer<Node> => {
  const { api, caches } = context.target;
  return createWriter<Node>({
    api,
    type: nodeResource,
    store: caches.nodes.store,
    refused: createReportedWrites(context),
  });
};
