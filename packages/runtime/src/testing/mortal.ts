import type { Driver } from "@millwright/core";
import type { ApiClient } from "@millwright/kube";

/** The life of one process: every request and driver call of it counts two points, right before it has its effect and right after. */
export interface Life {
  /** Points passed so far, by what they are. */
  readonly points: readonly string[];
  readonly isOver: () => boolean;
  /** An API client of that process. Reads by cache are not counted: nothing is lost with them. */
  api(api: ApiClient): ApiClient;
  /** A driver in that process. */
  driver(driver: Driver): Driver;
}

/** Makes a process that dies at its `last` point, counted from 1: from then on nothing that it does has an effect, and nothing answers it. */
export function createLife(last = Number.POSITIVE_INFINITY): Life {
  const points: string[] = [];
  const never = new Promise<never>(() => {});
  const isOver = (): boolean => points.length >= last;

  const pass = async (point: string): Promise<void> => {
    if (isOver()) await never;
    points.push(point);
    if (isOver()) await never;
  };
  const mortal =
    <Args extends readonly unknown[], Result>(name: string, act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await pass(`before ${name}`);
      const result = await act(...args);
      await pass(`after ${name}`);
      return result;
    };
  const named = (name: string, type: { readonly plural: string }, subresource: string | undefined): string =>
    `${name} ${type.plural}${subresource === undefined ? "" : `/${subresource}`}`;

  return {
    points,
    isOver,
    api: (api) => ({
      ...api,
      get: (type, ref, options) =>
        mortal(named("get", type, options?.subresource), () => api.get<never>(type, ref, options))(),
      create: (type, object, options) =>
        mortal(named("create", type, options?.subresource), () => api.create(type, object, options))(),
      patch: (type, ref, patch, options) =>
        mortal(named("patch", type, options.subresource), () => api.patch<never>(type, ref, patch, options))(),
      replace: (type, object, options) =>
        mortal(named("replace", type, options?.subresource), () => api.replace(type, object, options))(),
      delete: (type, ref, options) => mortal(named("delete", type, undefined), () => api.delete(type, ref, options))(),
    }),
    driver: (driver) => ({
      ...driver,
      createMachine: mortal("createMachine", driver.createMachine),
      getMachineStatus: mortal("getMachineStatus", driver.getMachineStatus),
      deleteMachine: mortal("deleteMachine", driver.deleteMachine),
      ...(driver.initializeMachine === undefined
        ? {}
        : { initializeMachine: mortal("initializeMachine", driver.initializeMachine) }),
    }),
  };
}
