import { lifecycleSteps } from "@millwright/dashboard/rows";
import { applications } from "../simulation/world/applications.ts";
import { truthOf } from "../simulation/world/truth.ts";
import type { Stage } from "./stage.ts";
import { createTimeline, type TimelineRow } from "./timeline.ts";
import { timelineSvg } from "./timeline-svg.ts";

/** A timeline that a page shows. */
export interface TimelinePicture {
  readonly name: string;
  readonly rows: readonly TimelineRow[];
  readonly svg: string;
}

/** What a Pod does, in the words of the picture. */
const podStates = { runs: "Pod runs", terminates: "Pod terminates" } as const;

/** Follows machines by their lifecycle steps, and the Pods of the applications by the Node on which they are. */
export function followTimelines(stage: Stage) {
  const { world, fleet } = stage;
  const machines = createTimeline(stage.seconds);
  const pods = createTimeline(stage.seconds);
  const truth = truthOf(world);
  fleet.stores.machines.subscribe((old, current) => {
    const { name, namespace } = (current ?? old)?.metadata ?? { name: "", namespace: "" };
    const row = fleet.machines.get(`${namespace ?? ""}/${name}`);
    machines.set(name, row === undefined ? undefined : lifecycleSteps[row.step]);
  });
  world.server.objects.subscribe("pods.", ({ type, object }) => {
    const pod = truth.pods().find(({ metadata }) => metadata.uid === object.metadata.uid);
    const { name } = object.metadata;
    const isThere = type !== "DELETED" && pod?.status?.phase === "Running";
    const state = pod?.metadata.deletionTimestamp === undefined ? podStates.runs : podStates.terminates;
    pods.set(`${name} @ ${pod?.spec?.nodeName ?? ""}`, isThere ? state : undefined);
    if (type === "DELETED") for (const node of truth.nodeNames()) pods.set(`${name} @ ${node}`, undefined);
  });
  return {
    /** The machines of a rollout between two times. */
    rollout(from: number, to: number): TimelinePicture {
      const rows = machines.cut(from, to);
      return {
        name: "rollout-timeline",
        rows,
        svg: timelineSvg(
          "A rollout of four machines, minutes:seconds after the change of the template",
          rows,
          lifecycleSteps,
        ),
      };
    },
    /** The deletion of one machine, with the Pods that leave its Node: the first one with a Pod that has a volume. */
    drain(from: number, to: number): TimelinePicture {
      const steps = machines.cut(from, to);
      const podsOf = (node: string): readonly TimelineRow[] =>
        pods
          .cut(from, to)
          .filter(
            ({ name, bars }) => name.endsWith(`@ ${node}`) && bars.some(({ label }) => label === podStates.terminates),
          );
      const victim = steps.find(({ name }) => podsOf(name).some((row) => row.name.startsWith(applications.stateful)));
      if (victim === undefined) throw new Error(`no machine with a Pod of ${applications.stateful} was drained`);
      const deleted = victim.bars.filter(({ label }) => label !== "In service");
      const start = (deleted[0]?.from ?? 0) + from - 5;
      const end = (deleted.at(-1)?.to ?? 0) + from + 5;
      const isHere = ({ name }: TimelineRow): boolean => name.endsWith(`@ ${victim.name}`);
      const present = pods.cut(start, end);
      const rows = [
        ...machines.cut(start, end).filter(({ name }) => name === victim.name),
        ...present.filter(isHere),
        // Their replacements: Pods that began meanwhile.
        ...present.filter((row) => !isHere(row) && (row.bars[0]?.from ?? 0) > 0),
      ].map(({ name, bars }) => ({
        name: name.replace(` @ ${victim.name}`, "").replace(/ @ .*/, ", another Node"),
        bars,
      }));
      const labels = [...lifecycleSteps.slice(2), ...Object.values(podStates)];
      return {
        name: "drain-timeline",
        rows,
        svg: timelineSvg("A drain and the deletion of the machine, minutes:seconds", rows, labels),
      };
    },
  };
}
