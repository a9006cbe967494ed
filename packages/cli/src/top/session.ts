import { type Clock, toPrintable } from "@millwright/base";
import type { MachineRow } from "@millwright/dashboard/rows";
import type { FollowedFleet } from "./follow-fleet.ts";
import { type Look, pageOf, renderTop, type TopScreen } from "./render.ts";
import { type Extent, initialState, onKey, settle, type TopState } from "./state.ts";
import { type TopView, viewOf } from "./view.ts";

/** What a session shows, and how it explains. */
export interface SessionOptions {
  readonly where: string;
  readonly hasAllNamespaces: boolean;
  readonly filter: string;
  readonly steps: readonly string[];
  readonly fleet: Pick<FollowedFleet, "machines" | "deployments" | "version" | "throughput" | "hasSynced">;
  /** Why a machine is not as desired, in lines of a width. */
  readonly explain: (machine: MachineRow, width: number) => Promise<readonly string[]>;
  readonly lostForMs: () => number;
  readonly size: () => TopScreen["size"];
  readonly paint: (look: Look, text: string) => string;
  readonly clock: Clock;
  /** The clock of the API server, whose times ages are computed from. */
  readonly now: () => Date;
  /** Shows lines. */
  readonly draw: (lines: readonly string[]) => void;
  /** The user ends it. */
  readonly quit: () => void;
}

/** What is on the screen of `millwright top`, and what keys do. */
export interface Session {
  press(key: string): void;
  /** Draws what has changed, ages included. */
  redraw(): void;
}

/** Makes a session; it draws nothing yet. */
export function createSession(options: SessionOptions): Session {
  const { fleet, steps, clock } = options;
  let state: TopState = initialState(options.filter);
  let explanation: readonly string[] = [];
  /** Explanations that were requested: one that a later request replaces is not shown. */
  let requests = 0;
  /** Machines are sorted once for each change, not for each key. */
  let made: { readonly key: string; readonly view: TopView; readonly ids: readonly string[] } | undefined;

  const current = (): NonNullable<typeof made> => {
    const key = `${fleet.version()} ${state.filter}`;
    if (made?.key === key) return made;
    const view = viewOf(fleet.machines.values(), fleet.deployments.values(), { filter: state.filter, steps });
    made = { key, view, ids: view.machines.map(({ id }) => id) };
    return made;
  };
  const screen = (view: TopView): TopScreen => ({
    where: options.where,
    hasAllNamespaces: options.hasAllNamespaces,
    view,
    state,
    steps,
    minute: fleet.throughput.counts(clock.monotonicMs()),
    hasSynced: fleet.hasSynced(),
    lostForMs: options.lostForMs(),
    explanation,
    now: options.now(),
    size: options.size(),
    paint: options.paint,
  });
  const extent = (): Extent => {
    const { view, ids } = current();
    return { ids, page: pageOf(screen(view)), lines: explanation.length };
  };
  const redraw = (): void => {
    state = settle(state, extent());
    options.draw(renderTop(screen(current().view)));
  };
  const explain = async (): Promise<void> => {
    requests += 1;
    const request = requests;
    const machine = current().view.machines.find(({ id }) => id === state.selected);
    if (machine === undefined) return;
    if (state.scroll === 0) explanation = [`Machine ${machine.namespace}/${machine.name}: reading …`];
    const lines = await options
      .explain(machine, options.size().columns)
      .catch((error: unknown) => [
        `Machine ${machine.namespace}/${machine.name} cannot be explained:`,
        toPrintable(error instanceof Error ? error.message : String(error)),
      ]);
    if (request !== requests) return;
    explanation = lines;
    redraw();
  };

  return {
    redraw,
    press(key) {
      const { state: next, action } = onKey(state, key, extent());
      state = next;
      if (action === "quit") return options.quit();
      if (action === "explain") void explain();
      redraw();
    },
  };
}
