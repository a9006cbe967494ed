import { ConfigError } from "@millwright/base";

/**
 * A signal that aborts on Ctrl-C, SIGTERM, or when the terminal is closed. A second signal ends the process at once.
 * A command that is interrupted ends with one line.
 */
export function untilStopSignal(names: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"]): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(new ConfigError(`stopped by ${name}`));
  };
  for (const name of names) process.on(name, onSignal);
  return stop.signal;
}
