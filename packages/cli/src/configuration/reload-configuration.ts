import type { Clock } from "@millwright/base";
import { type Log, messageOf } from "@millwright/kube";
import { type ChangedFlag, decideReload } from "./decide-reload.ts";
import { followConfiguration } from "./follow-configuration.ts";
import type { EffectiveFlag } from "./read-configuration.ts";

/** The configuration of a process, and how to read it again. */
export interface ReloadableConfiguration<Flags> {
  readonly file: string;
  /** The flags that the process was started with. */
  readonly effective: readonly EffectiveFlag[];
  /**
   * Reads command line, environment and file again.
   *
   * @throws Error with file, entry and what is expected
   */
  read(): { readonly flags: Flags; readonly effective: readonly EffectiveFlag[] };
}

/** What a reload works with. */
export interface ReloadOptions<Flags> {
  readonly configuration: ReloadableConfiguration<Flags>;
  /** Puts the reloadable ones of the flags into effect. */
  readonly apply: (flags: Flags) => void;
  readonly clock: Pick<Clock, "sleep">;
  readonly log: Log;
}

const textOf = (value: ChangedFlag["from"]): string => (Array.isArray(value) ? value.join(",") : String(value));

/**
 * Reloads the configuration when its file changes, and on SIGHUP. An invalid one is reported, and changes nothing. Resolves when the signal aborts.
 */
export async function reloadConfiguration<Flags>(
  { configuration: { file, effective, read }, apply, clock, log }: ReloadOptions<Flags>,
  signal: AbortSignal,
): Promise<void> {
  let running = effective;
  const reload = (): void => {
    try {
      const next = read();
      const { applied, needRestart, running: after } = decideReload(running, next.effective);
      if (applied.length > 0) apply(next.flags);
      running = after;
      for (const { flag, from, to } of needRestart)
        log("warn", "A flag has changed and needs a restart", {
          flag: `--${flag}`,
          changes: [`${flag}: ${textOf(from)} -> ${textOf(to)}`],
        });
      const changes = applied.map(({ flag, from, to }) => `${flag}: ${textOf(from)} -> ${textOf(to)}`);
      log("info", "Configuration is reloaded", { file, changes });
    } catch (error) {
      log("error", "Configuration is not reloaded; the former one stays in effect", {
        file,
        error: messageOf(error),
        remedy: "Correct the entry; the file is read again when it changes, or on SIGHUP.",
      });
    }
  };
  process.on("SIGHUP", reload);
  try {
    await followConfiguration(file, clock, reload, signal);
  } finally {
    process.off("SIGHUP", reload);
  }
}
