import { arrayAt, entriesOf, type Json, objectAt } from "../json/json.ts";
import { quantityInNanos } from "../objects/quantity.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import type { Item } from "./view.ts";

/** Amounts by the name of their resource (`cpu`, `memory`, …), in billionths of its unit. */
export type Amounts = ReadonlyMap<string, bigint>;

const amountsIn = (quantities: Json | undefined): readonly (readonly [string, bigint])[] =>
  entriesOf(quantities).map(([name, quantity]) => [
    name,
    quantityInNanos(typeof quantity === "object" ? "" : `${quantity}`) ?? 0n,
  ]);

const sum = (amounts: Iterable<readonly [string, bigint]>): Amounts => {
  const total = new Map<string, bigint>();
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0n) + amount);
  return total;
};

/** What the containers of a pod request together. */
const requestsOf = (pod: Item): Amounts =>
  sum(arrayAt(pod, "spec", "containers").flatMap((each) => amountsIn(objectAt(each, "resources", "requests"))));

/** What the pods of a cluster request of its nodes. */
export interface ResourceRequests {
  /** The first resource of which a node has too little left for a pod. */
  lacking(pod: Item, node: Item): string | undefined;
  /** Counts a pod for a node. */
  add(pod: Item, nodeName: string): void;
}

/** Counts the pods that run. */
export function countRequests(pods: readonly Item[]): ResourceRequests {
  const used = new Map<string, Amounts>();
  const add: ResourceRequests["add"] = (pod, nodeName) => {
    const requests = requestsOf(pod);
    if (requests.size > 0) used.set(nodeName, sum([...(used.get(nodeName) ?? []), ...requests]));
  };
  for (const pod of pods) if (nodeNameOf(pod) !== "" && !isFinished(pod)) add(pod, nodeNameOf(pod));
  return {
    add,
    lacking(pod, node) {
      const requests = requestsOf(pod);
      if (requests.size === 0) return undefined;
      const allocatable = sum(amountsIn(objectAt(node, "status", "allocatable")));
      const taken = used.get(node.metadata.name);
      return [...requests].find(
        ([name, amount]) => amount > 0n && (taken?.get(name) ?? 0n) + amount > (allocatable.get(name) ?? 0n),
      )?.[0];
    },
  };
}
