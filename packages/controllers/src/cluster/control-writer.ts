import type { ResourceType } from "@millwright/core";
import { type ApiObject, createRefusedWrites, createWriter, type Writer, type WriterOptions } from "@millwright/kube";
import type { ControllerContext } from "./context.ts";
import { shapeProblemsOf } from "./readable.ts";

/** Makes a writer of objects beside the Machines, which backs off refused patches and records the deletions of this process. */
export const createControlWriter = <T extends ApiObject>(
  { control: api, clock, crdGuard: deletions }: Pick<ControllerContext, "control" | "clock" | "crdGuard">,
  type: ResourceType,
  store: WriterOptions<T>["store"],
): Writer<T> => {
  const isUnreadable = (object: object): boolean => shapeProblemsOf(object).length > 0;
  return createWriter<T>({ api, type, store, deletions, refused: createRefusedWrites(clock), isUnreadable });
};
