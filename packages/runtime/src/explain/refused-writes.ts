import { refusedWriteRemedy } from "@millwright/controllers/reports";
import type { ClusterObjects, RefusedWrite } from "./cluster-objects.ts";
import { type Explanation, withoutPromises, worstOf } from "./explanation.ts";

/** The refused write of an object. */
const refusedOf = (refused: readonly RefusedWrite[], kind: string, name: string): RefusedWrite | undefined =>
  refused.find((each) => each.kind === kind && each.name === name);

/** An explanation of several siblings, with one of its own for each whose writes are refused. */
function apart(explanation: Explanation, refused: readonly RefusedWrite[]): readonly Explanation[] {
  const { kind, name, others } = explanation;
  const isOwn = (each: string): boolean => refusedOf(refused, kind, each) !== undefined;
  const { true: own = [], false: rest = [] } = Object.groupBy([name, ...others], (each) => `${isOwn(each)}`);
  const [first, ...more] = rest;
  return [
    ...own.map((each) => ({ ...explanation, name: each, others: [] })),
    ...(first === undefined ? [] : [{ ...explanation, name: first, others: more }]),
  ];
}

/** An explanation with the refused writes of all its objects. */
function withRefused(explanation: Explanation, refused: readonly RefusedWrite[], namespace: string): Explanation {
  const { kind, name, state, causes } = explanation;
  const children = explanation.children
    .flatMap((child) => apart(child, refused))
    .map((child) => withRefused(child, refused, namespace));
  const own = refusedOf(refused, kind, name);
  const whole = { ...explanation, state: worstOf([state, ...children.map((child) => child.state)]), children };
  // The status of a set or deployment has what its controller saw.
  const isDone = state === "ok" && ["MachineSet", "MachineDeployment"].includes(kind);
  if (own === undefined || isDone || causes.some(({ message }) => message.includes(own.message))) return whole;
  const [text, ...commands] = refusedWriteRemedy(namespace);
  return {
    ...withoutPromises(explanation),
    state: "stuck",
    causes: [{ reason: "WriteRefused", message: own.message }, ...causes],
    remedy: { text, commands },
    children,
  };
}

/** Whether a Machine was written after a write of it was refused. */
const isOver = ({ kind, name, lastAt }: RefusedWrite, { machines }: ClusterObjects): boolean =>
  kind === "Machine" &&
  machines.some(
    ({ metadata, status }) =>
      metadata.name === name && Date.parse(status?.lastOperation?.lastUpdateTime ?? "") >= Date.parse(lastAt),
  );

/** The explanation with the writes that an API server refuses now: where also the status is refused, the event is the only cause, and no recorded time comes. */
export async function withRefusedWrites(
  explanation: Explanation,
  objects: ClusterObjects,
  now: Date,
): Promise<Explanation> {
  const found = (await objects.readRefusedWrites?.(now)) ?? [];
  const refused = found.filter((each) => !isOver(each, objects));
  return refused.length === 0 ? explanation : withRefused(explanation, refused, objects.namespace);
}
