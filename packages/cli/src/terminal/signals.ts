import { ConfigError } from "@millwright/core";

/**
 * A signal that aborts when the process is asked to end: Ctrl-C, SIGTERM, or a closed terminal. Asked a second time, the process ends at once, because
 * whoever presses Ctrl-C twice does not want to wait. A command that cannot end well ends with its reason, one line.
 */
export function untilStopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(new ConfigError(`told to stop by ${name}`));
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  return stop.signal;
}
