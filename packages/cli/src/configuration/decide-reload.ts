import type { EffectiveFlag } from "./read-configuration.ts";
import { reloadableFlags } from "./reloadable-flags.ts";

/** A flag whose value differs from that with which the process runs. */
export interface ChangedFlag {
  readonly flag: string;
  readonly from: EffectiveFlag["value"];
  readonly to: EffectiveFlag["value"];
}

/** What a reload does with each change. */
export interface Reload {
  readonly applied: readonly ChangedFlag[];
  readonly needRestart: readonly ChangedFlag[];
  /** The flags that the process runs with afterwards. */
  readonly running: readonly EffectiveFlag[];
}

/** Compares the flags of a process with those that its configuration has now. */
export function decideReload(running: readonly EffectiveFlag[], next: readonly EffectiveFlag[]): Reload {
  const before = new Map(running.map((each) => [each.name, each]));
  const changes = next.flatMap(({ name, value: to }): readonly ChangedFlag[] => {
    const from = before.get(name)?.value ?? "";
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ flag: name, from, to }];
  });
  return {
    applied: changes.filter(({ flag }) => reloadableFlags.has(flag)),
    needRestart: changes.filter(({ flag }) => !reloadableFlags.has(flag)),
    running: next.map((each) => (reloadableFlags.has(each.name) ? each : (before.get(each.name) ?? each))),
  };
}
