import type { Clock } from "@millwright/base";
import { type KeySource, readKeys } from "../terminal/read-keys.ts";
import { openScreen } from "../terminal/screen.ts";
import type { Fleet } from "./fleet.ts";
import { hasRoomForHelp, renderDev, renderFleet } from "./render.ts";
import { oneLine } from "./table.ts";

/** Shows how the fleet changes. */
export interface Display {
  update(fleet: Fleet): void;
  /** Restores the terminal, leaves the last table on it, and writes no more. */
  finish(): void;
}

/** The part of a terminal, file or pipe that is needed. */
export type Output = NodeJS.WriteStream;

/** What is shown, and on what. */
export interface DisplayOptions {
  readonly output: Output;
  /** Where keys are read from; absent: nowhere. */
  readonly input?: KeySource;
  /** Where everything is. */
  readonly header: readonly string[];
  /** Commands to try. */
  readonly help: readonly string[];
  readonly clock: Clock;
  /** Called for Ctrl-C, which is a key here. */
  readonly onStop: () => void;
}

/** On a terminal the table takes the whole screen. */
function createScreenDisplay({ output, input, header, help, onStop }: DisplayOptions): Display {
  let fleet: Fleet = { deployments: [], machines: [] };
  /** What the user has chosen; before that, they are shown where they fit. */
  let isHelpShown: boolean | undefined;
  const hasKeys = input?.isTTY === true;
  const isShown = (): boolean => isHelpShown ?? hasRoomForHelp({ header, help, size: screen.size() });
  const redraw = (): void =>
    screen.draw(renderDev({ fleet, header, help, isHelpShown: isShown(), hasKeys, size: screen.size() }));
  const screen = openScreen(output, redraw);
  const endKeys =
    input &&
    readKeys(input, {
      onKey(key) {
        if (key === "ctrl-c") return onStop();
        if (key === "?" || key === "h") isHelpShown = !isShown();
        else if (key === "escape") isHelpShown = false;
        redraw();
      },
      onSuspend: screen.leave,
      onContinue: screen.enter,
    });
  return {
    update(next) {
      fleet = next;
      redraw();
    },
    finish() {
      endKeys?.();
      const { columns, rows } = screen.size();
      screen.close();
      output.write(`${renderFleet(fleet, columns, rows).join("\n")}\n\n`);
    },
  };
}

/** A file or pipe gets one line for each change of a phase, and for each failure. */
function createLines({ output, clock }: Pick<DisplayOptions, "output" | "clock">): Display {
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

/** Shows a fleet on a terminal, or as lines in a file or pipe. */
export const createDisplay = (options: DisplayOptions): Display =>
  options.output.isTTY && process.env["TERM"] !== "dumb" ? createScreenDisplay(options) : createLines(options);
