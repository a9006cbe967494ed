import type { Clock } from "@millwright/core";
import { createLogUpdate } from "log-update";
import type { Fleet } from "./fleet.ts";
import { oneLine, renderFleet } from "./render.ts";

/** Shows how the fleet changes. */
export interface Display {
  update(fleet: Fleet): void;
  /** Keeps the last table on the screen and writes no more. */
  finish(): void;
}

/** The part of a terminal, file or pipe that is needed. */
export type Output = NodeJS.WriteStream;

/** Lines of the screen that are not for machines: what stands above and below the table. */
const RESERVED_ROWS = 17;

/** On a terminal the table is redrawn in place. */
function createScreen(output: Output): Display {
  const draw = createLogUpdate(output);
  return {
    update: (fleet) => draw(renderFleet(fleet, output.columns ?? 80, (output.rows ?? 40) - RESERVED_ROWS)),
    finish: () => draw.done(),
  };
}

/** A file or pipe gets one line for each change of a phase, and for each failure. */
function createLines(output: Output, clock: Clock): Display {
  const phases = new Map<string, string>();
  /** The failure that was written last, by machine. */
  const failures = new Map<string, string>();
  const writeLine = (text: string): void => void output.write(`${clock.now().toISOString().slice(11, 19)} ${text}\n`);
  let deployments = "";
  return {
    update(fleet) {
      const gone = new Set(phases.keys());
      for (const { name, phase, cause, isFailing } of fleet.machines) {
        gone.delete(name);
        const before = phases.get(name);
        const isChanged = before !== phase || (isFailing && failures.get(name) !== cause);
        if (isFailing) failures.set(name, cause);
        else failures.delete(name);
        if (!isChanged) continue;
        const change = before === phase ? phase : `${before ?? "new"} -> ${phase}`;
        writeLine(`machine ${name}: ${change}${cause === "" ? "" : `: ${oneLine(cause)}`}`);
        phases.set(name, phase);
      }
      for (const name of gone) {
        writeLine(`machine ${name}: deleted`);
        phases.delete(name);
        failures.delete(name);
      }
      const summary = fleet.deployments.join("; ");
      if (summary !== deployments && summary !== "") writeLine(`deployment ${summary}`);
      deployments = summary;
    },
    finish: () => undefined,
  };
}

export const createDisplay = (output: Output, clock: Clock): Display =>
  output.isTTY ? createScreen(output) : createLines(output, clock);
