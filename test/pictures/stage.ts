import { EventEmitter } from "node:events";
import { seededRandom } from "@millwright/base";
import { machineDeploymentResource, type MachineDeployment } from "@millwright/core/machine-api";
import { deploymentRow, machineRow } from "@millwright/dashboard/rows";
import type { ApiClient } from "@millwright/kube";
import { isHeld } from "@millwright/runtime/reports";
import { exampleName, exampleObjects } from "../../packages/cli/src/dev/example.ts";
import { type FollowedFleet, followFleet } from "../../packages/cli/src/top/follow-fleet.ts";
import { withPatientWatches } from "../simulation/network/patient-client.ts";
import { namespace } from "../simulation/world/controller-process.ts";
import { createWorld, poolName, runUntilSettled, type World } from "../simulation/world/world.ts";
import type { RecordedEvent, Recording } from "./recording.ts";

/** The world that the pictures show: the controllers, an API server and a cloud in virtual time, with the example of `npm start` and applications on its Nodes. */
export interface Stage {
  readonly world: World;
  /** A user, whose requests nothing disturbs. */
  readonly user: ApiClient;
  /** What `npm start` and `millwright top` follow. */
  readonly fleet: FollowedFleet;
  /** Virtual time, seconds. */
  seconds(): number;
  /** Lets time pass. */
  pass(seconds: number): Promise<void>;
  /** Lets time pass until something is done. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Lets time pass until something holds. Throws when that takes too long. */
  until(what: string, holds: () => boolean, each?: () => void): Promise<void>;
  /** Changes the example. */
  patchExample(patch: object): Promise<void>;
  example(): MachineDeployment;
  close(): Promise<void>;
}

/** Longest time until something holds, seconds. */
const PATIENCE = 1_800;

/** Opens the stage. The machines of the example do not exist yet. */
export async function openStage(): Promise<Stage> {
  const world = await createWorld({ seed: 1, replicas: 0, processes: 1, hasPods: true, reportsPressure: true });
  const { scheduler, outside, people: user } = world;
  const during = <T>(work: Promise<T>): Promise<T> => runUntilSettled(scheduler, work);
  const stop = new AbortController();
  const rows = { machineRow, deploymentRow, isHeld };
  const { clock } = outside;
  const fleet = followFleet({
    api: withPatientWatches(user),
    namespace,
    rows,
    clock,
    random: seededRandom(1),
    signal: stop.signal,
  });
  await during(user.delete(machineDeploymentResource, { namespace, name: poolName }));
  for (const { type, object, name } of exampleObjects("http://127.0.0.1"))
    await during(
      user.patch(type, { namespace, name }, object, { kind: "apply", fieldManager: "millwright-dev", force: true }),
    );
  const seconds = (): number => Math.round(scheduler.nowMs() / 1_000);
  const stage: Stage = {
    world,
    user,
    fleet,
    seconds,
    during,
    pass: (length) => scheduler.runUntil(scheduler.nowMs() + length * 1_000),
    async until(what, holds, each) {
      const end = scheduler.nowMs() + PATIENCE * 1_000;
      while (!holds()) {
        if (scheduler.nowMs() > end) throw new Error(`not within ${PATIENCE} s: ${what}`);
        await scheduler.runUntil(scheduler.nowMs() + 1_000);
        each?.();
      }
    },
    async patchExample(patch) {
      const ref = { namespace, name: exampleName };
      const { metadata } = await during(user.patch(machineDeploymentResource, ref, patch, { kind: "merge" }));
      await stage.until("the change is seen", () => stage.example().metadata.generation === metadata.generation);
    },
    example() {
      const found = fleet.stores.deployments.list().find(({ metadata }) => metadata.name === exampleName);
      if (found === undefined) throw new Error("there is no example");
      return found;
    },
    async close() {
      stop.abort(new Error("the pictures are made"));
      await scheduler.runUntil(scheduler.nowMs() + 1_000);
      await world.close();
    },
  };
  await stage.until("the example is seen", () =>
    fleet.stores.deployments.list().some(({ metadata }) => metadata.name === exampleName),
  );
  return stage;
}

/** A terminal that records what is written to it. */
export interface RecordingTerminal {
  /** For code that writes to a terminal. */
  readonly output: NodeJS.WriteStream;
  /** What a viewer should know from now on. */
  caption(text: string): void;
  /** Ends the recording. */
  recording(): Recording;
}

/**
 * Makes a terminal.
 *
 * @param now time of what is written, seconds
 */
export function recordTerminal(about: Omit<Recording, "events">, now: () => number): RecordingTerminal {
  const start = now();
  const events: RecordedEvent[] = [];
  const add = (kind: RecordedEvent["kind"], text: string): void =>
    void events.push({ at: Math.round((now() - start) * 100) / 100, kind, text });
  const output = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: about.columns,
    rows: about.rows,
    write(text: string): boolean {
      add("output", text);
      return true;
    },
  });
  return {
    // The part of it that the command needs.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    output: output as unknown as NodeJS.WriteStream,
    caption: (text) => add("caption", text),
    recording: () => ({ ...about, events: [...events] }),
  };
}
