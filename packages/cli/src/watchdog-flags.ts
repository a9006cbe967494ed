import { formatGoDuration } from "@millwright/base";
import { type Command, Option } from "commander";
import { readShare, readTimeout } from "./flag-values.ts";

const MINUTE = 60_000;

/** A time after which the process is restarted; 0 switches that off. */
const watchdogFlag = (name: string, ms: number, description: string): Option =>
  new Option(`--watchdog-${name} <duration>`, description)
    .argParser((text: string) => readTimeout(text))
    .default(ms, formatGoDuration(ms));

/** Gives a command the flags of the watchdog, which restarts a process that hangs. */
export const addWatchdogFlags = (command: Command): Command =>
  command
    .optionsGroup("Watchdog:")
    .addOption(
      watchdogFlag(
        "stall-timeout",
        MINUTE,
        "release the leases when the event loop was blocked for so long, and 10 s later kill the process; 0: do not kill it",
      ),
    )
    .addOption(
      watchdogFlag(
        "stuck-timeout",
        30 * MINUTE,
        "stop the process with status 1 when a call of a driver or a reconcile takes so long, or a cache does nothing; 0: never",
      ),
    )
    .addOption(
      new Option(
        "--watchdog-memory-limit <percentage>",
        "stop the process with status 1 when so much of the heap or the container is in use for 30 s; 0%: never",
      )
        .argParser(readShare)
        .default(0.95, "95%"),
    );
